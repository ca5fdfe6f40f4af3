r"""Subtitles (SubRip, WebVTT, SubViewer): what is said, without numbers, times and tags.

    1
    00:00:01,000 --> 00:00:02,500
    She go
                                       one text, "She go home.": a sentence may run over lines and cues
    2
    00:00:02,600 --> 00:00:03,000
    home.

Another speaker, a pause and a sound in brackets part the texts. All are fragments: what is said stops anywhere. A file
without times that are known has no prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from edit_gec.text.markup import BREAK, FRAGMENT, LEFT_OUT, PROTECTED, mark
from edit_gec.text.parts import Part, Span, line_spans, take

_CLOCK = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMES = re.compile(rf"[ \t]*{_CLOCK}(?:[ \t]*-->[ \t]*|,){_CLOCK}(?:[ \t].*)?\Z")
_NUMBER = re.compile(r"[ \t]*\d+[ \t]*\Z")
_PAUSE_S = 2.0  # silence between two texts
_TURN = re.compile(
    r"^[ \t]*(?:(?:<[^<>\n]{1,80}>)*(?:[-–—‐][ \t]*|>>+[ \t]*|[A-Z][A-Z0-9 .'#-]{0,30}:[ \t]+)+|(?=<v[. ]))", re.M
)
_TAG = re.compile(
    r"</?[a-z][^<>\n]{0,200}>|<[\d:.]{5,12}>|\{\\[^{}\n]{0,200}\}|\{[a-zA-Z]:[^{}\n]{0,80}\}", re.IGNORECASE
)
_LONGEST_AROUND = 1_000  # characters of a line around a sound; no more tags are looked at
_LINE_MARK = re.compile(r"\[br\]|\\[Nn]", re.IGNORECASE)
_SOUND = re.compile(r"\[[^\[\]\n]{1,200}\]|\([^()\n]{1,200}\)|^[^\n]*[♪♫♬][^\n]*$|^[ \t]*#[ \t][^\n]*$", re.MULTILINE)


def read_subtitles(text: str) -> Iterator[Part]:
    """The texts of the cues, those that follow each other without a pause as one part."""
    kept: list[Span] = []
    last_end = 0.0
    for start_s, end_s, lines in _find_cues(text):
        if kept and start_s - last_end >= _PAUSE_S:
            yield take(text, kept, "cues")
            kept = []
        kept += [(start, min(end + 1, len(text))) for start, end in lines]
        last_end = end_s
    if kept:
        yield take(text, kept, "cues")


def _find_cues(text: str) -> Iterator[tuple[float, float, list[Span]]]:
    """Beginning and end in seconds, and the lines, of each cue: those up to a blank line or the next times."""
    lines = line_spans(text)
    times = {
        n: found
        for n, span in enumerate(lines)
        if "0" <= text[span[0] : span[1]].lstrip()[:1] <= "9" and (found := _TIMES.match(text[slice(*span)]))
    }
    for number, found in times.items():
        spoken: list[Span] = []
        for at in range(number + 1, len(lines)):
            line, below = (text[slice(*span)] for span in (lines[at], lines[min(at + 1, len(lines) - 1)]))
            is_next = "-->" in line or at in times
            is_number = ("-->" in below or at + 1 in times) and _NUMBER.match(line)
            if is_next or is_number or not line.strip():
                break
            spoken.append(lines[at])
        values = found.groups()
        yield _to_seconds(values[:4]), _to_seconds(values[4:]), spoken


def _to_seconds(clock: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = clock
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction}")


def mark_cues(text: str) -> bytearray:
    """Flags for every character of the texts of some cues, as markup.py defines them."""
    flags = bytearray(len(text))
    for turn in _TURN.finditer(text):
        start, end = turn.span()
        if start:
            mark(flags, start - 1, start, BREAK)
        mark(flags, start, end, LEFT_OUT)
    for tag in _TAG.finditer(text):
        mark(flags, *tag.span(), LEFT_OUT)
    for line_mark in _LINE_MARK.finditer(text):
        mark(flags, *line_mark.span(), BREAK)
    for sound in _SOUND.finditer(text):
        mark(flags, *sound.span(), BREAK if _is_alone(text, *sound.span()) else PROTECTED)
    mark(flags, 0, len(text), FRAGMENT)
    return flags


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether the line around text[start:end] has nothing else, apart from tags and dashes."""
    before = text[max(0, start - _LONGEST_AROUND) : start].rpartition("\n")[2]
    behind = text[end : end + _LONGEST_AROUND].partition("\n")[0]
    if len(before) + len(behind) >= _LONGEST_AROUND:
        return False
    return not _TAG.sub("", before + behind).strip(" \t-–—")
