r"""E-mail: what its writer wrote, without headers, quotes and signature.

    >>> for part in read_mail("To: al@x.org\n\nI has read it.\n\nOn Monday, Al wrote:\n> it go on\n\n-- \nAnn\n"):
    ...     print(repr(part.text))
    'I has read it.\n'

A text without headers is the body of a mail. Of a MIME mail, the parts of type text/plain without a transfer encoding
are read: an edit would break an encoded part. Signed parts are left out, because an edit would break the signature.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from edit_gec.text.parts import Part, Span, line_spans, take

_KNOWN_HEADER = re.compile(
    r"(?:From|To|Cc|Bcc|Subject|Date|Reply-To|Return-Path|Received|MIME-Version|Message-ID|X-\S+):",
    re.IGNORECASE,
)
_FROM_LINE = re.compile(r"From \S+ +\w{3} ")  # before a mail of an mbox
_TYPE = re.compile(r"^content-type:[ \t]*(?P<type>[\w.+-]+/[\w.+-]+)?", re.IGNORECASE | re.MULTILINE)
_BOUNDARY = re.compile(r"[;\s]boundary=(?:\"(?P<quoted>[^\"\n]{1,200})\"|(?P<bare>[^\s;]{1,200}))", re.IGNORECASE)
_ENCODING = re.compile(r"^content-transfer-encoding:[ \t]*(?P<name>[\w-]+)", re.IGNORECASE | re.MULTILINE)
_ATTACHED = re.compile(r"^content-disposition:[ \t]*attachment", re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_QUOTE = re.compile(r"[ \t]*(?:[>|]|[A-Za-z]{0,12}>)")
_INTRODUCTION = re.compile(r"(?:On|Am|Le|El|Il|Op) .{3,}|.{0,120}\d.{0,120}")  # its first line, if it has two
_INTRODUCED = re.compile(r".*\b(?:wrote|writes|said|schrieb|a écrit|escribió|scrisse|schreef)\b.{0,40}:[ \t]*\Z")
_END = re.compile(
    r"--[ \t]*\Z|_{20,}[ \t]*\Z|-{3,}[ \t]?(?:Original Message|Forwarded [Mm]essage)[ \t]?-*[ \t]*\Z"
    r"|Begin forwarded message:|diff --git |Index: \S+[ \t]*\Z|--- a/|-----BEGIN |Sent from my \w+"
)
_SIGNED = "-----BEGIN PGP SIGNED MESSAGE"
_OTHERS_HEADER = re.compile(r"\*?(?:From|Von|De):\*? .*")
_OTHERS_NEXT = re.compile(r"\*?(?:Sent|Date|To|Subject|Cc):\*? ")
_SENTENCE_END = re.compile(r"[.!?…:;][\"')\]”’]*[ \t]*\Z")
MOST_NESTED = 50  # parts in parts
_SHORT_LINE = 45  # characters; greetings and names, not a wrapped paragraph


def read_mail(text: str) -> Iterator[Part]:
    """The parts of a mail that are prose: the paragraphs of its bodies, greetings and closings as fragments."""
    lines = line_spans(text)
    for first, end in _find_bodies(text, lines):
        if not any(text.startswith(_SIGNED, start) for start, _ in lines[first:end]):
            yield from _read_body(text, lines[first:end])


@dataclass
class _Entity:
    """What the headers of a mail, or of one of its parts, say of what follows them."""

    boundary: str | None = None
    is_prose: bool = True


def _find_bodies(text: str, lines: list[Span]) -> Iterator[tuple[int, int]]:
    """First and last line + 1 of each body that is plain text."""
    first = _skip_blank(text, lines, 0)
    if first == len(lines) or not _begins_headers(text, lines, first):
        yield 0, len(lines)
        return
    at, entity = _read_headers(text, lines, first)
    open_boundaries = [entity.boundary] if entity.boundary else []
    begin = at
    while at < len(lines):
        line = text[slice(*lines[at])].rstrip()
        depth = _find_boundary(line, open_boundaries)
        if depth is None:
            at += 1
            continue
        if entity.is_prose and begin < at:
            yield begin, at
        is_end = line == f"--{open_boundaries[depth]}--"
        del open_boundaries[depth + (not is_end) :]
        if is_end:
            at += 1
            entity = _Entity(is_prose=False)
        else:
            at, entity = _read_headers(text, lines, at + 1)
            open_boundaries += [entity.boundary] if entity.boundary else []
        begin = at
    if entity.is_prose:
        yield begin, len(lines)


def _skip_blank(text: str, lines: list[Span], at: int) -> int:
    while at < len(lines) and not text[slice(*lines[at])].strip():
        at += 1
    return at


def _begins_headers(text: str, lines: list[Span], first: int) -> bool:
    start, end = lines[first]
    return bool(_KNOWN_HEADER.match(text, start, end) or _FROM_LINE.match(text, start, end))


def _read_headers(text: str, lines: list[Span], at: int) -> tuple[int, _Entity]:
    """The line after the headers that begin at a line, and what they say."""
    first = at
    while at < len(lines) and text[slice(*lines[at])].strip():
        at += 1
    headers = text[lines[first][0] : lines[at - 1][1]] if at > first else ""
    kind = _TYPE.search(headers)
    encoding = _ENCODING.search(headers)
    boundary = _BOUNDARY.search(headers)
    name = (kind["type"] or "").casefold() if kind else "text/plain"
    is_multipart = name.startswith("multipart/")
    is_plain = encoding is None or encoding["name"].casefold() in ("7bit", "8bit", "binary")
    shown = name == "text/plain" and is_plain and not _ATTACHED.search(headers)
    inner = (boundary["quoted"] or boundary["bare"]) if boundary and is_multipart else None
    is_signed = name == "multipart/signed"
    return at + 1, _Entity(None if is_signed else inner, shown)


def _find_boundary(line: str, boundaries: list[str]) -> int | None:
    """The innermost boundary that a line stands for. Those of parts within more than MOST_NESTED are not looked for."""
    if not line.startswith("--"):
        return None
    names = (line[2:], line[2:-2] if line.endswith("--") else line[2:])
    return next((n for n in reversed(range(min(len(boundaries), MOST_NESTED))) if boundaries[n] in names), None)


def _read_body(text: str, lines: list[Span]) -> Iterator[Part]:
    """The paragraphs of one body, up to its signature or to the mail that it forwards."""
    paragraph: list[Span] = []
    is_code = False
    for number, (start, end) in enumerate(lines):
        line = text[start:end]
        following = text[slice(*lines[number + 1])] if number + 1 < len(lines) else ""
        if not is_code and (_END.match(line) or (_OTHERS_HEADER.match(line) and _OTHERS_NEXT.match(following))):
            break
        is_fence = bool(_FENCE.match(line))
        is_left_out = is_code or is_fence or not line.strip() or _QUOTE.match(line) or _introduces(line, following)
        is_code ^= is_fence
        if not is_left_out:
            paragraph.append((start, end))
        elif paragraph:
            yield _to_part(text, paragraph)
            paragraph = []
    if paragraph:
        yield _to_part(text, paragraph)


def _introduces(line: str, following: str) -> bool:
    """Is it the line, or the first of two lines, that says whose words are quoted below?"""
    if _INTRODUCED.match(line):
        return True
    return bool(_INTRODUCTION.match(line) and not _SENTENCE_END.search(line) and _INTRODUCED.match(following))


def _to_part(text: str, lines: list[Span]) -> Part:
    is_short = all(end - start < _SHORT_LINE for start, end in lines)
    fragment = is_short and not _SENTENCE_END.search(text[slice(*lines[-1])])
    return take(text, [(start, min(end + 1, len(text))) for start, end in lines], "text", fragment=fragment)
