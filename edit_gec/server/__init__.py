"""The server behind `edit-gec serve`: many clients, one model.

    request -> middleware.py     limits, errors, headers, the log
            -> app.py            routes
            -> languagetool.py   LanguageTool's protocol; text/annotated.py: text among markup
            -> schema.py         the messages of our own endpoints
            -> runtime/          text -> sentences -> edits in batches across clients, with a cache
            -> page/             the page at /

README.md in this folder is for those who run a server.
"""
