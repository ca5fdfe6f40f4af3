"""How good is a corrector: the parts of `edit-gec score`, in the order in which a score is made.

    datasets.py      name or files -> test set: sentences, references
    systems.py       texts -> outputs of a system: edit-gec, or any command
    projection.py    a corrected raw text -> back on the tokens of the corpus
    hypotheses.py    test set and system -> hypothesis
    errant_score.py  edits against edits -> P, R, F0.5, by type, in plain words
    gleu.py          n-gram score of fluent rewrites
    calibration.py   whether edits with confidence 0.8 are right in 8 of 10 cases
    reading.py       texts whose edits somebody has read and judged
    significance.py  confidence intervals, paired tests
    signature.py     what must be equal for two scores to be comparable
    evaluate.py      START HERE: test set and hypothesis -> result
    report.py        results -> table, JSON, plot

Other measures of what users meet:

    checklist.py     single texts: left alone, or rightly corrected
    documents.py     whole files: false alarms by kind, damaged structure; with prose_mask.py and edit_kinds.py
"""
