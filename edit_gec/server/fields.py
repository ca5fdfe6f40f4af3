"""The form fields of LanguageTool's requests."""

from __future__ import annotations

from urllib.parse import parse_qsl

from fastapi import Request

from edit_gec.errors import InputError


async def read_fields(request: Request) -> dict[str, str]:
    """The form fields of the query and of the body. Raises InputError."""
    raw = [request.scope["query_string"], await request.body()]
    try:
        fields = [
            field
            for part in raw
            for field in parse_qsl(part.decode(), keep_blank_values=True, errors="strict", max_num_fields=100)
        ]
    except UnicodeDecodeError:
        raise InputError("the request is not UTF-8") from None
    except ValueError:
        raise InputError("more than 100 fields") from None
    return dict(fields)
