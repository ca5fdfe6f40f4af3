"""Changes of a sentence -> edits of its document, each with its kind.

    "becuase its" -> "because it's"     becuase -> because, its -> it's      one edit for each error
    "occupy" -> "occupys"               refused by a check (rules/checks.py)
    "colour" -> "color"                 refused: a word stays on its side of the Atlantic

Changes of a target are never refused: its output is reproduced exactly. What would be edited in errors that are shown
on purpose, and in titles that something refers to, is a hint.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from edit_gec.editing.confidence import log_odds
from edit_gec.editing.obvious import DOUBLED, find_obvious
from edit_gec.rules.checks import find_refusal
from edit_gec.rules.dialect import find_other_side, keep_side
from edit_gec.rules.kept import keep_known_words
from edit_gec.rules.placed_edit import PlacedEdit
from edit_gec.text.edits import Change, Edit, Provenance, contains_word, edits_touch
from edit_gec.text.kinds import name_kind
from edit_gec.text.sentences import Sentence
from edit_gec.text.titles import keep_marks
from edit_gec.text.word_edits import split_change
from edit_gec.text.words import breaks_character
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.predictor import WindowChanges

LOG = logging.getLogger("edit_gec.rules")


class ProjectedEdits(NamedTuple):
    """The edits of a sentence, those that were drafted and that a target refuses, and those that are hints only."""

    edits: list[Edit]
    refused: list[Edit]
    hints: list[Edit]


@dataclass(frozen=True)
class Projection:
    """How changes become edits. `spelling`: the words of the language. `dictionary`: words to leave alone, case folded.

    dialect: the spelling to enforce; None accepts British and American. min_confidence: that of the changes; some
    edits of documents need a little more.
    """

    spelling: WordList | None
    dictionary: frozenset[str] = frozenset()
    dialect: str | None = None
    min_confidence: float = 0.0

    def to_edits(self, text: str, sentence: Sentence, found: WindowChanges) -> ProjectedEdits:
        """The edits in a sentence of the text, obvious errors corrected, too; none is refused here."""
        with span(Stage.REALIZE):
            edits = self.choose(text, sentence, found.changes)
            respelt = self.respell(text, sentence)
        edits = keep_marks(text, sentence, self.add_obvious(text, sentence, edits + respelt))
        return ProjectedEdits(edits, [], self.find_hints(text, sentence, found.changes, edits))

    def find_hints(self, text: str, sentence: Sentence, changes: Iterable[Change], edits: Sequence[Edit]) -> list[Edit]:
        """What would be edited beside these edits, were it not shown on purpose or referred to."""
        opened = sentence.opened()
        if opened is None:
            return []
        found = self.add_obvious(text, opened, self.choose(text, opened, changes))
        return [hint for hint in found if not any(edits_touch(hint, edit) for edit in edits)]

    def project(self, text: str, sentence: Sentence, changes: Iterable[Change]) -> list[Edit]:
        """All changes of a sentence of the text as edits, except those of words to leave alone."""
        return name_kinds(text, self._cut(text, sentence, changes))

    def choose(self, text: str, sentence: Sentence, changes: Iterable[Change]) -> list[Edit]:
        """The edits of the changes, without those that break words, swap dialects or break the document's habits."""
        whole = (each for each in changes if not breaks_character(sentence.text, *each[:3]))
        edits = (keep_known_words(edit, self._is_known) for edit in self._cut(text, sentence, whole))
        own = (keep_side(text, edit, self.dialect, self._is_known) for edit in edits)
        return name_kinds(text, (edit for edit in own if edit and not self._is_refused(text, sentence, edit)))

    def respell(self, text: str, sentence: Sentence) -> list[Edit]:
        """The words of the other dialect, in the spelling of the requested one."""
        if self.dialect is None:
            return []
        return self.choose(text, sentence, find_other_side(sentence.text, self.dialect, self._is_known))

    def add_obvious(self, text: str, sentence: Sentence, edits: list[Edit]) -> list[Edit]:
        """The edits, and those of obvious errors, in order. Where the model's touch what is obvious, theirs count, but
        not against sure rules, and against words that stand twice only if they take one away ("lives lives" -> "live").
        Where a sure rule writes the same text, its confidence counts.
        """
        if self.spelling is None:
            return edits
        for change in find_obvious(text, sentence, self.spelling):
            new = self.choose(text, sentence, [change])
            if new and change.confidence >= self.min_confidence:
                edits = _join(text, edits, new, sentence.offsets[change.start], sentence.offsets[change.end])
        return sorted(edits, key=lambda edit: edit.span)

    def _cut(self, text: str, sentence: Sentence, changes: Iterable[Change]) -> Iterator[Edit]:
        """One edit per error, so that markup which blocks one of them leaves the others."""
        parts = (part for change in changes for part in split_change(sentence.text, change))
        edits = (sentence.project(text, part) for part in parts)
        return (edit for edit in edits if edit and not contains_word(edit.original, self.dictionary))

    def _is_refused(self, text: str, sentence: Sentence, edit: Edit) -> bool:
        """Whether a check refuses an edit; which one is logged for debugging."""
        margin = log_odds(edit.confidence) - log_odds(self.min_confidence)
        check = find_refusal(PlacedEdit(text, sentence, edit, self.spelling, margin))
        if check:
            LOG.debug("%s: %d-%d %r -> %r", check, *edit.span, edit.original, edit.replacement)
        return check is not None

    def _is_known(self, word: str) -> bool:
        return self.spelling is not None and self.spelling.knows(word)


def _join(text: str, edits: list[Edit], new: list[Edit], begin: int, end: int) -> list[Edit]:
    """The edits with those of an obvious error at text[begin:end], or in place of them."""
    sure = new[0].confidence
    touched = [each for each in edits if begin <= each.end and each.start <= end]
    if not all(sure >= DOUBLED > each.confidence for each in touched):
        return edits
    same = [each for each in touched if any(_write_same(text, each, edit) for edit in new)]
    if same:
        return [replace(each, confidence=sure, provenance=Provenance.RULE) if each in same else each for each in edits]
    is_done = not new[0].replacement and any(_leaves_one(each, 2 * begin - end, end) for each in touched)
    return edits if is_done else [*(each for each in edits if each not in touched), *new]


def _write_same(text: str, one: Edit, other: Edit) -> bool:
    """Whether two edits make the same of the text: of a word that stands twice either may go."""
    start, end = min(one.start, other.start), max(one.end, other.end)
    first, second = (text[start : each.start] + each.replacement + text[each.end : end] for each in (one, other))
    return first == second


def _leaves_one(edit: Edit, begin: int, end: int) -> bool:
    """Whether an edit leaves one of the words text[begin:end], maybe another form of it, or a part of it none."""
    old, new = edit.original, edit.replacement
    is_near = edit.start < end and begin < edit.end
    return is_near and len(new.split()) < len(old.split()) and new[:1] == old[: len(new[:1])]


def name_kinds(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits, each with its kind."""
    return [replace(edit, kind=name_kind(text, *edit.span, edit.replacement)) for edit in edits]
