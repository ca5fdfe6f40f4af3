"""What `edit-gec profile` is made of; in the order of use:

systems.py     which systems are measured: models of a folder or a preset, T5 alone, EdiT5 alone, EdiT5 verified by T5
replay.py      models that write given tokens, for weights that know nothing
clock.py       runs by the wall clock: warm-up, repeats in turn, stages, device events
traced.py      runs under torch.profiler: operators and kernels of each stage, gaps between them, memory, Chrome trace
roofline.py    bytes and operations of each stage, and what the machine could do
table.py       one screen of text
pictures.py    stacked bars, and the steps one after the other
"""
