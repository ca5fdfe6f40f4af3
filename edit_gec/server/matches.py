"""Matches of LanguageTool's protocol from two servers: read those of the other one, and merge both.

What one of the two says alone passes through: other languages, spelling, style. Where both would replace the same
words, the more confident one stays.

>>> ours = {"offset": 4, "length": 2, "replacements": [{"value": "goes"}], "confidence": 0.97}
>>> theirs = {"offset": 4, "length": 2, "replacements": [{"value": "gone"}], "rule": {"issueType": "grammar"}}
>>> merge_matches([ours], [theirs]) == [ours]
True
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

OURS = "edit-gec"  # in the Via header: a server that is its own upstream must not ask itself
Match = dict[str, Any]

# Share of right first suggestions by the issue type of a match: LanguageTool gives no confidence. Of its rules in
# lingotweaker 0.2.8 on the raw sentences of wi-3k, 1,287 matches; SHARE is that of all other types together.
SHARES = {"misspelling": 0.36, "grammar": 0.51, "typographical": 0.40, "whitespace": 0.44, "style": 0.08}
SHARE = 0.33


class UpstreamError(Exception):
    """Why there are no matches of the other server."""


def parse_answer(body: bytes, length: int) -> dict[str, Any]:
    """An answer of /v2/check whose matches lie in a text of `length` UTF-16 units. Raises UpstreamError."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise UpstreamError("an answer that is not JSON") from None
    matches = answer.get("matches") if isinstance(answer, dict) else None
    if not isinstance(matches, list) or not all(is_match(each, length) for each in matches):
        raise UpstreamError("an answer without proper matches")
    return dict(answer)


def is_match(match: Any, length: int) -> bool:
    """Whether this has the parts of a match that clients cannot do without, and lies in the text."""
    if not isinstance(match, dict):
        return False
    offset, size, replacements = (match.get(name) for name in ("offset", "length", "replacements"))
    is_inside = type(offset) is int and type(size) is int and 0 <= offset <= offset + size <= length
    return (
        is_inside
        and isinstance(match.get("message"), str)
        and isinstance(match.get("rule"), dict)
        and isinstance(replacements, list)
        and all(isinstance(each, dict) and isinstance(each.get("value"), str) for each in replacements)
    )


def find_confidence(match: Match) -> float:
    """How sure a match is: what it says itself, or else the share of matches of its kind that are right."""
    given = match.get("confidence")
    if isinstance(given, (int, float)) and 0 <= given <= 1:
        return float(given)
    return SHARES.get(str(match["rule"].get("issueType")), SHARE)


def merge_matches(ours: Sequence[Match], theirs: Sequence[Match]) -> list[Match]:
    """The matches of two servers in order. Where both would replace the same character, the surer match stays.

    Of equal ones ours stays. Matches of one server never displace each other, and a match that replaces nothing, such
    as advice on style, neither displaces nor is displaced.
    """
    sides = [(match, side) for side, matches in enumerate((ours, theirs)) for match in matches]
    size = max((match["offset"] + match["length"] for match, _ in sides), default=0) + 1
    taken = bytearray(size), bytearray(size)  # characters that kept matches of each side replace
    kept = []
    for match, side in sorted(sides, key=lambda each: (-find_confidence(each[0]), each[1])):
        start = match["offset"]
        end = start + max(1, match["length"])
        if match["replacements"]:
            if 1 in taken[1 - side][start:end]:
                continue
            taken[side][start:end] = b"\1" * (end - start)
        kept.append(match)
    return sorted(kept, key=lambda match: (match["offset"], match["length"]))
