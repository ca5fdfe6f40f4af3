"""Changes of a sentence -> edits of its document, each with its kind.

    "becuase its" -> "because it's"     becuase -> because, its -> it's      one edit for each error
    "of your" -> "of yourThe"           refused: it sticks words together
    "colour" -> "color"                 refused: a word stays on its side of the Atlantic
    "classpath" -> "class path"         refused where the document always writes "classpath"

Changes of a target are never refused: its output is reproduced exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from edit_gec.editing.confidence import log_odds, logistic
from edit_gec.editing.obvious import DOUBLED, find_obvious
from edit_gec.text.dialect import find_other_side, keep_side
from edit_gec.text.edits import Change, Edit, Provenance, contains_word
from edit_gec.text.habits import find_code_words, is_habit
from edit_gec.text.kept import keep_known_words, must_stay
from edit_gec.text.kinds import name_kind
from edit_gec.text.sentences import Sentence
from edit_gec.text.style import extra_odds, is_style, swaps_small_words
from edit_gec.text.titles import keep_marks
from edit_gec.text.word_edits import split_change
from edit_gec.text.words import breaks_character, sticks_words
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.predictor import WindowChanges


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

    def to_edits(self, text: str, sentence: Sentence, found: WindowChanges) -> tuple[list[Edit], list[Edit]]:
        """The edits in a sentence of the text, obvious errors corrected, too; and those that are refused: none here."""
        with span(Stage.REALIZE):
            edits = self.choose(text, sentence, found.changes)
            respelt = self.respell(text, sentence)
        return keep_marks(text, sentence, self.add_obvious(text, sentence, edits + respelt)), []

    def project(self, text: str, sentence: Sentence, changes: Iterable[Change]) -> list[Edit]:
        """All changes of a sentence of the text as edits, except those of words to leave alone."""
        return name_kinds(text, self._cut(text, sentence, changes))

    def choose(self, text: str, sentence: Sentence, changes: Iterable[Change]) -> list[Edit]:
        """The edits of the changes, without those that break words, swap dialects or break the document's habits."""
        edits: Iterable[Edit] = self._cut(
            text, sentence, (change for change in changes if self._keeps_words(sentence.text, change))
        )
        edits = (keep_known_words(edit, self._is_known) for edit in edits)
        own = (keep_side(text, edit, self.dialect, self._is_known) for edit in edits)
        return name_kinds(text, (edit for edit in own if edit and not self._is_left(text, sentence, edit)))

    def respell(self, text: str, sentence: Sentence) -> list[Edit]:
        """The words of the other dialect, in the spelling of the requested one."""
        if self.dialect is None:
            return []
        return self.choose(text, sentence, find_other_side(sentence.text, self.dialect, self._is_known))

    def add_obvious(self, text: str, sentence: Sentence, edits: list[Edit]) -> list[Edit]:
        """The edits, and those of obvious errors, in order. Of two that touch the model's counts, except for words that
        stand twice."""
        if self.spelling is None:
            return edits
        found = self.choose(text, sentence, find_obvious(text, sentence, self.spelling))
        for new in found:
            touched = [each for each in edits if new.start <= each.end and each.start <= new.end]
            is_sure = all(new.confidence >= DOUBLED > each.confidence for each in touched)
            if new.confidence >= self.min_confidence and is_sure:
                edits = [*(each for each in edits if each not in touched), new]
        return sorted(edits, key=lambda edit: edit.span)

    def _cut(self, text: str, sentence: Sentence, changes: Iterable[Change]) -> Iterator[Edit]:
        """One edit per error, so that markup which blocks one of them leaves the others."""
        parts = (part for change in changes for part in split_change(sentence.text, change))
        edits = (sentence.project(text, part) for part in parts)
        return (edit for edit in edits if edit and not contains_word(edit.original, self.dictionary))

    def _is_left(self, text: str, sentence: Sentence, edit: Edit) -> bool:
        """Whether an edit is a matter of style, or the document around its sentence writes so throughout, and it is no
        error that everybody knows."""
        is_edited = sentence.in_code or not sentence.unmarked or swaps_small_words(edit)
        if must_stay(text, sentence, edit, self._is_known) or is_style(text, sentence, edit, self._is_known):
            return True
        if sentence.alone:
            return False
        if (is_edited and self._is_unsure(edit)) or self._is_name(text, sentence, edit):
            return True
        is_new = self._is_unknown if sentence.in_code else self._is_new  # "kwds" is near "kids", and a name in the code
        return is_habit(text, edit.original, edit.replacement, is_new)

    def _is_name(self, text: str, sentence: Sentence, edit: Edit) -> bool:
        """Whether a document with markup has an unknown word in its code or paths, too. A common misspelling in small
        letters is none."""
        word = edit.original
        is_possible = not sentence.unmarked and self._is_unknown(word) and (word[:1].isupper() or self._is_new(word))
        return is_possible and word.casefold() in find_code_words(text)

    def _is_unsure(self, edit: Edit) -> bool:
        """Whether an edit is not sure enough for a place where writers choose."""
        if edit.provenance == Provenance.RULE:
            return False
        least = logistic(log_odds(self.min_confidence) + extra_odds(edit, self._is_known))
        return edit.confidence < min(least, DOUBLED)

    def _keeps_words(self, sentence: str, change: Change) -> bool:
        """Whether a change neither cuts a character nor makes one word of two."""
        return not breaks_character(sentence, *change[:3]) and not sticks_words(sentence, *change[:3], self._is_known)

    def _is_known(self, word: str) -> bool:
        return self.spelling is not None and self.spelling.knows(word)

    def _is_unknown(self, word: str) -> bool:
        return self.spelling is not None and not self.spelling.knows(word)

    def _is_new(self, word: str) -> bool:
        """Whether a word is neither in the list of words nor a misspelling of a common one."""
        return self.spelling is not None and not self.spelling.knows(word) and not self.spelling.is_common_slip(word)


def name_kinds(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits, each with its kind."""
    return [replace(edit, kind=name_kind(text, *edit.span, edit.replacement)) for edit in edits]
