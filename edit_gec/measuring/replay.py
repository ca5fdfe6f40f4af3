"""Replay: models that compute all they would, and then write given tokens. Weights do not matter for latency.

    ReplayedTarget(target, {"she go": [12, 34, 1]})         a T5 that writes these tokens for this source
    ReplayedCorrector(corrector, {"she go": plan})          an EdiT5 that tags, points and inserts by this plan

The price is one addition of a bonus to the real logits of tags and points, some 10 us on a CPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from edit_gec.corrector import Corrector
from edit_gec.editing.decode import Options, Prediction, predict
from edit_gec.editing.plan import Plan, align
from edit_gec.errors import InputError
from edit_gec.modeling.tagset import KEEP
from edit_gec.modeling.tokenizer import EOS, Pieces, Tokens
from edit_gec.speculative.target import Encoded, Sampling, Target

if TYPE_CHECKING:
    from edit_gec.modeling.edit5 import EdiT5

BONUS = 1e4  # of what is to be chosen; fits in float16


@dataclass(frozen=True)
class Text:
    """A sentence, what it is corrected to (None: what the model makes of it), and the inserted pieces if they are
    others than alignment finds: (kept pieces before it, texts of its pieces) for each slot, and the deleted pieces."""

    source: str
    corrected: str | None = None
    insertions: tuple[tuple[int, tuple[str, ...]], ...] | None = None
    deleted: tuple[int, ...] = ()

    def plan(self, tokens: Tokens) -> Plan:
        """The edit plan of the correction."""
        ids = tokens.ids(self.source)
        if self.insertions is None:
            return align(ids, tokens.ids(self.corrected or ""), tokens)
        order = tuple(n for n in range(len(ids) + 1) if n not in self.deleted)
        surfaces = {tokens.surface(n): n for n in reversed(range(tokens.pieces))}
        return Plan(
            len(ids) + 1,
            order,
            tuple((k, tuple(surfaces[piece.encode()] for piece in pieces)) for k, pieces in self.insertions),
        )


# 23 pieces; 27 for the T5; "<extra_id_1> I was <extra_id_6> I was <extra_id_8> _ a </s>" for EdiT5, 10 of its tokens
CASE_STUDY = Text(
    "i was walking through the park when struck by bicycle ... my arm hurts a little now .",
    "I was walking through the park when I was struck by a bicycle ... my arm hurts a little now .",
    ((1, (" I", " was")), (6, (" I", " was")), (8, (" ", "a"))),
    (1, 2),
)


class ReplayedTarget(Target):
    """A target that writes `outputs[sentence]`, for one sentence at a time."""

    def __init__(self, target: Target, outputs: Mapping[str, Sequence[int]]) -> None:
        super().__init__(
            target.model, target.tokens,
            prefix=target.prefix, sentinel=target.sentinel, max_length=target.max_length,
        )  # fmt: skip
        self.outputs = outputs
        self.output: Sequence[int] = ()

    def encode_shared(self, sentences: Sequence[str]) -> Encoded:
        """As any target does."""
        (sentence,) = sentences
        if sentence not in self.outputs:
            raise InputError(f"replay: nothing to write was given for the sentence {sentence[:40]!r}")
        self.output = self.outputs[sentence]
        return super().encode_shared(sentences)

    def choose(self, logits: Tensor, sampling: Sampling | None, places: Sequence[tuple[int, int]]) -> list[int]:
        """The given tokens; chosen like any, first."""
        super().choose(logits, sampling, places)
        return [self.output[position] if position < len(self.output) else EOS for _, position in places]


class ReplayedCorrector(Corrector):
    """A corrector whose model follows `plans[sentence]`, one sentence at a time."""

    def __init__(self, corrector: Corrector, plans: Mapping[str, Plan]) -> None:
        super().__init__(
            corrector.model, corrector.tokens, corrector.options,
            folder=corrector.folder, batch_size=1, verifier=corrector.verifier,
        )  # fmt: skip
        device = self.model.embedding.weight.device
        self.scripts = {
            text: Script.of(plan, device, sequential=self.options.sequential) for text, plan in plans.items()
        }

    def predict(
        self, sentences: Sequence[Pieces], encoded: Tensor | None = None, options: Options | None = None
    ) -> list[Prediction]:
        """As any corrector does."""
        (sentence,) = sentences
        script = self.scripts.get(sentence.source)
        if script is None or len(sentence) + 2 != len(script.tags):
            raise InputError(f"replay: no plan was given for the sentence {sentence.source[:40]!r}")
        model = cast("EdiT5", _Scripted(self.model, script))
        return predict(model, self.tokens, sentences, options or self.options, encoded)


@dataclass(frozen=True)
class Script:
    """What makes a model follow a plan: bonuses of tags [S, 4] and points [S, S], tokens of each step [T][R]."""

    tags: Tensor
    points: Tensor
    steps: list[Tensor]

    @classmethod
    def of(cls, plan: Plan, device: torch.device, *, sequential: bool = False) -> Script:
        """The script of a plan; `sequential`: all slots in one row of the insertion decoder. Rows that have ended are
        left out, as in insertion.fill."""
        tags = torch.zeros(plan.length + 1, 4, device=device)
        tags[torch.arange(plan.length + 1), torch.tensor([*plan.tags(), KEEP])] = BONUS
        points = torch.zeros(plan.length + 1, plan.length + 1, device=device)
        points[torch.arange(plan.length + 1), torch.tensor(plan.pointers())] = BONUS
        streams = [[*pieces, EOS] for _, pieces in plan.insertions]
        if sequential:
            streams = [list(chain.from_iterable(streams))]
        longest = max(map(len, streams), default=0)
        steps = [[stream[n] for stream in streams if n < len(stream)] for n in range(longest)]
        return cls(tags, points, [torch.tensor(step, device=device) for step in steps])


class _Scripted:
    """A model whose logits get the bonuses of a script; all else is the model's own."""

    def __init__(self, model: EdiT5, script: Script) -> None:
        self._model, self._script = model, script
        self._step = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def tag(self, *args: Tensor) -> Tensor:
        return self._model.tag(*args).add_(self._script.tags)

    def point(self, *args: Tensor) -> Tensor:
        return self._model.point(*args).add_(self._script.points)

    def likeliest(self, *args: Tensor) -> tuple[Tensor, Tensor]:
        values, _ = self._model.likeliest(*args)
        step = self._script.steps[self._step]
        self._step += 1
        return torch.zeros_like(values), step
