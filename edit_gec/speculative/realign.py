"""Where are we in the draft? After a disagreement the accepted text is aligned with what was drafted, byte by byte.

    draft     She goes to school by the bus .
    accepted  She went                                  (the target did not say "goes")
    distance  edit distance of "She went" to every beginning of the draft; smallest behind "She goes"
    propose    to school by the bus .

The alignment is one row of the edit-distance table, extended by each accepted byte. Candidates are token boundaries; a
common ending and a word that starts behind it count in a boundary's favour. On 600 sentences of W&I dev, the gold
correction as target, copying the source takes 4.05 passes a sentence so, and 5.38 with the rule of Sun et al. below.
The source is aligned too: where the target follows it rather than the draft, copy it up to the end of the edit that the
target refused, and go on with the draft: later edits survive.

Where what the alignment proposed is wrong from its first token on, the target has jumped: it left out half a sentence,
or says something twice. Then go on as the longest ending of the accepted text went on wherever it occurs, in draft,
source or the accepted text itself, which a target that repeats itself goes on repeating.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from edit_gec.modeling.tokenizer import EOS, Tokens

ENDING = 1.0  # worth of each byte that accepted text and hypothesis share before the boundary, up to ENDINGS
ENDINGS = 6
WORD = 1.2  # worth of a word that starts behind the boundary
RECURRENCE = 12  # tokens of the accepted text's ending that are looked for at most
REPEATED = 64  # tokens drafted at most of what repeats itself


class AlignedText:
    """A text that the target may be writing, as the target's tokens (</s> last), and its alignment so far."""

    def __init__(self, ids: Sequence[int], tokens: Tokens) -> None:
        self.ids = [*ids, EOS]
        surfaces = [tokens.surface(i) for i in ids]
        self.bytes: NDArray[np.uint8] = np.frombuffer(b"".join(surfaces), dtype=np.uint8)
        self.boundaries: NDArray[np.int64] = np.cumsum([0, *map(len, surfaces)])  # bytes before each token
        self.words = np.array([*(s[:1] == b" " for s in surfaces), True])
        self.distances: NDArray[np.int64] | None = None  # [bytes + 1]
        self.read = 0  # bytes of the accepted text that `distances` counts

    def follow(self, accepted: bytes) -> None:
        """Extend the alignment to all of the accepted text."""
        places = np.arange(len(self.bytes) + 1)
        if self.distances is None:  # as long as both are equal, the row is known
            text = np.frombuffer(accepted, dtype=np.uint8)
            shorter = min(len(text), len(self.bytes))
            different = np.flatnonzero(text[:shorter] != self.bytes[:shorter])
            self.read = int(different[0]) if len(different) else shorter
            self.distances = abs(places - self.read)
        for byte in accepted[self.read :]:
            row = self.distances + 1
            row[1:] = np.minimum(row[1:], self.distances[:-1] + (self.bytes != byte))
            self.distances = np.minimum.accumulate(row - places) + places
        self.read = len(accepted)

    def best(self, accepted: bytes) -> tuple[float, int]:
        """Cost and number of the token that most likely comes next."""
        self.follow(accepted)
        assert self.distances is not None
        cost = self.distances[self.boundaries] - WORD * self.words
        same = np.ones(len(self.boundaries), dtype=bool)
        for n in range(1, min(ENDINGS, len(accepted)) + 1):
            places = self.boundaries - n
            same = same & (places >= 0)
            same[same] = self.bytes[places[same]] == accepted[-n]
            cost = cost - ENDING * same
        at = int(cost.argmin())
        return float(cost[at]), at


class Realigner:
    """The drafts of one sentence: what to propose after any accepted text. The draft may be the source itself."""

    def __init__(self, source: Sequence[int], draft: Sequence[int], tokens: Tokens) -> None:
        self.tokens = tokens
        self.draft = AlignedText(draft, tokens)
        self.source = self.draft if list(source) == list(draft) else AlignedText(source, tokens)
        self.accepted = b""
        self.seen = 0  # tokens in `accepted`
        self.followed = True  # so far, the accepted tokens are the draft's
        self.proposed: list[int] = []
        self._continued: list[int] | None = None

    def propose(self, accepted: Sequence[int]) -> list[int]:
        """Tokens that likely follow the accepted ones, </s> last; call it with ever longer lists."""
        new = list(accepted[self.seen :])
        self.accepted += b"".join(map(self.tokens.surface, new))
        self.followed = self.followed and self.draft.ids[self.seen : len(accepted)] == new
        lost = bool(self.proposed) and new[:1] != self.proposed[:1]
        self.seen = len(accepted)
        if self.followed:
            self.proposed = self.draft.ids[self.seen :]
        else:
            again = find_recurrence(accepted, (self.draft.ids, self.source.ids)) if lost else []
            self.proposed = again or self.aligned()
        return self.proposed

    def aligned(self) -> list[int]:
        """The draft, or the source and then the draft, from where the accepted text ends."""
        cost, at = self.draft.best(self.accepted)
        if self.source is not self.draft:
            source_cost, source_at = self.source.best(self.accepted)
            if source_cost < cost:
                return self.through_source(source_at)
        return self.draft.ids[at:]

    def through_source(self, at: int) -> list[int]:
        """The source from token `at` to where it next meets the draft, then the draft."""
        if self._continued is None:
            self._continued = find_meetings(self.source.ids, self.draft.ids)
        meeting = next(n for n in range(at, len(self.source.ids)) if self._continued[n] >= 0)
        return self.source.ids[at:meeting] + self.draft.ids[self._continued[meeting] :]


def find_meetings(source: Sequence[int], draft: Sequence[int]) -> list[int]:
    """For each source token the draft token that copies it, -1 where there is none; </s> always meets </s>.

    >>> find_meetings([5, 6, 7, 1], [5, 8, 9, 7, 1])
    [0, -1, 3, 4]
    """
    copies = [-1] * len(source)
    for block in SequenceMatcher(None, source[:-1], draft[:-1], autojunk=False).get_matching_blocks():
        copies[block.a : block.a + block.size] = range(block.b, block.b + block.size)
    copies[-1] = len(draft) - 1
    return copies


def find_recurrence(accepted: Sequence[int], texts: Sequence[Sequence[int]]) -> list[int]:
    """What follows the longest ending of `accepted` that occurs in one of the texts, or earlier in itself; none: [].

    >>> find_recurrence([5, 6, 7], [[4, 6, 7, 8, 1]]), find_recurrence([9, 5, 6, 5, 6], [[7, 1]])[:5]
    ([8, 1], [5, 6, 5, 6, 5])
    """
    longest, found = 0, list[int]()
    for text in (*texts, accepted):
        for end in range(1, len(text)):
            most = min(end, len(accepted), RECURRENCE)
            same = next((n for n in range(most) if text[end - 1 - n] != accepted[-1 - n]), most)
            if same > longest:
                longest, found = same, list(text[end:])
                if text is accepted:
                    found = (found * REPEATED)[:REPEATED]
    return found


class UniqueNGram:
    """The rule of shallow aggressive decoding (Sun et al. 2021), kept as the baseline: after a disagreement draft
    nothing until the last one, two or three accepted tokens occur exactly once in the draft, then copy what follows.
    """

    def __init__(self, draft: Sequence[int]) -> None:
        self.ids = [*draft, EOS]
        self.followed = True

    def propose(self, accepted: Sequence[int]) -> list[int]:
        """Tokens to verify after the accepted ones, none while the place is uncertain."""
        self.followed = self.followed and self.ids[: len(accepted)] == list(accepted)
        if self.followed:
            return self.ids[len(accepted) :]
        for n in range(1, min(3, len(accepted)) + 1):
            last = list(accepted[-n:])
            ends = [end for end in range(n, len(self.ids)) if self.ids[end - n : end] == last]
            if not ends:
                return []
            if len(ends) == 1:
                return self.ids[ends[0] :]
        return []
