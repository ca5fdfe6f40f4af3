"""The server behind `edit-gec serve`: many clients, one model.

    request -> middleware.py          limits, errors, headers, the log
            -> app.py            routes
            -> languagetool.py   what LanguageTool's clients say and want to hear; annotated.py: text among markup
            -> async_corrector.py        text -> sentences -> edits, sentence by sentence, with a cache
            -> dynamic_batching.py       sentences of all clients -> batches of the model; timing.py: the time
            -> page/             the page at /

README.md beside this file is for those who run it.
"""
