"""Suggestions stand when a writer accepts another one of their sentence.

    They was late and i dont know why.      suggested: was -> were, i -> I, dont -> don't
    They were late and i dont know why.     still suggested: i -> I, dont -> don't

The model reads the second sentence anew, and there "i dont" is the only error left: alone it would be less sure of it
than beside the first. A writer who sees no more marks believes that the sentence is right. So what was suggested
together stays, at the confidence that it had, while the writer accepts one after the other. What a writer types
otherwise is read anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

from edit_gec.text.edits import Change, apply_changes
from edit_gec.text.word_edits import split_change

REMEMBERED = 20_000  # sentences that one accepted suggestion leads to


class StandingSuggestions:
    """What was suggested beside a suggestion, by the sentence that accepting it makes; the last `capacity` of them.

    No text is kept, but for the replacements.
    """

    def __init__(self, capacity: int = REMEMBERED) -> None:
        self.capacity = capacity
        self.known: OrderedDict[bytes, tuple[Change, ...]] = OrderedDict()

    def keep(self, sentence: str, asked: float | None, changes: Sequence[Change]) -> tuple[Change, ...]:
        """The changes of a sentence with those that stand in it, in order; where they touch, what stood before stays.

        `asked` is the least confidence that the writer asked for: other settings have other suggestions.
        """
        stood = self.known.get(_key(sentence, asked), ())
        parts = [part for change in changes for part in split_change(sentence, change)]
        new = [c for c in parts if all(c.end < other.start or c.start > other.end for other in stood)]
        together = tuple(sorted((*stood, *new)))
        for n, change in enumerate(together):
            growth = len(change.replacement) - (change.end - change.start)
            moved = (c._replace(start=c.start + growth, end=c.end + growth) for c in together[n + 1 :])
            rest = *together[:n], *moved
            if rest:
                self._remember(_key(apply_changes(sentence, [change]), asked), rest)
        return together if stood else tuple(changes)  # where nothing stands, just what was found

    def _remember(self, key: bytes, rest: tuple[Change, ...]) -> None:
        self.known[key] = rest
        self.known.move_to_end(key)
        if len(self.known) > self.capacity:
            self.known.popitem(last=False)


def _key(sentence: str, asked: float | None) -> bytes:
    return blake2b(f"{asked} {sentence}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
