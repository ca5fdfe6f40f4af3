"""Drafters: who guesses what the target will write. One interface; a guess can be slow or useless, never harmful.

    begin(rows)    sentences that are new: prepare them together
    propose(rows)  for every sentence in work, the tokens that come next (none is fine)

    Follow(tokens)                          copy the source, re-synchronised by alignment
    Follow(tokens, rule=UniqueNGram)        the same with the rule of Sun et al. 2021
    Follow(tokens, edit5_writer(...))       EdiT5's correction; its vocabulary may be another one than the target's
    SharedEdiT5(model, tokens, options)     the same on one encoder with the target
    NGrams.learn(lines, tokens, order=2)    the likeliest next token, learnt from text
    SmallT5(small, tokens, Gamma(4))        a smaller T5 writes gamma tokens; with `sampling` it really samples them
    Speculator(...)                         an MLP on the target's own state (mlp_speculator.py)

A draft that was not sampled is a point: its probability is 1, whatever the model that chose it believed. Only SmallT5
with sampling returns probabilities, and these are the ones it drew from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Protocol

import torch
from torch import Tensor

from edit_gec.editing.decode import Prediction, predict
from edit_gec.editing.plan import realize
from edit_gec.editing.thresholds import Thresholds
from edit_gec.errors import InputError
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tokenizer import EOS, PAD, Pieces, Tokens
from edit_gec.speculative.ragged_cache import Decoding
from edit_gec.speculative.realign import Resync, UniqueNGram
from edit_gec.speculative.target import DRAFT, Sampling, Target, choose, draw, probabilities, uniform


@dataclass(eq=False)
class Row:
    """A sentence in work, as the verifier shows it to the drafter."""

    number: int  # of the sentence in the call; the key of its random numbers
    source: str
    limit: int  # tokens that the target may still write
    tokens: list[int] = field(default_factory=list)  # accepted so far
    hidden: Tensor | None = None  # the target's state [d] that chose the last token; None before the first
    proposed: int = 0  # in the last pass
    accepted: int = 0  # of these
    encoded: Tensor | None = None  # its source, as EdiT5 reads it [S, d], where it shares the target's encoder
    memory: Any = None  # the drafter's own


Write = Callable[[list[str]], list[tuple[str, ...]]]  # sources -> for each the texts to follow, the best first


@dataclass(frozen=True)
class Proposal:
    """Drafted tokens, and for sampled ones the distributions [n, V] they were drawn from (float64).

    `others` are further hypotheses; there are none beside sampled tokens.
    """

    tokens: list[int]
    probabilities: Tensor | None = None
    others: tuple[list[int], ...] = ()


class Drafter(Protocol):
    """Rows keep their order; new ones come last, finished ones are left out."""

    @property
    def aligns(self) -> bool:
        """Whether `propose` only finds the place in a draft that `begin` wrote."""

    def begin(self, rows: Sequence[Row]) -> None:
        """Prepare new rows."""

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        """One proposal for each row, new and old."""


# ---------------------------------------------------------------- whole sentences


class Follow:
    """Follow a text of each sentence: what `write` makes of the sources, or the sources themselves.

    `write` may give several texts for a sentence, the best first: hypotheses, of which each pass reads what they say
    differently. That saves passes where a pass costs the same whatever it reads (a GPU), not where each token costs
    time.
    """

    aligns = True

    def __init__(
        self, tokens: Tokens, write: Write | None = None, *, rule: type[Resync] | type[UniqueNGram] = Resync
    ) -> None:
        self.tokens, self.write, self.rule = tokens, write, rule

    def begin(self, rows: Sequence[Row]) -> None:
        for row, texts in zip(rows, self.texts(rows), strict=True):
            source = self.tokens.ids(row.source)
            # the target's canonical tokens of a text, not those of its parts
            drafts = dict.fromkeys(tuple(source if text == row.source else self.tokens.ids(text)) for text in texts)
            row.memory = [self.follow(source, list(draft)) for draft in drafts]

    def texts(self, rows: Sequence[Row]) -> list[tuple[str, ...]]:
        """The texts to follow, for each row."""
        sources = [row.source for row in rows]
        return self.write(sources) if self.write else [(source,) for source in sources]

    def follow(self, source: list[int], draft: list[int]) -> Resync | UniqueNGram:
        """What goes on from any accepted text by the rule."""
        return UniqueNGram(draft) if self.rule is UniqueNGram else Resync(source, draft, self.tokens)

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        return [different([draft.propose(row.tokens) for draft in row.memory]) for row in rows]


def different(drafts: Sequence[list[int]]) -> Proposal:
    """The first draft, and those of the others that say something else."""
    first, *others = drafts
    seen = [first]
    for other in others:
        if all(tokens[: len(other)] != other for tokens in seen):
            seen.append(other)
    return Proposal(first, others=tuple(seen[1:]))


def edit5_writer(model: EdiT5, tokens: Tokens, options: Thresholds) -> Write:
    """EdiT5's corrections of sentences, for Follow."""
    return lambda sources: corrections(model, tokens, options, sources)


class SharedEdiT5(Follow):
    """EdiT5 on the target's encoder (shared_encoder.py), which is not run again: only its heads and insertions are."""

    def __init__(self, model: EdiT5, tokens: Tokens, options: Thresholds) -> None:
        super().__init__(tokens)
        self.model, self.options = model, options

    def texts(self, rows: Sequence[Row]) -> list[tuple[str, ...]]:
        encoded = [row.encoded for row in rows]
        sources = [row.source for row in rows]
        return corrections(self.model, self.tokens, self.options, sources, encoded)


def edit5_drafter(target: Target, model: EdiT5, tokens: Tokens, options: Thresholds) -> Follow:
    """EdiT5 (`tokens` are its own) drafts for this target: on one encoder with it, or through text."""
    if target.shares(model):
        return SharedEdiT5(model, tokens, options)
    return Follow(target.tokens, edit5_writer(model, tokens, options))


def corrections(
    model: EdiT5,
    tokens: Tokens,
    options: Thresholds,
    sources: Sequence[str],
    encoded: Sequence[Tensor | None] = (),
) -> list[tuple[str, ...]]:
    """What EdiT5 makes of each source, as `hypotheses` has it. What is longer than it reads at once stays as it is.

    Misspelt words are left to the models: a target writes the list's seldom enough that they cost more than they save.
    `encoded` [S, d] of each source, where that is known.
    """
    pieces = [tokens.encode(source) for source in sources]
    short = [n for n, p in enumerate(pieces) if 0 < len(p) <= model.config.max_pieces]
    texts: list[tuple[str, ...]] = [(source,) for source in sources]
    if not short:
        return texts
    known = [each for n in short if encoded and (each := encoded[n]) is not None]
    states = torch.nn.utils.rnn.pad_sequence(known, batch_first=True) if known else None  # [N, S, d]
    predictions = predict(model, tokens, [pieces[n] for n in short], options, states)
    for n, prediction in zip(short, predictions, strict=True):
        texts[n] = hypotheses(prediction, pieces[n], tokens)
    return texts


def hypotheses(prediction: Prediction, pieces: Pieces, tokens: Tokens) -> tuple[str, ...]:
    """The corrected sentence, and with bolder edits if there are such (Thresholds.alternative_threshold)."""
    plans = [prediction.plan, *([prediction.alternative] if prediction.alternative else [])]
    return tuple(realize(plan, pieces, tokens) for plan in plans)


# ---------------------------------------------------------------- a few tokens at a time


class Gamma:
    """How many tokens to draft: fixed, or two more after a pass that took all of them and one less after another."""

    def __init__(self, tokens: int, *, adaptive: bool = False, longest: int = 32) -> None:
        if not 0 < tokens <= longest:
            raise InputError(f"gamma {tokens}: from 1 to {longest} tokens are wanted")
        self.tokens, self.adaptive, self.longest = tokens, adaptive, longest

    def __call__(self, row: Row) -> int:
        """Tokens to draft for this row now; adapts to the outcome of the last pass over it."""
        if self.adaptive and row.proposed:
            change = 2 if row.accepted == row.proposed else -1
            self.tokens = min(self.longest, max(1, self.tokens + change))
        return min(self.tokens, row.limit - 1)


class NGrams:
    """The likeliest next token given the last one (order 2), or whatever comes (order 1)."""

    aligns = False

    def __init__(self, following: dict[int | None, int], gamma: Gamma) -> None:
        self.following, self.gamma = following, gamma

    @classmethod
    def learn(cls, lines: Iterable[str], tokens: Tokens, *, order: int, gamma: Gamma) -> NGrams:
        """Count the tokens of sentences, one in each line. Raises InputError when there are none."""
        if order not in (1, 2):
            raise InputError(f"order {order}: 1 (unigrams) or 2 (bigrams) is wanted")
        counts: dict[int | None, Counter[int]] = {None: Counter()}
        for line in lines:
            ids = [PAD, *tokens.ids(line), EOS]
            counts[None].update(ids[1:-1])
            for before, after in zip(ids, ids[1:], strict=False):
                if order == 2:
                    counts.setdefault(before, Counter())[after] += 1
        if not counts[None]:
            raise InputError("n-grams: no text to learn from")
        return cls({before: after.most_common(1)[0][0] for before, after in counts.items()}, gamma)

    def begin(self, rows: Sequence[Row]) -> None:
        return

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        return [Proposal(self._continue(row.tokens[-1] if row.tokens else PAD, self.gamma(row))) for row in rows]

    def _continue(self, last: int, count: int) -> list[int]:
        drafted: list[int] = []
        while len(drafted) < count and last != EOS:
            last = self.following.get(last, self.following[None])
            drafted.append(last)
        return drafted


class SmallT5:
    """A smaller T5 with the target's vocabulary (`tokens`) drafts token by token: greedily, or by sampling."""

    aligns = False

    def __init__(self, model: Target, tokens: Tokens, gamma: Gamma, sampling: Sampling | None = None) -> None:
        if model.tokens.processor.serialized_model_proto() != tokens.processor.serialized_model_proto():
            raise InputError("drafter: its vocabulary is not the target's; only drafts of whole texts can do with that")
        self.model, self.gamma, self.sampling = model, gamma, sampling
        self.rows: list[Row] = []  # of its decoding
        self.read: list[list[int]] = []  # what was read of each
        self.decoding = Decoding(model.model)

    @torch.inference_mode()
    def begin(self, rows: Sequence[Row]) -> None:
        self.decoding.admit(*self.model.encode([row.source for row in rows]))
        self.rows += rows
        self.read += [[] for _ in rows]

    @torch.inference_mode()
    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        inputs = self._catch_up(rows)
        counts = [self.gamma(row) for row in rows]
        drafted: list[list[int]] = [[] for _ in rows]
        weights: list[Tensor] = []
        for _ in range(max(counts, default=0)):
            hidden = self.decoding.forward(inputs)
            for read, new in zip(self.read, inputs, strict=True):
                read += new
            last = torch.tensor([end - 1 for end in accumulate(map(len, inputs))], device=hidden.device)
            logits = self.model.model.logits(hidden[last])
            places = [(row.number, len(row.tokens) + len(new)) for row, new in zip(rows, drafted, strict=True)]
            if self.sampling is None:
                tokens = choose(logits, None, places)
            else:
                weights.append(probabilities(logits, self.sampling))
                tokens = draw(weights[-1], [uniform(self.sampling.seed, *place, DRAFT) for place in places])
            for new, token in zip(drafted, tokens, strict=True):
                new.append(token)
            inputs = [[token] for token in tokens]
        return [
            Proposal(new[:count], torch.stack([w[n] for w in weights[:count]]) if weights and count else None)
            for n, (new, count) in enumerate(zip(drafted, counts, strict=True))
        ]

    def _catch_up(self, rows: Sequence[Row]) -> list[list[int]]:
        """Drop finished rows, forget what was not accepted; returns what is still to be read of each row."""
        kept = [self.rows.index(row) for row in rows]
        self.decoding.keep(kept)
        self.rows, self.read = list(rows), [self.read[n] for n in kept]
        inputs = []
        for n, row in enumerate(rows):
            tokens = [PAD, *row.tokens]
            pairs = zip(tokens[:-1], self.read[n], strict=False)
            same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(tokens) - 1, len(self.read[n])))
            self.read[n] = tokens[:same]
            inputs.append(tokens[same:])
        self.decoding.roll_back([len(read) for read in self.read])
        return inputs
