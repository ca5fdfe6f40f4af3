"""Licence texts are left alone in documents of all kinds, and what is written around them is read."""

from __future__ import annotations

import pytest

from edit_gec.text.licences import has_notice, is_licence
from edit_gec.text.sentences import split

GRANT = "Permission is hereby granted, free of charge, to any person obtaining a copy\nof this software, to deal in it."
DISCLAIMER = 'THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED.'


@pytest.mark.parametrize("form", ["markdown", "plain", "rst", "html"])
@pytest.mark.parametrize("terms", [GRANT, DISCLAIMER])
def test_the_terms_are_in_no_sentence(form: str, terms: str) -> None:
    document = f"We was here.\n\n{terms}\n\nWe is there.\n"
    if form == "html":
        document = "".join(f"<p>{part}</p>\n" for part in document.split("\n\n"))
    assert [each.text for each in split(document, format=form)] == ["We was here.", "We is there."]


@pytest.mark.parametrize(
    "terms",
    [
        "Redistribution and use in source and binary forms, with or without modification, are permitted",
        "Redistributions of source code must retain the above copyright notice",
        "Neither the name of the author nor the names of its contributors may be used",
        "Permission to use, copy, modify, and/or distribute this software for any purpose is granted",
        "you may not use this file except in compliance with the License.",
        "distributed under the License is distributed on an AS IS BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND",
        "This program is free software: you can redistribute it and/or modify it",
    ],
)
def test_terms(terms: str) -> None:
    assert is_licence(terms) and is_licence(terms.upper())


@pytest.mark.parametrize(
    "prose", ["The library is free software.", "It comes without warranty.", "Its licence is the MIT licence."]
)
def test_prose_about_licences_is_read(prose: str) -> None:
    assert not is_licence(prose)


def test_a_notice_in_a_comment() -> None:
    code = "# Copyright 2026 Ann\n# It go on."
    assert has_notice(code, 0, 20) and not has_notice(code, 20, len(code))
