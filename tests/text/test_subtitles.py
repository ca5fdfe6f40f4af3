"""Subtitles: what is said is seen, over lines and cues; numbers, times and tags stay."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law, nasty
from support.timing import is_linear, repeat

from edit_gec.text.edits import Change, apply, resolve_overlaps
from edit_gec.text.sentences import split

SUBRIP = """1
00:00:01,000 --> 00:00:02,500
<i>She go</i>

2
00:00:02,600 --> 00:00:03,000
home becuase
{\\an8}she are tired.

3
00:00:03,100 --> 00:00:04,000
- Where are you go?
- [sighs]
- Home.
♪ la la go ♪

4
00:00:09,000 --> 00:00:10,000 X1:1
JOHN: this are (I thinks)
"""
WEBVTT = """WEBVTT - it go

NOTE it go

STYLE
::cue { color: red }

go
00:01.000 --> 00:02.000 align:start
<v Bob>She go <c.x>home</c>

00:02.000 --> 00:03.000
<v Ann>They goes
<00:02.500>home.
"""
SUBVIEWER = """[TITLE]
it go
0:00:01.000,0:00:02.000
She go[br]It go

0:00:02.500,0:00:03.000
home.
"""
MICRODVD = "{0}{25}She go|home.\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SUBRIP, ["She go home becuase she are tired.", "Where are you go?", "Home.", "this are (I thinks)"]),
        (WEBVTT, ["She go home", "They goes home."]),
        (SUBVIEWER, ["She go", "It go home."]),
        (MICRODVD, []),
        ("She go home.", []),
    ],
)
def test_what_is_read(text: str, expected: list[str], line_end: str) -> None:
    found = split(text.replace("\n", line_end), format="subtitles")
    assert [sentence.text for sentence in found] == expected
    assert all(sentence.fragment for sentence in found)


def test_an_edit_over_two_cues_keeps_what_is_between_them() -> None:
    sentence = split(SUBRIP, format="subtitles")[0]
    edit = sentence.project(SUBRIP, Change(4, 11, "goes house", 0.9))
    assert edit is None  # a tag would be swallowed
    text = SUBRIP.replace("<i>", "").replace("</i>", "")
    sentence = split(text, format="subtitles")[0]
    edit = sentence.project(text, Change(4, 11, "goes house", 0.9))
    assert edit is not None and "\n\n2\n00:00:02,600 --> 00:00:03,000\n" in edit.replacement


def test_what_is_said_gets_no_full_stop_and_no_capital() -> None:
    text = "00:01.000 --> 00:02.000\nshe goes\n\n00:09.000 --> 00:10.000\nhome\n"
    for sentence in split(text, format="subtitles"):
        end = len(sentence.text)
        assert sentence.project(text, Change(end, end, ".", 1.0)) is None
        assert sentence.project(text, Change(0, 1, sentence.text[0].upper(), 1.0)) is None


def skeleton(text: str) -> list[str]:
    """Numbers and times of the cues."""
    return re.findall(r"^(?:\d+\n)?.*(?: --> |\d,\d).*$", text, re.MULTILINE)


PIECES = [
    "go ",
    "home.",
    "\n",
    "\n\n",
    "- ",
    "<i>",
    "</i>",
    "{\\an8}",
    "[",
    "]",
    "♪",
    "ANN: ",
    ">> ",
    "7\n",
    "00:00:05,000 --> 00:00:06,000\n",
]


@law
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=4), st.data())
def test_numbers_and_times_stay(cues: list[str], data: st.DataObject) -> None:
    text = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{cue}\n\n" for n, cue in enumerate(cues, 1))
    edits = []
    for sentence in split(text, format="subtitles"):
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(sentence.text))] * 2)))
        edits.append(sentence.project(text, Change(start, end, data.draw(nasty), 0.5)))
    corrected = apply(text, resolve_overlaps(edit for edit in edits if edit))
    assert skeleton(corrected) == skeleton(text) and corrected.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "line",
    ["0\n", "00:01.000 --> 00:02.000\n", "00:01.000 --> 00:02.000\na\n", "<v A>\n", "- a\n", "[a\n", "♪\n", "A: "],
)
def test_the_time_is_linear(line: str) -> None:
    def read(text: str) -> None:
        split("00:01.000 --> 00:02.000\n" + text, format="subtitles")

    assert is_linear(read, repeat(line))
