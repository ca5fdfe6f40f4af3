"""Suggestions stand when a writer accepts another one of their sentence.

    They was late and i dont know why.      suggested: was -> were, i -> I, dont -> don't
    They were late and i dont know why.     still suggested: i -> I, dont -> don't

The model reads the second sentence again. Errors support each other, so the remaining ones now have a lower confidence
and might vanish, and the writer would take the sentence for right. So suggestions that were made together stand, at
their first confidence, while the writer accepts one after the other. Any other text is read afresh.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from hashlib import blake2b

from edit_gec.editing.second_pass import growth_of, shift
from edit_gec.runtime.recent import Recent
from edit_gec.text.edits import Change, apply_changes
from edit_gec.text.word_edits import split_change

REMEMBERED = 20_000  # sentences that one accepted suggestion leads to
MOST = 30  # changes of a sentence; a longer list, which only text without full stops has, is not remembered


class StandingSuggestions:
    """The other suggestions of a sentence, by the text that accepting one of them makes; the last `capacity` of them.

    Of the text only the replacements are kept.
    """

    def __init__(self, capacity: int = REMEMBERED) -> None:
        self.known: Recent[bytes, tuple[Change, ...]] = Recent(capacity)

    def keep(self, sentence: str, parameters: Hashable, changes: Sequence[Change]) -> tuple[Change, ...]:
        """The changes of a sentence and the standing ones, in order; of two that touch, the standing one stays.

        `parameters` are the client and the requested confidence: they have suggestions of their own.
        """
        stood = self.known.get(_key(sentence, parameters)) or ()
        parts = [part for change in changes for part in split_change(sentence, change)]
        new = [c for c in parts if all(c.end < other.start or c.start > other.end for other in stood)]
        together = tuple(sorted((*stood, *new)))
        for n, change in enumerate(together if len(together) <= MOST else ()):
            rest = *together[:n], *shift(together[n + 1 :], growth_of(change))
            if rest:
                self.known.put(_key(apply_changes(sentence, [change]), parameters), rest)
        return together if stood else tuple(changes)  # where nothing stands, just what was found


def _key(sentence: str, parameters: Hashable) -> bytes:
    return blake2b(f"{parameters} {sentence}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
