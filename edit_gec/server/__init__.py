"""The server behind `edit-gec serve`: many clients, one model.

    request -> guard.py          limits, errors, headers, the log
            -> app.py            routes
            -> languagetool.py   what LanguageTool's clients say and want to hear; annotated.py: text among markup
            -> checker.py        text -> sentences -> edits, sentence by sentence, with a cache
            -> batching.py       sentences of all clients -> batches of the model; stopwatch.py: where the time went
            -> page/             the page at /

README.md beside this file is for those who run it.
"""
