"""The verified gear: EdiT5's drafts in, the edits of a T5 target out, and who agreed with whom.

    source    They  was at at home…          (two spaces, one character for three dots)
    draft     They  were at home…
    target    They were at home...           (its tokenizer folds spaces and spells the dots)
    edits     was -> were (agree), at -> "" (agree)

The target's tokens are exact (decode.py). Its edits are a plan from the source's tokens to its output: what has the
same tokens is kept and copied from the text by offset, so what only the tokenizer's normalisation changed is no edit;
nor is one that swaps quotes or folds spaces; what the target wrote with <unk> cannot be said and is left as it was.
A sentence that is too long for the target, or that it does not finish (it repeats itself until Target.limit cuts it
off), is left as it was read, and counted: neither half a text nor a draft that nobody verified is shown.

A target may say that it reads misspelt words as the list of words has them ("respelt" in its config.json): its output
is then exact for that text, and what the list changed are edits as well (Verifier.revise).

Two lossy gears save time, and are named so: "auto" verifies only sentences that EdiT5 would edit or doubts, lenience
lets pass what the target finds nearly as likely as its own words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import Any

from edit_gec.editing.alignment import align
from edit_gec.editing.decode import Prediction
from edit_gec.editing.plan import Plan, spans
from edit_gec.editing.second_pass import both, edited, text_of
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tokenizer import UNK, Pieces, Tokens
from edit_gec.speculative.decode import verify
from edit_gec.speculative.drafters import Follow, hypotheses
from edit_gec.speculative.target import Encoded, Target
from edit_gec.speculative.theory import Statistics, Trace
from edit_gec.text.edits import Change, Edit
from edit_gec.tracing import Stage, span

AGREE, CHANGED, ONLY, REFUSED = "agree", "target changed", "target only", "target refused"
_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "“": '"', "”": '"', "«": '"', "»": '"', "„": '"'})


DOUBT = 0.5  # auto verifies an unedited sentence when EdiT5 gives some piece this much probability of a change


class Verifier:
    """A target, how it verifies, what its verifications cost so far, and the confidence that its edits must have.

    An edit is as sure as the least probable of its tokens, the one that follows it included. `hypotheses`: how many
    texts of a sentence a pass reads at most: its draft, a bolder one, the source (by default 1, and 2 on a GPU, where a
    pass costs the same whatever it reads). `auto` and `lenience` below 1 are lossy. Several threads may use one;
    seconds are the sum of theirs.
    """

    def __init__(
        self,
        target: Target,
        *,
        min_confidence: float = 0.0,
        auto: bool = False,
        doubt: float = DOUBT,
        lenience: float = 1.0,
        hypotheses: int | None = None,
    ) -> None:
        self.target, self.min_confidence = target, min_confidence
        self.auto, self.doubt, self.lenience = auto, doubt, lenience
        self.hypotheses = hypotheses or (1 if target.device.type == "cpu" else 2)
        self.statistics = Statistics()
        self.too_long = 0  # sentences that the target could not read
        self.left_out = 0  # sentences that auto did not verify
        self._counting = Lock()

    def summary(self) -> dict[str, Any]:
        """What verification did, as plain values for JSON; `too_long` counts sentences that were left alone, `left_out`
        those that auto did not verify."""
        return {**self.statistics.summary(), "too_long": self.too_long, "left_out": self.left_out}

    def encode(self, edit5: EdiT5, windows: Sequence[Pieces]) -> Encoded | None:
        """Windows encoded for the target and for EdiT5 at once, if they share an encoder and read the same pieces."""
        if not self.target.shares(edit5) or not windows:
            return None
        sources = list(map(text_of, windows))
        if any(len(window) > self.target.max_pieces for window in windows):
            return None
        if [tuple(self.target.tokens.ids(source)) for source in sources] != [window.ids for window in windows]:
            return None  # a window that begins inside a sentence
        return self.target.encode_shared(sources)

    def doubts(self, prediction: Prediction) -> bool:
        """Whether a sentence is verified: always, but in "auto" only what EdiT5 edits or is unsure of."""
        return not self.auto or prediction.plan.changes or prediction.doubt >= self.doubt

    def revise(
        self,
        edit5: EdiT5,
        tokens: Tokens,
        windows: Sequence[Pieces],
        predictions: Sequence[Prediction],
        encoded: Encoded | None = None,
    ) -> list[list[Change]]:
        """What the target changes in each window of a sentence, given what EdiT5 predicted there.

        A target that wants it reads misspelt words as the list has them. These changes are then the list's. `encoded`
        is what `encode` made of the windows.
        """
        plans = [*zip(windows, predictions, strict=True)]
        with span(Stage.DRAFT):
            drafts = [hypotheses(p, pieces, tokens) if self.doubts(p) else () for pieces, p in plans]
            respelt: dict[int, list[Change]] = {}
            if self.target.respelt:
                numbered = [(n, *each) for n, each in enumerate(plans) if each[1].respelt]
                respelt = {
                    n: list(prediction.changes(pieces, tokens, respelt=True)) for n, pieces, prediction in numbered
                }
            read = list(windows)
            for n, changes in respelt.items():
                read[n] = edited(windows[n], changes, tokens)
        if encoded and respelt:
            anew = self.encode(edit5, [read[n] for n in respelt])
            encoded = encoded.renewed(list(respelt), anew) if anew else None
        found = self.changes(read, drafts, encoded)
        for n, changes in respelt.items():
            found[n] = both(windows[n], changes, found[n])
        return [[change for change in changes if change[3] >= self.min_confidence] for changes in found]

    def changes(
        self, windows: Sequence[Pieces], drafts: Sequence[tuple[str, ...]], encoded: Encoded | None = None
    ) -> list[list[Change]]:
        """What the target changes in each window of a sentence, given drafts of its correction, the best first.

        A window without any is not verified, and not changed. `encoded` is what `encode` made of the windows.
        """
        sources = list(map(text_of, windows))
        wanted = [n for n, texts in enumerate(drafts) if texts]
        with span(Stage.TARGET_TOKENIZE):
            short = [n for n in wanted if self.target.fits(sources[n])]
        with self._counting:
            self.left_out += len(drafts) - len(wanted)
            self.too_long += len(wanted) - len(short)
        changes: list[list[Change]] = [[] for _ in windows]
        if not short:
            return changes
        written = {sources[n]: (*drafts[n], sources[n])[: self.hypotheses] for n in short}
        outputs, statistics = verify(
            self.target,
            Follow(self.target.tokens, lambda rows: [written[source] for source in rows]),
            [sources[n] for n in short],
            batch_size=len(short),
            lenience=self.lenience,
            encoded=None if encoded is None else encoded.rows(short),
        )
        begun = perf_counter()
        with span(Stage.ALIGN):
            for n, output, trace in zip(short, outputs, statistics.traces, strict=True):
                if trace.finished:
                    changes[n] = list(self._changes(windows[n], sources[n], output, trace))
        statistics.edits_s = perf_counter() - begun
        statistics.total_s += statistics.edits_s
        with self._counting:
            self.statistics.add(statistics)
        return changes

    def count_draft(self, seconds: float) -> None:
        """Count a draft that was written before the verification."""
        with self._counting:
            self.statistics.begin_s += seconds
            self.statistics.total_s += seconds

    def _changes(self, window: Pieces, source: str, output: list[int], trace: Trace) -> Iterator[Change]:
        tokens = self.target.tokens
        pieces = in_sentence(tokens.encode(source), window)
        if not pieces.ids or list(pieces.ids) == output[:-1]:  # nothing that the target can read, or changes
            return
        plan = align(pieces.ids, output[:-1], tokens)
        at, new = positions(plan, len(output) - 1)
        for start, end, text, (first, last) in spans(plan, pieces, tokens):
            original = window.source[start:end]
            text = keep_spaces(original, text)
            unsayable = any(output[n] == UNK and n in new for n in range(at[first] + 1, at[last]))
            confidence = min(trace.probabilities[at[first] + 1 : at[last] + 1])
            if not unsayable and folded(text) != folded(original):
                yield start, end, text, confidence


def in_sentence(pieces: Pieces, window: Pieces) -> Pieces:
    """Pieces of a window's text as pieces of the window's sentence."""
    by = window.starts[0]
    starts, ends = (tuple(n + by for n in offsets) for offsets in (pieces.starts, pieces.ends))
    return replace(pieces, source=window.source, starts=starts, ends=ends)


def positions(plan: Plan, end: int) -> tuple[dict[int, int], set[int]]:
    """Where the output, whose </s> stands at `end`, has each kept piece (-1: the sentinel), and where it has new ones.

    >>> positions(Plan(4, (0, 1, 3), ((2, (7, 8)),)), 4)   # the second of three pieces became 7 8
    ({0: -1, 1: 0, 3: 3, 4: 4}, {1, 2})
    """
    inserted = dict(plan.insertions)
    at: dict[int, int] = {}
    new: set[int] = set()
    here = -1
    for k, piece in enumerate(plan.order, start=1):
        at[piece] = here
        count = len(inserted.get(k, ()))
        new.update(range(here + 1, here + 1 + count))
        here += 1 + count
    return {**at, plan.length: end}, new


def keep_spaces(original: str, text: str) -> str:
    """The replacement with the original's own white space at both ends: tokenizers fold it, and line ends with it.

    >>> keep_spaces("  was", " were"), keep_spaces("was", " were")
    ('  were', ' were')
    """
    if not original.strip() or not text.strip():
        return text
    for strip in (str.lstrip, str.rstrip):
        spaces = len(original) - len(strip(original))
        if spaces and len(text) > len(strip(text)):
            leading = strip is str.lstrip
            text = original[:spaces] + strip(text) if leading else strip(text) + original[-spaces:]
    return text


def folded(text: str) -> str:
    """What a tokenizer may make of a text: compatibility forms, straight quotes, single spaces."""
    text = unicodedata.normalize("NFKC", text.translate(_QUOTES))
    edges = (" " if text[:1].isspace() else "", " " if text[-1:].isspace() else "")
    return " ".join(text.split()).join(edges) if text.strip() else edges[0]


def compare(drafted: Sequence[Edit], verified: Sequence[Edit]) -> tuple[list[Edit], list[Edit]]:
    """The target's edits, each with its provenance, and the drafter's edits that the target refused."""
    own = {(edit.start, edit.end, edit.replacement) for edit in drafted}
    edits = []
    for edit in verified:
        agree = (edit.start, edit.end, edit.replacement) in own
        changed = any(touch(edit, other) for other in drafted)
        edits.append(replace(edit, provenance=AGREE if agree else CHANGED if changed else ONLY))
    refused = [edit for edit in drafted if not any(touch(edit, other) for other in verified)]
    return edits, [replace(edit, provenance=REFUSED) for edit in refused]


def touch(a: Edit, b: Edit) -> bool:
    """Whether two edits concern the same place."""
    return a.start < b.end and b.start < a.end or a.start == b.start
