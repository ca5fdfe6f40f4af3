"""The language server behind `edit-gec lsp`: corrections in the editor, as the text is written.

    editor -> handlers.py          open, change, close, requests, commands; options.py: the settings of the editor
           -> server.py            when to check, and what to publish
           -> documents.py         a document and its marks, which move as it changes; positions.py: in which units
           -> text/formats.py      what a document is read as
           -> runtime/             finds the edits, as for HTTP
           -> actions.py           marks -> diagnostics, quick fixes, hovers
           -> user_dictionary.py   words and corrections that the user ignores

README.md in this folder is for users.
"""
