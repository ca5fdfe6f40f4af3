"""The user's own words, which clients may list, add and remove: LanguageTool's /v2/words.

    POST /v2/words/add   word=kubectl   ->   {"added": true}

Only programs on this machine and pages of this server may use it. No other web page may read or change the user's
words. LanguageTool's user name and key are ignored.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from edit_gec.config.user_words import WatchedLineFile
from edit_gec.errors import InputError
from edit_gec.server import schema
from edit_gec.server.callers import Callers, host_name
from edit_gec.server.fields import read_fields
from edit_gec.text.edits import contains_word

LONGEST = 100  # characters of a word
router = APIRouter(tags=["LanguageTool"])


@router.get("/v2/words", responses=schema.WORDS)
async def list_words(request: Request) -> dict[str, list[str]]:
    """The user's words, `limit` of them from `offset` on."""
    words = _find_words(request)
    fields = await read_fields(request)
    offset, limit = (_read_number(fields, name, default) for name, default in (("offset", 0), ("limit", 10)))
    listed = await run_in_threadpool(words.read)
    return {"words": list(listed[offset : offset + limit])}


@router.post("/v2/words/add", responses=schema.WORDS)
async def add_word(request: Request) -> dict[str, bool]:
    """Add a word; false if it is already there."""
    words = _find_words(request)
    return {"added": await run_in_threadpool(words.add, _read_word(await read_fields(request)))}


@router.post("/v2/words/delete", responses=schema.WORDS)
async def delete_word(request: Request) -> dict[str, bool]:
    """Remove a word; false if it is not there."""
    words = _find_words(request)
    return {"deleted": await run_in_threadpool(words.remove, _read_word(await read_fields(request)))}


def _find_words(request: Request) -> WatchedLineFile:
    """The file of the user's words. Raises HTTPException 403 for anyone but the user."""
    reason = reason_to_refuse(request)
    if reason is not None:
        raise HTTPException(403, reason)
    words: WatchedLineFile = request.app.state.projects.own
    return words


def reason_to_refuse(request: Request) -> str | None:
    """Why the sender of a request may not read or change the user's words; None where that is allowed."""
    if not _is_of_the_user(request):
        return "the user's words are only for programs on this machine"
    projects = request.app.state.projects
    if projects is None or projects.isolated:
        return "this server runs without the user's words"
    return None


def _is_of_the_user(request: Request) -> bool:
    """Whether a request comes from this machine, and from no web page but ours.

    Other web pages are known by their headers (callers.py), or reach us under another host name.
    """
    client = request.client.host if request.client else ""
    host = host_name(request.headers.get("host", ""))
    is_here = _is_loopback(client) and _is_loopback(host)
    return is_here and Callers().refuse(request.headers.raw, computes=True) is None  # whatever --allow-origin says


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read_word(fields: dict[str, Any]) -> str:
    """The word of a request. Raises InputError unless it is one word of acceptable length, as texts have them."""
    word = str(fields.get("word", "")).strip()
    if len(word) > LONGEST or not contains_word(word, frozenset([word.casefold()])):
        raise InputError(f"'word': expected one word of at most {LONGEST} characters")
    return word


def _read_number(fields: dict[str, Any], name: str, default: int) -> int:
    value = fields.get(name, str(default))
    if not (value.isascii() and value.isdecimal()):
        raise InputError(f"'{name}' must be a whole number from 0, not {value[:20]!r}")
    return int(value[:9])
