"""Checkers that users ask about, where their packages are installed: nothing here depends on them.

    languagetool    LanguageTool's rules, by lingotweaker (LGPL), without Java
    harper          Harper's rules, by harper-py
    quire           quire-grammar's rules and its tagger

    load_checker("harper")("He go to teh school.")   ->   "He goes to the school."

A text is corrected as somebody would who accepts everything: the first suggestion of each finding is made, from left to
right; of two that overlap, the one that starts first.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version as installed
from typing import NamedTuple

from edit_gec.errors import MissingExtraError


class Suggestion(NamedTuple):
    """Text [start, end), in code points, becomes `replacement`."""

    start: int
    end: int
    replacement: str


Find = Callable[[str], Iterable[Suggestion]]
Correct = Callable[[str], str]


@dataclass(frozen=True)
class Checker:
    """The module that a checker is imported as, its packages on PyPI, and what makes a fresh one."""

    module: str
    packages: tuple[str, ...]
    make: Callable[[], Find]

    def missing(self) -> str | None:
        """What to install, None where it is there."""
        if importlib.util.find_spec(self.module) is not None:
            return None
        return f"{self.packages[0]} is not installed: pip install {' '.join(self.packages)}"


def _make_languagetool() -> Find:
    import lingotweaker_data_en
    import lt_py

    engine = lt_py.Engine("en-US", data_dir=str(lingotweaker_data_en.data_dir()))

    def find(text: str) -> Iterable[Suggestion]:
        data = text.encode()  # its offsets count bytes
        for match in engine.check(text):
            if match["suggestions"]:
                start, length = match["offset"], match["length"]
                before, inside = data[:start].decode(), data[start : start + length].decode()
                yield Suggestion(len(before), len(before) + len(inside), match["suggestions"][0])

    return find


def _make_harper() -> Find:
    import harper

    linter = harper.Linter()

    def find(text: str) -> Iterable[Suggestion]:
        for lint in linter.lint(text, language=harper.Language.PLAINTEXT):
            if lint.suggestions:
                first, span = lint.suggestions[0], lint.span
                old = text[span.start : span.end] if first.kind == harper.SuggestionKind.INSERT_AFTER else ""
                yield Suggestion(span.start, span.end, old + first.replacement_text)

    return find


def _make_quire() -> Find:
    import quire_grammar

    def find(text: str) -> Iterable[Suggestion]:
        for each in quire_grammar.check(text):
            if each.suggestions:
                yield Suggestion(each.start, each.end, each.suggestions[0])

    return find


CHECKERS = {
    "languagetool": Checker("lt_py", ("lingotweaker", "lingotweaker-data-en"), _make_languagetool),
    "harper": Checker("harper", ("harper-py",), _make_harper),
    "quire": Checker("quire_grammar", ("quire-grammar", "quire-grammar-model"), _make_quire),
}


def make_checker(name: str) -> Correct:
    """A fresh checker of CHECKERS, which remembers nothing. Raises MissingExtraError."""
    checker = CHECKERS[name]
    if missing := checker.missing():
        raise MissingExtraError(f"{name}: {missing}")
    find = checker.make()
    return lambda text: make_suggestions(text, find(text))


load_checker = cache(make_checker)


def identify_checker(name: str) -> str:
    """A checker with the versions of its packages: "harper:harper-py-0.2.0"."""
    return f"{name}:{'+'.join(f'{package}-{installed(package)}' for package in CHECKERS[name].packages)}"


def make_suggestions(text: str, found: Iterable[Suggestion]) -> str:
    """The text with these suggestions made, from left to right; of two that overlap, the first.

    >>> make_suggestions("teh end", [Suggestion(0, 3, "the"), Suggestion(2, 5, "h")])
    'the end'
    """
    made, at = "", 0
    for start, end, replacement in sorted(found):
        if start >= at:
            made += text[at:start] + replacement
            at = end
    return made + text[at:]
