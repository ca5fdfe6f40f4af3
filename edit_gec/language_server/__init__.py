"""The language server behind `edit-gec lsp`: corrections where text is written.

    editor -> server.py      open, change, close; when to check; commands
           -> documents.py   a document and its marks, which move along as it changes; positions.py: in which units
           -> prose.py       which of a document is prose; latex.py, comments.py: where that takes more than a look
           -> checker.py of server/, which finds the edits for HTTP, too
           -> answers.py     marks -> diagnostics, quick fixes, hovers
           -> memory.py      words and corrections that somebody chose to leave alone

README.md beside this file is for those who use it.
"""
