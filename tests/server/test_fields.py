"""Form fields from query and body: UTF-8, at most a hundred, the body's win."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastapi")
from fastapi import Request

from edit_gec.errors import InputError
from edit_gec.server.fields import read_fields


def fields_of(query: bytes, body: bytes) -> dict[str, str]:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "method": "POST", "path": "/", "query_string": query, "headers": []}
    return asyncio.run(read_fields(Request(scope, receive)))


def test_both_places_are_read_and_the_body_wins() -> None:
    assert fields_of(b"language=en&text=old", b"text=caf%C3%A9+%F0%9F%8F%A0&empty=") == {
        "language": "en",
        "text": "café 🏠",
        "empty": "",
    }
    assert fields_of(b"", "text=\u00fc".encode()) == {"text": "ü"}, "raw UTF-8, too"


@pytest.mark.parametrize("bad", [b"text=\xff", b"text=%FF"])
def test_what_is_not_utf_8(bad: bytes) -> None:
    for query, body in ((bad, b""), (b"", bad)):
        with pytest.raises(InputError, match="not UTF-8"):
            fields_of(query, body)


def test_too_many_fields() -> None:
    hundred = b"&".join(b"f%d=1" % n for n in range(100))
    assert len(fields_of(b"", hundred)) == 100
    with pytest.raises(InputError, match="more than 100 fields"):
        fields_of(b"", hundred + b"&one=more")
