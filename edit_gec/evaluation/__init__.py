"""How good is a corrector: the parts of `edit-gec score`, in the order in which a score is made.

datasets.py    name -> sentences, references, licence
systems.py       sentences -> hypotheses (edit-gec, or any command)
projection.py       tokens -> raw text for the system, its changes -> back on the same tokens
syntax.py        the spaCy pipeline that ERRANT needs; we ship one
errant_edits.py       sentence pair -> typed edits, by ERRANT
m2.py            the file format of edits
errant_score.py        edits against edits -> P, R, F0.5, per type, four-way split
gleu.py          n-gram score of fluent rewrites
calibration.py   is a confidence of 0.8 right in 8 of 10 edits
significance.py  confidence intervals, paired tests
report.py        tables, JSON, plot
"""
