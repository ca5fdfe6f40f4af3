"""Drafters: they guess what the target writes next. A wrong guess costs time, never correctness.

    begin(rows)    prepare new sentences together
    propose(rows)  for every unfinished sentence, the tokens that may come next (none is allowed)

    TextDrafter(tokens)                           copies the source, re-aligned after each disagreement
    TextDrafter(tokens, rule=UniqueNGram)         the same with the rule of Sun et al. 2021
    TextDrafter(tokens, make_edit5_writer(...))   EdiT5's correction; EdiT5 may have a vocabulary of its own
    SharedEdiT5Drafter(model, tokens, options)    the same, where EdiT5 shares the target's encoder
    NGramDrafter.learn(lines, tokens, order=2)    the most likely next token, learnt from text
    SmallT5Drafter(small, tokens, Gamma(4))       a smaller T5 writes gamma tokens; it samples them with `sampling`

A draft that was not sampled has probability 1, whatever the drafting model believed. Only SmallT5Drafter with sampling
returns probabilities: the distributions that it drew from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from edit_gec.backends.torch_network import TorchNetwork
from edit_gec.editing.decode import predict
from edit_gec.editing.plan import realize
from edit_gec.editing.thresholds import Thresholds
from edit_gec.errors import InputError
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tokenizer import EOS, PAD, UNK, Tokens, Vocabulary
from edit_gec.speculative.any_target import AnyTarget
from edit_gec.speculative.ragged_cache import RaggedDecoder
from edit_gec.speculative.realign import Choices, Realigner, UniqueNGram
from edit_gec.speculative.sampling import Purpose, Sampling, choose_tokens, draw_tokens, token_probabilities, uniform
from edit_gec.speculative.target import Target


@dataclass(eq=False)
class Row:
    """An unfinished sentence, as the verifier shows it to the drafter."""

    number: int  # of the sentence in the call; keys its random numbers
    source: str
    limit: int  # tokens that the target may still write
    start: int = PAD  # what the target reads before its first token
    tokens: list[int] = field(default_factory=list)  # accepted so far
    proposed: int = 0  # in the last pass
    accepted: int = 0  # of these
    choices: Choices | None = None  # the target's in the last pass
    encoded: Tensor | None = None  # [S, d] the source as EdiT5 reads it, where it shares the target's encoder
    draft: Any = None  # what the drafter keeps for this row

    @property
    def last(self) -> int:
        """The token that the target reads next."""
        return self.tokens[-1] if self.tokens else self.start


T = TypeVar("T", bound=AnyTarget)
WriteDrafts = Callable[[list[str]], list[str]]  # sources -> the draft of each


@dataclass(frozen=True)
class Proposal:
    """Drafted tokens, and for sampled ones the distributions (float64) that they were drawn from: [n, V], or of the
    first entries of the vocabulary, where the others have none.
    """

    tokens: list[int]
    probabilities: Tensor | None = None


class Drafter(Protocol):
    """Rows keep their order. New rows come last, finished ones are left out."""

    @property
    def aligns(self) -> bool:
        """Whether `propose` only aligns a draft that `begin` wrote."""

    def begin(self, rows: Sequence[Row]) -> None:
        """Prepare new rows."""

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        """One proposal for each row, new and old."""


# ---------------------------------------------------------------- drafts of whole sentences


class TextDrafter:
    """Follows a draft of each sentence: what `write` makes of the source, or the source itself."""

    aligns = True

    def __init__(
        self,
        tokens: Vocabulary,
        write: WriteDrafts | None = None,
        *,
        rule: type[Realigner] | type[UniqueNGram] = Realigner,
    ) -> None:
        self.tokens = tokens
        self.write = write
        self.rule = rule

    def begin(self, rows: Sequence[Row]) -> None:
        """Write the drafts of new rows."""
        for row, text in zip(rows, self.write_texts(rows), strict=True):
            source = self.tokens.ids(row.source)
            # the whole text is tokenized at once: its parts may have other tokens
            row.draft = self.align_draft(source, source if text == row.source else self.tokens.ids(text))

    def write_texts(self, rows: Sequence[Row]) -> list[str]:
        """The draft of each row."""
        sources = [row.source for row in rows]
        return self.write(sources) if self.write else sources

    def align_draft(self, source: list[int], draft: list[int]) -> Realigner | UniqueNGram:
        """A draft that can be continued from any accepted text, by the rule."""
        return (
            UniqueNGram(draft, self.tokens.end) if self.rule is UniqueNGram else Realigner(source, draft, self.tokens)
        )

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        """For each row, how its draft goes on from the accepted text."""
        return [Proposal(row.draft.propose(row.tokens, row.choices)) for row in rows]


def make_edit5_writer(model: EdiT5, tokens: Tokens, options: Thresholds) -> WriteDrafts:
    """A function that drafts EdiT5's corrections, for TextDrafter."""
    return lambda sources: write_corrections(model, tokens, options, sources)


class SharedEdiT5Drafter(TextDrafter):
    """EdiT5 on the target's encoder (shared_encoder.py). Only its heads and its insertion decoder run."""

    def __init__(self, model: EdiT5, tokens: Tokens, options: Thresholds) -> None:
        super().__init__(tokens)
        self.shared = tokens
        self.model = model
        self.options = options

    def write_texts(self, rows: Sequence[Row]) -> list[str]:
        """The draft of each row, by the EdiT5 on what the target has encoded."""
        encoded = [row.encoded for row in rows]
        sources = [row.source for row in rows]
        return write_corrections(self.model, self.shared, self.options, sources, encoded)


def make_edit5_drafter(target: AnyTarget, model: EdiT5, tokens: Tokens, options: Thresholds) -> TextDrafter:
    """EdiT5, with its own `tokens`, as the drafter of this target: on one encoder if they share it, else by text."""
    if target.shares(model):
        return SharedEdiT5Drafter(model, tokens, options)
    return TextDrafter(target.tokens, make_edit5_writer(model, tokens, options))


def prepare_target(target: T, drafter: Drafter) -> T:
    """The target, which encodes for the EdiT5 of this drafter if that uses its encoder, and for no other."""
    return target.drafted_by(drafter.model if isinstance(drafter, SharedEdiT5Drafter) else None)


def write_corrections(
    model: EdiT5,
    tokens: Tokens,
    options: Thresholds,
    sources: Sequence[str],
    encoded: Sequence[Tensor | None] = (),
) -> list[str]:
    """EdiT5's draft of each source. A source that EdiT5 cannot read at once is its own draft.

    The word list corrects nothing here: a target rarely writes its words, so such drafts cost more than they save.
    `encoded` are the states [S, d] of each source, where they are known.
    """
    pieces = [tokens.encode(source) for source in sources]
    short = [n for n, p in enumerate(pieces) if 0 < len(p) <= model.config.max_pieces]
    texts = list(sources)
    if not short:
        return texts
    known = [each for n in short if encoded and (each := encoded[n]) is not None]
    states = torch.nn.utils.rnn.pad_sequence(known, batch_first=True) if known else None  # [N, S, d]
    predictions = predict(TorchNetwork(model, states), tokens, [pieces[n] for n in short], options)
    for n, prediction in zip(short, predictions, strict=True):
        texts[n] = realize(prediction.plan, pieces[n], tokens)
    return texts


# ---------------------------------------------------------------- drafts of a few tokens


@dataclass(frozen=True)
class Gamma:
    """How many tokens to draft for a pass."""

    tokens: int

    def __post_init__(self) -> None:
        if not 0 < self.tokens <= LONGEST_GAMMA:
            raise InputError(f"gamma {self.tokens}: from 1 to {LONGEST_GAMMA} tokens expected")

    def __call__(self, row: Row) -> int:
        """Tokens to draft for this row now; the last one is the target's own."""
        return min(self.tokens, row.limit - 1)


LONGEST_GAMMA = 32
START = -1  # stands before the first token


class NGramDrafter:
    """The most likely next token: after the last one (order 2), or in all text (order 1)."""

    aligns = False

    def __init__(self, following: dict[int | None, int], gamma: Gamma, end: int = EOS) -> None:
        self.following = following
        self.gamma = gamma
        self.end = end

    @classmethod
    def learn(cls, lines: Iterable[str], tokens: Vocabulary, *, order: int, gamma: Gamma) -> NGramDrafter:
        """Count the tokens of sentences, one a line. Raises InputError when there are none."""
        if order not in (1, 2):
            raise InputError(f"order {order}: 1 (unigrams) or 2 (bigrams) expected")
        counts: dict[int | None, Counter[int]] = {None: Counter()}
        for line in lines:
            ids = [START, *tokens.ids(line), tokens.end]
            counts[None].update(ids[1:-1])
            for before, after in pairwise(ids):
                if order == 2:
                    counts.setdefault(before, Counter())[after] += 1
        if not counts[None]:
            raise InputError("n-grams: no text to learn from")
        return cls({before: after.most_common(1)[0][0] for before, after in counts.items()}, gamma, tokens.end)

    def begin(self, rows: Sequence[Row]) -> None:
        """Nothing to prepare: the last token of a row is all that counts."""

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        """The most likely tokens after the last one of each row."""
        return [Proposal(self._continue(row.tokens[-1] if row.tokens else START, self.gamma(row))) for row in rows]

    def _continue(self, last: int, count: int) -> list[int]:
        drafted: list[int] = []
        while len(drafted) < count and last != self.end:
            last = self.following.get(last, self.following[None])
            drafted.append(last)
        return drafted


class SmallT5Drafter:
    """A smaller T5 with the target's vocabulary (`tokens`) that drafts token by token, greedily or by sampling.

    Embeddings are often padded, each model's to a size of its own. Only pieces of the vocabulary are drafted, and what
    the small T5 has no row for it reads as <unk>.
    """

    aligns = False

    def __init__(self, model: Target, tokens: Tokens, gamma: Gamma, sampling: Sampling | None = None) -> None:
        if model.tokens.processor.serialized_model_proto() != tokens.processor.serialized_model_proto():
            raise InputError(
                "drafter: its vocabulary is not the target's; only drafts of whole texts work across vocabularies"
            )
        self.model = model
        self.gamma = gamma
        self.sampling = sampling
        self.rows: list[Row] = []  # the rows of `decoder`
        self.read: list[list[int]] = []  # the tokens that `decoder` has read of each
        self.decoder = RaggedDecoder(model.model)

    @torch.inference_mode()
    def begin(self, rows: Sequence[Row]) -> None:
        """Encode new rows."""
        self.decoder.add_sources(self.model.encode_shared([row.source for row in rows]))
        self.rows += rows
        self.read += [[] for _ in rows]

    @torch.inference_mode()
    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        """What the small T5 writes after the accepted tokens of each row."""
        inputs = self._catch_up(rows)
        counts = [self.gamma(row) for row in rows]
        drafted: list[list[int]] = [[] for _ in rows]
        weights: list[Tensor] = []  # [B, pieces] of each step
        for _ in range(max(counts, default=0)):
            logits = self._next_logits(inputs)
            places = [(row.number, len(row.tokens) + len(new)) for row, new in zip(rows, drafted, strict=True)]
            if self.sampling is None:
                tokens = choose_tokens(logits, None, places)
            else:
                weights.append(token_probabilities(logits, self.sampling))
                uniforms = [uniform(self.sampling.seed, *place, Purpose.DRAFT) for place in places]
                tokens = draw_tokens(weights[-1], uniforms)
            for new, token in zip(drafted, tokens, strict=True):
                new.append(token)
            inputs = [[token] for token in tokens]
        return [
            Proposal(new[:count], torch.stack([w[n] for w in weights[:count]]) if weights and count else None)
            for n, (new, count) in enumerate(zip(drafted, counts, strict=True))
        ]

    def _next_logits(self, inputs: list[list[int]]) -> Tensor:
        """Read these tokens of each row; returns the logits [B, pieces] of the token that comes next."""
        hidden = self.decoder.forward(inputs)  # [N, d]
        for read, new in zip(self.read, inputs, strict=True):
            read += new
        last = torch.tensor([end - 1 for end in accumulate(map(len, inputs))], device=hidden.device)
        return self.model.model.logits(hidden[last])[:, : self.model.tokens.pieces]

    def _catch_up(self, rows: Sequence[Row]) -> list[list[int]]:
        """Drop finished rows and tokens that were not accepted; returns the tokens to read of each row."""
        kept = [self.rows.index(row) for row in rows]
        self.decoder.keep(kept)
        self.rows = list(rows)
        self.read = [self.read[n] for n in kept]
        inputs = []
        for n, row in enumerate(rows):
            tokens = [self.model.start, *(token if token < self.model.entries else UNK for token in row.tokens)]
            pairs = zip(tokens[:-1], self.read[n], strict=False)
            same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(tokens) - 1, len(self.read[n])))
            self.read[n] = tokens[:same]
            inputs.append(tokens[same:])
        self.decoder.roll_back([len(read) for read in self.read])
        return inputs
