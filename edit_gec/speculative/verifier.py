"""Exact verification: EdiT5's drafts in, the edits of a target out, a T5 or a language model.

    source    They  was at at home…          (two spaces, one character for three dots)
    draft     They  were at home…
    target    They were at home...           (its tokenizer folds spaces and spells the dots out)
    edits     was -> were (agree), at -> "" (agree)

The target's tokens are exact (decode.py). target_changes.py turns them into edits, provenance.py says who proposed
them. A sentence that is too long for the target, or that it does not finish (it repeats itself until `Target.limit`
cuts it off), is verified in halves, and halves of these (windows.py). Edits that touch a cut are dropped. A part of a
few pieces that is not finished either is left as it was: neither half a text nor an unverified draft is shown.

A target may read misspelt words as the word list corrects them ("respelt" in its config.json). Its output is then exact
for that text, and the list's changes are edits as well (editing/respelling.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from time import perf_counter
from typing import Any

from edit_gec.editing.decode import Prediction
from edit_gec.editing.plan import realize
from edit_gec.editing.windows import halve_window, leave_cuts
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tokenizer import Pieces, Tokens
from edit_gec.speculative.causal_target import CausalTarget
from edit_gec.speculative.decode import VerifyOptions, verify
from edit_gec.speculative.drafters import TextDrafter
from edit_gec.speculative.drafting import DraftingProfile
from edit_gec.speculative.statistics import Statistics
from edit_gec.speculative.target import Encoded, Target
from edit_gec.speculative.target_changes import find_changes
from edit_gec.text.edits import Change
from edit_gec.tracing import Stage, span

SHORTEST_CUT = 8  # pieces of the shortest window that is cut in two if the target does not finish it


class Verifier:
    """A target, how EdiT5 drafts for it, and what verification cost so far.

    An edit is as sure as the least probable of its tokens, the one that follows it included. Several threads may use
    one verifier; its seconds are the sum of theirs.
    """

    def __init__(self, target: Target | CausalTarget, profile: DraftingProfile | None = None) -> None:
        self.profile = profile or DraftingProfile()
        drafter = None if target.edit5 is None else self.drafting_model(target.edit5)
        self.target = target if drafter is target.edit5 else target.drafted_by(drafter)
        self.statistics = Statistics()
        self.too_long = 0  # sentences that the target could not read
        self._counting = Lock()

    def drafting_model(self, edit5: EdiT5) -> EdiT5:
        """The EdiT5 that drafts for the target, where `edit5` is at hand: the heads on the target's encoder, if any."""
        return self.profile.heads or edit5

    def summary(self) -> dict[str, Any]:
        """What verification did, for JSON; `too_long` counts sentences that the target could not read."""
        return {**self.statistics.summary(), "too_long": self.too_long}

    def take_statistics(self) -> tuple[Statistics, int]:
        """What verification did since the last call, and how many sentences were too long for the target."""
        with self._counting:
            taken = self.statistics
            too_long = self.too_long
            self.statistics = Statistics()
            self.too_long = 0
        return taken, too_long

    def encode(self, edit5: EdiT5, windows: Sequence[Pieces]) -> Encoded | None:
        """Windows encoded for the target and for EdiT5 at once; None unless both share an encoder and read the same
        pieces."""
        if isinstance(self.target, CausalTarget) or not self.target.shares(edit5) or not windows:
            return None
        sources = [window.covered for window in windows]
        if any(len(window) > self.target.max_pieces for window in windows):
            return None
        if [tuple(self.target.tokens.ids(source)) for source in sources] != [window.ids for window in windows]:
            return None  # a window that begins inside a sentence has other tokens
        return self.target.encode_shared(sources)

    def renew(
        self, encoded: Encoded | None, edit5: EdiT5, windows: Sequence[Pieces], numbers: Sequence[int]
    ) -> Encoded | None:
        """What `encode` returned for a batch, with the windows of these numbers encoded again as they stand now."""
        if encoded is None or not numbers:
            return encoded
        anew = self.encode(edit5, [windows[n] for n in numbers])
        return encoded.renewed(list(numbers), anew) if anew else None

    def draft(self, windows: Sequence[Pieces], predictions: Sequence[Prediction], tokens: Tokens) -> list[str]:
        """The draft of each window."""
        with span(Stage.DRAFT):
            return [realize(each.plan, pieces, tokens) for pieces, each in zip(windows, predictions, strict=True)]

    def verify(
        self, windows: Sequence[Pieces], drafts: Sequence[str], encoded: Encoded | None = None
    ) -> list[list[Change]]:
        """What the target changes in each window of a sentence, given a draft of its correction.

        `encoded` is what `encode` returned for the windows.
        """
        sources = [window.covered for window in windows]
        with span(Stage.TARGET_TOKENIZE):
            readable = [n for n, source in enumerate(sources) if self.target.fits(source)]
        with self._counting:
            self.too_long += len(sources) - len(readable)
        changes: list[list[Change]] = [[] for _ in windows]
        if not readable:
            return changes
        draft_of = {sources[n]: drafts[n] for n in readable}
        outputs, statistics = verify(
            self.target,
            TextDrafter(self.target.tokens, lambda rows: [draft_of[source] for source in rows]),
            [sources[n] for n in readable],
            VerifyOptions(batch_size=len(readable)),
            encoded=None if encoded is None else encoded.rows(readable),
        )
        begun = perf_counter()
        with span(Stage.ALIGN):
            for n, output, trace in zip(readable, outputs, statistics.traces, strict=True):
                if trace.finished:
                    found = find_changes(windows[n], sources[n], output, trace.probabilities, self.target.tokens)
                    changes[n] = list(found)
        statistics.edits_s = perf_counter() - begun
        statistics.total_s += statistics.edits_s
        with self._counting:
            self.statistics.add(statistics)
        for n, trace in zip(readable, statistics.traces, strict=True):
            if not trace.finished and len(windows[n]) >= SHORTEST_CUT:
                changes[n] = self._verify_halves(windows[n])
        return changes

    def _verify_halves(self, window: Pieces) -> list[Change]:
        """What the target changes in the halves of a window that it does not finish."""
        halves = halve_window(window)
        found = self.verify(halves, [half.covered for half in halves])
        return [change for half, changes in zip(halves, found, strict=True) for change in leave_cuts(changes, half)]

    def count_draft(self, seconds: float) -> None:
        """Count the seconds of a draft that was written before verification."""
        with self._counting:
            self.statistics.begin_s += seconds
            self.statistics.total_s += seconds
