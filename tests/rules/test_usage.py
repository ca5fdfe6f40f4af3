"""How a document uses its words."""

from __future__ import annotations

import pytest
from support.timing import is_linear, repeat

from edit_gec.rules import usage
from edit_gec.rules.usage import find_code_words


def test_words_of_a_text_with_too_many_are_forgotten_unless_they_are_a_habit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "MOST_WORDS", 10)
    text = "so " * 3 + " ".join(f"{a}{b}" for a in "abcdefgh" for b in "abcdefgh") + " so"
    counts = usage.count_words(text)
    assert counts["so"] == 4 and len(counts) <= 2 * usage.MOST_WORDS


def test_wide_spaces_are_a_habit() -> None:
    assert usage.has_wide_spaces("one  two three\xa0four five  six")
    assert not usage.has_wide_spaces("one  two three  four five. Six")


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
