"""Where does the target continue in the draft? After a disagreement the accepted text is aligned with it, by bytes.

    draft     She goes to school by the bus .
    accepted  She went                                  (the target rejected "goes")
    distance  edit distance of "She went" to every prefix of the draft; smallest after "She goes"
    propose    to school by the bus .

The alignment is one row of the edit-distance table, extended by each accepted byte. Candidates are token boundaries. A
common ending before the boundary and a word or a mark that starts after it count in its favour. On 600 sentences of
W&I dev, with the gold correction as the target's output, copying the source takes 4.05 passes a sentence this way and
5.38 with the rule of Sun et al. (`UniqueNGram`).

The source is aligned too. Where the target follows it rather than the draft, the source is proposed up to the end of
the edit that the target rejected, and then the draft, so later edits survive.

A pass also reads what stands behind the token that it rejects, and says what the target would write there. Edits are
nearly independent, so what it disagrees with there it will mostly disagree with again: its own token takes the place in
the next proposal, which then goes on as if that had been accepted (`foresee`; the idea is Jacobi decoding's).

The alignment can fail when the target jumps: it leaves out half a sentence, or repeats a part. Fallback, when the first
token of a proposal was rejected: find the longest suffix of the accepted text elsewhere (draft, source, or earlier
output) and propose what followed it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edit_gec.modeling.tokenizer import EOS, Vocabulary

ENDING_BONUS = 1.0  # for each byte that accepted text and draft share before the boundary
ENDING_BYTES = 6  # the most that are compared
WORD_BONUS = 1.2  # for a word or a mark that starts after the boundary
MIN_SUFFIX = 2  # tokens of the accepted text's ending that must stand elsewhere; one says less than the alignment
MAX_SUFFIX = 12  # the most that are searched
MOST_FORESEEN = 8  # disagreements in a proposal; each is aligned once more
MAX_REPETITION = 64  # tokens drafted of an output that repeats itself


class Choices(NamedTuple):
    """What a pass read of a proposal, and what the target chose at each of its places and after the last."""

    read: Sequence[int] = ()
    own: Sequence[int] = ()


class AlignedText:
    """A text that the target may be writing, as the target's tokens (the end last), and its alignment so far."""

    def __init__(self, ids: Sequence[int], tokens: Vocabulary) -> None:
        self.ids = [*ids, tokens.end]
        surfaces = [tokens.surface(i) for i in ids]
        self.bytes: NDArray[np.uint8] = np.frombuffer(b"".join(surfaces), dtype=np.uint8)
        self.boundaries: NDArray[np.int64] = np.cumsum([0, *map(len, surfaces)])  # bytes before each token
        self.words = np.array([*map(begins_word, surfaces), True])
        self.distances: NDArray[np.int64] | None = None  # [bytes + 1]
        self.read = 0  # bytes of the accepted text that `distances` covers

    def follow(self, accepted: bytes) -> None:
        """Extend the alignment to all of the accepted text."""
        places = np.arange(len(self.bytes) + 1)
        if self.distances is None:  # the row is known as long as both texts are equal
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

    def find_next_token(self, accepted: bytes) -> tuple[float, int]:
        """Cost and index of the token that most likely comes next."""
        self.follow(accepted)
        assert self.distances is not None
        cost = self.distances[self.boundaries] - WORD_BONUS * self.words
        same = np.ones(len(self.boundaries), dtype=bool)
        for n in range(1, min(ENDING_BYTES, len(accepted)) + 1):
            places = self.boundaries - n
            same = same & (places >= 0)
            same[same] = self.bytes[places[same]] == accepted[-n]
            cost = cost - ENDING_BONUS * same
        at = int(cost.argmin())
        return float(cost[at]), at


class Realigner:
    """Proposes what follows any accepted text of one sentence, from its draft. The draft may be the source itself."""

    def __init__(self, source: Sequence[int], draft: Sequence[int], tokens: Vocabulary) -> None:
        self.tokens = tokens
        self.draft = AlignedText(draft, tokens)
        self.source = self.draft if list(source) == list(draft) else AlignedText(source, tokens)
        self.accepted = b""
        self.seen = 0  # tokens in `accepted`
        self.draft_holds = True  # the accepted tokens are those of the draft
        self.proposed: list[int] = []
        self._meetings: list[int] | None = None

    def propose(self, accepted: Sequence[int], choices: Choices | None = None) -> list[int]:
        """Tokens that likely follow the accepted ones, </s> last. Each call extends the list of the call before.

        `choices` are the target's in the pass before, if it read a proposal.
        """
        before = self.proposed
        new = list(accepted[self.seen :])
        self.accepted += b"".join(map(self.tokens.surface, new))
        self.draft_holds = self.draft_holds and self.draft.ids[self.seen : len(accepted)] == new
        rejected = bool(self.proposed) and new[:1] != self.proposed[:1]
        self.seen = len(accepted)
        if self.draft_holds:
            self.proposed = self.draft.ids[self.seen :]
        else:
            found = find_recurrence(accepted, (self.draft.ids, self.source.ids)) if rejected else []
            self.proposed = found or self.continue_aligned()
            if not found and choices and choices.read and before[: len(choices.read)] == list(choices.read):
                self.proposed = self.foresee(before, choices.own, len(new), self.proposed)
        return self.proposed

    def foresee(self, before: list[int], own: Sequence[int], read: int, proposal: list[int]) -> list[int]:
        """The proposal with the target's own tokens where it disagreed behind the rejection.

        `own` are its choices along `before`, the proposal that it read; the first `read` of them are accepted.
        """
        ahead = copy(self)
        ahead.draft, ahead.source = copy(self.draft), copy(self.source)
        if self.source is self.draft:
            ahead.source = ahead.draft
        written: list[int] = []
        at = read  # in `before`
        for _ in range(MOST_FORESEEN):
            start = len(before) - len(proposal)  # where the proposal continues `before`
            if start < 0 or before[start:] != proposal:
                break
            places = range(max(at, start), min(len(own), len(before)))
            place = next((n for n in places if own[n] != before[n]), None)
            if place is None or own[place] == before[-1]:  # the end
                break
            step = [*before[start:place], own[place]]
            written += step
            ahead.accepted += b"".join(map(self.tokens.surface, step))
            proposal = ahead.continue_aligned()
            at = place + 1
        return written + proposal

    def continue_aligned(self) -> list[int]:
        """The draft, or the source and then the draft, from where the accepted text ends."""
        cost, at = self.draft.find_next_token(self.accepted)
        if self.source is not self.draft:
            source_cost, source_at = self.source.find_next_token(self.accepted)
            if source_cost < cost:
                return self.continue_source(source_at)
        return self.draft.ids[at:]

    def continue_source(self, at: int) -> list[int]:
        """The source from token `at` to the next token that the draft copies, then the draft."""
        if self._meetings is None:
            self._meetings = find_meetings(self.source.ids, self.draft.ids)
        meeting = next(n for n in range(at, len(self.source.ids)) if self._meetings[n] >= 0)
        return self.source.ids[at:meeting] + self.draft.ids[self._meetings[meeting] :]


def begins_word(surface: bytes) -> bool:
    """Whether a token with these bytes begins a word or a mark; marks stand right after the word before them.

    >>> [begins_word(token) for token in (b" cook", b"ing", b",")]
    [True, False, True]
    """
    return not (surface[:1].isalnum() or surface[:1] >= b"\x80")


def find_meetings(source: Sequence[int], draft: Sequence[int]) -> list[int]:
    """For each source token the index of the draft token that copies it, or -1; </s> always meets </s>.

    >>> find_meetings([5, 6, 7, 1], [5, 8, 9, 7, 1])
    [0, -1, 3, 4]
    """
    copies = [-1] * len(source)
    for block in SequenceMatcher(None, source[:-1], draft[:-1], autojunk=False).get_matching_blocks():
        copies[block.a : block.a + block.size] = range(block.b, block.b + block.size)
    copies[-1] = len(draft) - 1
    return copies


def find_recurrence(accepted: Sequence[int], texts: Sequence[Sequence[int]]) -> list[int]:
    """What follows the longest suffix of `accepted` in one of the texts, or earlier in itself; [] if it is nowhere.

    >>> find_recurrence([5, 6, 7], [[4, 6, 7, 8, 1]]), find_recurrence([9, 5, 6, 5, 6], [[7, 1]])[:5]
    ([8, 1], [5, 6, 5, 6, 5])
    >>> find_recurrence([5, 7], [[6, 7, 8, 1]])
    []
    """
    longest = MIN_SUFFIX - 1
    found: list[int] = []
    for text in (*texts, accepted):
        for end in range(1, len(text)):
            most = min(end, len(accepted), MAX_SUFFIX)
            same = next((n for n in range(most) if text[end - 1 - n] != accepted[-1 - n]), most)
            if same > longest:
                longest = same
                found = list(text[end:])
                if text is accepted:
                    found = (found * MAX_REPETITION)[:MAX_REPETITION]
    return found


class UniqueNGram:
    """The rule of shallow aggressive decoding (Sun et al. 2021), our baseline.

    After a disagreement it drafts nothing until the last one, two or three accepted tokens occur exactly once in the
    draft. Then it copies what follows them there.
    """

    def __init__(self, draft: Sequence[int], end: int = EOS) -> None:
        self.ids = [*draft, end]
        self.draft_holds = True

    def propose(self, accepted: Sequence[int], choices: Choices | None = None) -> list[int]:
        """Tokens that follow the accepted ones; none while the place is ambiguous."""
        self.draft_holds = self.draft_holds and self.ids[: len(accepted)] == list(accepted)
        if self.draft_holds:
            return self.ids[len(accepted) :]
        for n in range(1, min(3, len(accepted)) + 1):
            last = list(accepted[-n:])
            ends = [end for end in range(n, len(self.ids)) if self.ids[end - n : end] == last]
            if not ends:
                return []
            if len(ends) == 1:
                return self.ids[ends[0] :]
        return []
