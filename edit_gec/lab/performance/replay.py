"""Replay: models that do all their computation but write given tokens. Latency does not depend on the weights.

    streams = record(corrector, target, sentences)        what a trained pair decides
    ReplayedTarget(random_target, streams)                a T5 that writes the tokens of the streams
    ReplayedEdiT5(random_model, tokens, streams)          an EdiT5 that tags, points and inserts by their plans

Both can replace the given model anywhere: in batches, in threads, with any drafter and verifier. A T5 chooses tokens in
`Target.choose`, an EdiT5 in `tag`, `point` and `most_likely`; nothing else is replaced. The cost is a lookup by piece
ids, and one scatter each for tags and points: some 10 us on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from threading import local
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from edit_gec.editing.insertion import MAX_INSERTION, open_slots
from edit_gec.editing.plan import Plan, realize
from edit_gec.editing.pointer import keep_order
from edit_gec.editing.tags import choose_tags
from edit_gec.errors import InputError
from edit_gec.lab.performance.sentences import Text
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.padding import pad
from edit_gec.modeling.tagset import KEEP
from edit_gec.modeling.tokenizer import EOS, Pieces, Tokens
from edit_gec.speculative.any_target import Context
from edit_gec.speculative.sampling import Sampling, choose_tokens
from edit_gec.speculative.target import Target

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector

BONUS = 1e4  # the logit of what is to be chosen; fits in float16


@dataclass(frozen=True)
class Recording:
    """The decisions for one sentence: the target's tokens, </s> included, and the plan of EdiT5."""

    output: tuple[int, ...]
    plan: Plan


@dataclass(frozen=True)
class Streams:
    """Recordings by sentence."""

    by_sentence: dict[str, Recording]

    def find(self, sentence: str) -> Recording:
        """The stream of a sentence. Raises InputError if it has none."""
        try:
            return self.by_sentence[sentence]
        except KeyError:
            raise InputError(f"replay: no stream was given for the sentence {sentence[:40]!r}") from None

    def token(self, sentence: str, position: int) -> int:
        """The token that the target writes at a position; </s> after the end."""
        output = self.find(sentence).output
        return output[position] if position < len(output) else EOS

    @classmethod
    def of_texts(cls, texts: Sequence[Text], tokens: Tokens) -> Streams:
        """Streams that make of each text its correction. Raises InputError for a text without one, and for a plan that
        no tags can express."""
        streams = {}
        for text in texts:
            if text.corrected is None:
                raise InputError(
                    "random weights write nothing useful: give what they must write: --text or "
                    "lines of --file with the sentence, a tab and its correction"
                )
            pieces = tokens.encode(text.source)
            plan = text.plan(tokens)
            left = Script.from_plan(plan, pieces, tokens).plan
            if realize(left, pieces, tokens) != realize(plan, pieces, tokens):
                raise InputError(
                    f"replay: no tags lead from {text.source[:40]!r} to its correction: of a doubled word one goes, "
                    "and nothing comes in its place"
                )
            streams[text.source] = Recording((*tokens.ids(text.corrected), EOS), left)
        return cls(streams)


def record(corrector: Corrector, target: Target | None, sentences: Sequence[str]) -> Streams:
    """The decisions of a trained pair for each sentence; without a target, those of a T5 that writes EdiT5's text."""
    tokens = corrector.edit5.tokens
    pieces = [tokens.encode(sentence) for sentence in sentences]
    plans = [Script.from_plan(corrector.edit5.predict_plans([each])[0].plan, each, tokens).plan for each in pieces]
    if target is None:
        written = [realize(*each, tokens) for each in zip(plans, pieces, strict=True)]
        outputs = [[*tokens.ids(text), EOS] for text in written]
    else:
        outputs = target.generate(sentences)
    decided = zip(sentences, outputs, plans, strict=True)
    return Streams({sentence: Recording(tuple(output), plan) for sentence, output, plan in decided})


# ---------------------------------------------------------------- T5


class ReplayedTarget(Target):
    """A target of the same shape that writes the tokens of the streams."""

    def __init__(self, target: Target, streams: Streams) -> None:
        vars(self).update(vars(target))
        self.streams = streams

    def choose(
        self,
        logits: Tensor,
        sampling: Sampling | None,
        places: Sequence[tuple[int, int]],
        context: Callable[[int], Context],
        drafted: Sequence[int | None] = (),
    ) -> list[int]:
        """The given tokens; chosen like any, first. Ties, which random weights often have, are not settled."""
        choose_tokens(logits, sampling, places)
        return [self.streams.token(sentence, len(written)) for sentence, written in map(context, range(len(places)))]


# ---------------------------------------------------------------- EdiT5


@dataclass(frozen=True)
class Script:
    """A plan as the choices that lead to it: a tag and a successor for each piece [S], the pieces of each slot."""

    plan: Plan
    tags: tuple[int, ...]
    pointers: tuple[int, ...]
    slots: tuple[tuple[int, ...], ...]

    @classmethod
    def from_plan(cls, plan: Plan, pieces: Pieces, tokens: Tokens) -> Script:
        """The script of a plan, or of what the path leaves of it: tags are decided by whole words (tags.py), so of a
        doubled word one goes and nothing comes in its place.
        """
        chances = [[float(kind == tag) for kind in range(4)] for tag in plan.tags()]
        tags = choose_tags(chances, pieces, tokens)
        kept = keep_order(tags).pieces
        order = plan.order if sorted(plan.order) == kept else tuple(kept)
        inserted = {plan.order[k - 1]: ids for k, ids in plan.insertions}
        slots = [(slot.index, inserted.get(slot.after_piece, ())) for slot in open_slots(tags, order)]
        left = Plan(plan.length, order, tuple((k, ids) for k, ids in slots if ids))
        return cls(left, (*tags, KEEP), tuple(left.pointers()), tuple(ids for _, ids in slots))


@dataclass(frozen=True)
class _Batch:
    """The scripts of B sentences together; `steps` are the choices of each insertion step, row by row, slots at once or
    one after the other."""

    tags: Tensor  # [B, S, 1]
    pointers: Tensor  # [B, S, 1]
    steps: tuple[list[Tensor], list[Tensor]]  # each [T][R]

    @classmethod
    def from_scripts(cls, scripts: Sequence[Script], device: torch.device) -> _Batch:
        tags = pad([list(script.tags) for script in scripts], KEEP)[..., None]
        pointers = pad([list(script.pointers) for script in scripts], 0)[..., None]
        each = [[[*pieces, EOS][:MAX_INSERTION] for pieces in script.slots] for script in scripts]
        parallel = list(chain.from_iterable(each))
        sequential = [list(chain.from_iterable(streams)) for streams in each if streams]
        return cls(tags.to(device), pointers.to(device), (_steps(parallel, device), _steps(sequential, device)))


def _steps(streams: Sequence[Sequence[int]], device: torch.device) -> list[Tensor]:
    """Tokens of each step; rows that have ended are left out, as in decode_insertions."""
    longest = max(map(len, streams), default=0)
    steps = [[stream[n] for stream in streams if n < len(stream)] for n in range(longest)]
    return [torch.tensor(step, device=device) for step in steps]


class _Now(local):
    """The state of a thread: the batch that it encoded last, its steps, and how many it has taken."""

    batch: _Batch | None = None
    steps: list[Tensor]
    taken = 0


class ReplayedEdiT5(EdiT5):
    """An EdiT5 of the same shape, itself except for three of its decisions: those follow the plans of the streams.

    `tokens` are its own. It knows its sentences by what it encodes, so it must encode them itself.
    """

    def __init__(self, model: EdiT5, tokens: Tokens, streams: Streams) -> None:
        vars(self).update(vars(model))
        self._tokens = tokens
        self._scripts = {}
        for sentence, stream in streams.by_sentence.items():
            pieces = tokens.encode(sentence)
            script = Script.from_plan(stream.plan, pieces, tokens)
            self._scripts[pieces.ids] = script
        self._batches: dict[tuple[tuple[int, ...], ...], _Batch] = {}
        self._now = _Now()

    def encode(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """As the model does; the sentences of the batch are known from now on."""
        rows = tuple(map(tuple, ids.tolist()))
        if rows not in self._batches:
            self._batches[rows] = _Batch.from_scripts([self._script(row) for row in rows], ids.device)
        self._now.batch = self._batches[rows]
        self._now.taken = 0
        return super().encode(ids, mask)

    def _script(self, row: tuple[int, ...]) -> Script:
        """The script of a row of the batch: sentinel, pieces, </s>, padding."""
        pieces = row[1 : max(n for n, piece in enumerate(row) if piece == EOS)]
        if pieces not in self._scripts:
            text = self._tokens.decode(pieces).strip()
            raise InputError(f"replay: no stream was given for the sentence {text[:40]!r}")
        return self._scripts[pieces]

    def tag(self, *args: Tensor) -> Tensor:
        """As the model does, with the tags of the plans as the likeliest."""
        assert self._now.batch is not None, "encode comes first"
        return super().tag(*args).scatter_(2, self._now.batch.tags, BONUS)

    def point(self, *args: Tensor) -> Tensor:
        """As the model does, with the successors of the plans as the likeliest."""
        assert self._now.batch is not None, "encode comes first"
        return super().point(*args).scatter_(2, self._now.batch.pointers, BONUS)

    def most_likely(self, *args: Tensor) -> tuple[Tensor, Tensor]:
        """As the model does, with the next pieces of the plans."""
        values, _ = super().most_likely(*args)
        now = self._now
        assert now.batch is not None, "encode comes first"
        if now.taken == 0:  # the number of rows tells which; where both have as many, they are the same
            fitting = (steps for steps in now.batch.steps if steps and len(steps[0]) == len(values))
            now.steps = next(fitting, [])
        if now.taken >= len(now.steps) or len(now.steps[now.taken]) != len(values):
            raise InputError(
                "replay: the slots differ from those of the streams; set thresholds that let all edits pass"
            )
        now.taken += 1
        return torch.zeros_like(values), now.steps[now.taken - 1]
