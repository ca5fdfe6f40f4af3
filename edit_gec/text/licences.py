"""Licence texts: nobody may correct them, so a document leaves them as they are.

"Permission is hereby granted, free of charge, to any person"     a paragraph of the MIT licence
"Copyright 2026 The Authors. All rights reserved."                a notice: it makes a comment of code a licence
"""

from __future__ import annotations

import re

_NOTICE = re.compile(
    r"copyright[ \t]+(?:\(c\)|©|holders?\b|\d{4})|©[ \t]*\d{4}|all rights reserved|spdx-license-identifier"
    r"|licensed (?:under|to)\b|permission is hereby granted|gnu (?:lesser |affero )?general public license",
    re.IGNORECASE,
)
_TERMS = re.compile(
    r"permission is hereby granted, free of charge"
    r"|permission to use, copy, modify,? (?:and(?:/or)? )?distribute"
    r"|the above copyright notice and this permission notice"
    r"|redistribution and use in source and binary forms"
    r"|redistributions (?:of source code|in binary form) must"
    r"|neither the names? of .{1,100} nor the names of"
    r"|provided \W?as[ -]is\W{1,3}without (?:any )?(?:express|warrant)"
    r"|without warranties or conditions of any kind"
    r"|provided by the copyright holders"
    r"|you may not use this file except in compliance with the license"
    r"|is free software[:;,] you can redistribute it"
    r"|distributed in the hope that it will be useful"
    r"|you should have received a copy of the gnu",
    re.IGNORECASE,
)


def has_notice(text: str, start: int, end: int) -> bool:
    """Whether text[start:end], a comment of code, names a copyright or a licence."""
    return _NOTICE.search(text, start, end) is not None


def is_licence(paragraph: str) -> bool:
    """Whether a paragraph, its lines joined by spaces, is a part of a common open-source licence.

    >>> is_licence("Redistributions in binary form must reproduce the above copyright notice")
    True
    >>> is_licence("The licence permits redistribution.")
    False
    """
    return _TERMS.search(paragraph) is not None
