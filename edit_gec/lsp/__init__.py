"""The language server behind `edit-gec lsp`: corrections where text is written.

    editor -> handlers.py    open, change, close, requests, commands; options.py: what the editor may set
           -> server.py      when to check, what to publish
           -> documents.py   a document and its marks, which move along as it changes; positions.py: in which units
           -> prose.py       which of a document is prose; latex.py and code_comments.py put that together with views.py
           -> async_corrector.py of server/, which finds the edits for HTTP, too
           -> actions.py     marks -> diagnostics, quick fixes, hovers
           -> user_dictionary.py      words and corrections that somebody chose to leave alone

README.md beside this file is for those who use it.
"""
