"""The language server behind `edit-gec lsp`: corrections where text is written.

    editor -> features.py    open, change, close, requests, commands; options.py: what the editor may set
           -> server.py      when to check, what to publish
           -> documents.py   a document and its marks, which move along as it changes; positions.py: in which units
           -> prose.py       which of a document is prose; latex.py and comments.py put that together with views.py
           -> checker.py of server/, which finds the edits for HTTP, too
           -> answers.py     marks -> diagnostics, quick fixes, hovers
           -> memory.py      words and corrections that somebody chose to leave alone

README.md beside this file is for those who use it.
"""
