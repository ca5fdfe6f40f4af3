"""Where sentences end in a paragraph, as learners write; and what is protected in them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from edit_gec.text.boundaries import boundaries
from edit_gec.text.markup import PROTECTED
from edit_gec.text.parts import line_spans, take
from edit_gec.text.protected import find, is_code


def cut(text: str) -> list[str]:
    """The sentences of a paragraph written with a | between them, as they are found."""
    view = text.replace("|", "")
    ends = [0, *boundaries(view, bytearray(len(view)))]
    return [view[start:end] for start, end in pairwise(ends)]


@pytest.mark.parametrize(
    "text",
    [
        "It rains.| We stay.",
        "it was late.| i slept.",
        "We met Dr. Hay at 5 p.m. in Paris.| He left.",
        "No. 5 is here.| I said no.| He left.",
        "See p. 5, fig. 3 and vol. 2.| Then stop.",
        "Acme Inc. Berlin sells it.| It is Acme Inc.| The firm is old.",
        "J. Smith came.| A. B. Lee, too.",
        "1. First we eat.",
        "Why?| Because!| Really?!| Yes.",
        '"Really?" he asked.| "Yes." She left.'.replace('." She', '."| She'),
        "Well... maybe.| And then...| The end.",
        "We went home.|Then we slept.",
        "Use node.Js or a.B here.",
        "He came (?) late.",
        "今日は。|Good morning.",
        "I like cats, dogs, etc. and birds etc.| They are nice.",
        "It is at 12 Oak blvd. near the sea.",
        'The end."',
    ],
)
def test_sentences(text: str) -> None:
    assert cut(text) == text.split("|")


def test_a_protected_stop_ends_nothing() -> None:
    view = "See a.b. Here it is."
    flags = bytearray(len(view))
    assert list(boundaries(view, flags)) == [8, 20]
    flags[7] = PROTECTED
    assert list(boundaries(view, flags)) == [20]


def test_the_end_of_the_paragraph_is_always_an_end() -> None:
    for view in ("", " ", "...", "no stop"):
        assert list(boundaries(view, bytearray(len(view)))) == [len(view)]


def protected(view: str) -> str:
    """The view with a dot for every character that is free to change."""
    kept = {n for start, end in find(view) for n in range(start, end)}
    return "".join(character if n in kept else "." for n, character in enumerate(view))


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("Mail ann@example.org by 10:30, ok", ".....ann@example.org....10:30...."),
        ("See https://a.org/x_(y), then", "....https://a.org/x_(y)......"),
        ("a well-known don't-care word", "." * 28),
        ("the 21th day", "....21......"),
        ("open src/main.py and it's fine", ".....src/main.py.............."),
        ("call foo_bar() or camelCase", ".....foo_bar()....camelCase"),
        ("run --force on $HOME now", "....--force....$HOME...."),
        ("in COVID-19 times", "...COVID-19......"),
        ("It&#39;s late", "It&#39;s....."),
        ("I like 😀 it", ".......😀..."),
        ("5 km and 3D", "5 km.....3D"),
        ("It is 43hTRb41cRlx/1WWQoP+xYz= now", "......43hTRb41cRlx/1WWQoP+xYz=...."),
        ("call +49 30 1234567 now", ".....+49 30 1234567...."),
    ],
)
def test_what_is_protected(view: str, expected: str) -> None:
    assert protected(view) == expected


@pytest.mark.parametrize("view", ["x = foo(1) && y != 2;", "if (a) { b(); }"])
def test_code_is_protected_as_a_whole(view: str) -> None:
    assert is_code(view) and protected(view) == view


def test_prose_with_calls_is_no_code() -> None:
    assert not is_code("You call foo(1) and then bar(2) in the next step.")
    assert not is_code("x = 1"), "one sign is not enough"


def test_a_part_knows_where_it_stands() -> None:
    document = "# She go\n# home.\n"
    part = take(document, [(2, 9), (11, 16)], "text", fragment=True)
    assert part.text == "She go\nhome." and (part.format, part.fragment) == ("text", True)
    assert "".join(document[at] for at in part.offsets) == part.text
    assert list(part.offsets) == sorted(part.offsets)


@pytest.mark.parametrize("text", ["", "a", "a\n", "\n\nab\n\n", "a\r\nb"])
def test_lines_and_their_ends_make_the_text(text: str) -> None:
    spans = line_spans(text)
    assert "\n".join(text[start:end] for start, end in spans) == text
    assert all("\n" not in text[start:end] for start, end in spans)
