"""What a document does throughout stays: names, words of its trade, blocks without a full stop."""

from __future__ import annotations

import pytest
from support.timing import is_linear, repeat

from edit_gec import Corrector
from edit_gec.editing.document_edits import Projection
from edit_gec.text import habits
from edit_gec.text.edits import Change
from edit_gec.text.habits import find_code_words, is_habit
from edit_gec.text.sentences import split


@pytest.mark.parametrize(
    ("original", "replacement", "times", "habit"),
    [
        ("Party", "party", 3, True),
        ("Party", "party", 2, False),
        ("e-mail", "email", 3, True),
        ("classpath", "class path", 3, True),
        ("Zorkpath", "Work path", 3, True),
        ("Zorkpath", "Work path", 2, False),
        ("party", "Party", 5, False),
        ("party", "parties", 5, False),
        ("a Party", "a party", 3, True),
        (" ", "", 9, False),
        ("file name", "filename", 3, True),
        ("A Party", "The Party", 3, False),
        ("its", "it's", 3, False),
        ("were", "we're", 3, False),
    ],
)
def test_what_stands_three_times_is_a_habit(original: str, replacement: str, times: int, habit: bool) -> None:
    assert is_habit(f"{original}. " * times, original, replacement, lambda word: word == "Zorkpath") == habit


def test_words_of_a_text_with_too_many_are_forgotten_unless_they_are_a_habit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(habits, "MOST_WORDS", 10)
    text = "so " * 3 + " ".join(f"{a}{b}" for a in "abcdefgh" for b in "abcdefgh") + " so"
    counts = habits.count_words(text)
    assert counts["so"] == 4 and len(counts) <= 2 * habits.MOST_WORDS


def test_wide_spaces_are_a_habit() -> None:
    assert is_habit("one  two three\xa0four five  six", " ", "", bool) and is_habit("a  b  c  d", "  ", " ", bool)
    assert not is_habit("one  two three  four five. Six", " ", "", bool)


def test_a_document_keeps_its_words_and_a_line_has_none() -> None:
    projection = Projection(Corrector.load(threads=1).edit5.spelling)
    for word, stays in (("skipif", True), ("becuase", False)):
        (sentence,) = split(f"It is so {word} he is late.")
        document = f"It is so {word} he is late. " * 3
        edits = projection.choose(document, sentence, [Change(9, 9 + len(word), "because", 0.9)])
        assert bool(edits) != stays
        (line,) = split(f"It is so {word} he is late.", lines=True)
        assert projection.choose(document, line, [Change(9, 9 + len(word), "because", 0.9)])


@pytest.mark.parametrize(
    ("document", "stays"),
    [
        ("We build Thinc now.\n\n    pip install thinc\n\nSee explosion/thinc.", True),
        ("We build Thinc now.\n\n```\nimport a\n```\n\nRun `thinc`.", True),
        ("We build Thinc now.\n\n```\nimport a\n```\n\nRun `thinking`.", False),
        ("We build thinc now.\n\n```\nimport a\n```\n\nRun `thinc`.", False),  # a common misspelling of "think"
        ("We build libthinc now.\n\n```\nimport a\n```\n\nRun `libthinc`.", True),
        ("We build Thinc now. See his/thinc.", False),  # anybody's letter
    ],
)
def test_a_word_of_the_code_is_a_name(document: str, stays: bool) -> None:
    projection = Projection(Corrector.load(threads=1).edit5.spelling)
    sentence = split(document)[0]
    end = sentence.text.index(" now")
    edits = projection.choose(document, sentence, [Change(9, end, "Think", 0.9)])
    assert bool(edits) != stays


@pytest.mark.parametrize("blocks", [2, 3])
def test_several_blocks_without_a_stop_are_a_style(blocks: int) -> None:
    text = "It is said. We went home\n\n" * blocks + "Here it ends.\n"
    for sentence in split(text):
        last = sentence.text.endswith("home")
        assert sentence.fragment == (last and blocks >= 3)
    small = "and here it is.\n\n" * blocks + "Here it ends.\n"
    assert [sentence.fragment for sentence in split(small)] == [blocks >= 3] * blocks + [False]
    assert not any(sentence.fragment for sentence in split(text, lines=True))


@pytest.mark.parametrize(
    "code",
    [
        "`snork`", "`--snork FILE`", "``a snork``", "```\n--snork FILE\n```", "~~~ sh\nrun snork\n~~~", "    snork = 1",
        "=snork=", "~a.snork~", "<code>snork</code>", "<pre>\nsnork: 1\n</pre>", "\\texttt{snork}", "\\verb|snork|",
        "----\nsnork: 1\n----", "lib/snork", "snork_size",
    ],
)  # fmt: skip
def test_what_stands_in_code_is_a_word_of_the_document(code: str) -> None:
    assert "snork" in find_code_words(f"See this:\n\n{code}\n\nIt is old.\n")
    assert "old" not in find_code_words(f"See this:\n\n{code}\n\nIt is old.\n")


@pytest.mark.parametrize(
    "unit", ["`", "``a", "```\n", "~~~\na\n", "----\n", "<code>", "=a", "\\verb|", "    a\n", "`a\n"]
)
def test_finding_code_is_linear(unit: str) -> None:
    assert is_linear(find_code_words.__wrapped__, repeat(unit))  # type: ignore[attr-defined]
