"""What a language model thinks of variants of a text: log p(variant) - log p(source), for all variants in one pass.

    reading   <s> He go to school .                   the source, once; its keys and values stay
    position   0   1  2  3  4     5
    branches        goes to school .  |  went to school .
    position           2  3  4     5        2  3  4     5

A variant begins where its tokens differ, at the position of the token that it replaces, and attends to the source
before that and to itself. It ends `TAIL` tokens after its last difference: what a change does to likelihoods is done by
then. So a variant costs tens of tokens, not a whole text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.text.edits import count_shared_ends

TAIL = 6  # tokens after the last difference that are compared: more change no ranking (profiles/LOG.md)
MOST_CONTEXT = 250  # tokens before the text
MOST_ROW = 512  # tokens of a row
MOST_TOKENS = 256  # tokens of one pass: what is computed stays in the cache (profiles/LOG.md)
WIDTH = 16  # columns of branches in a row: fastest of 10, 16, 24 (profiles/LOG.md)


class Question(NamedTuple):
    """How likely is a source, and what could stand in it, after the text before it?"""

    before: str
    source: str


class LanguageNetwork(Protocol):
    """A decoder-only network, whatever runs it."""

    def read(
        self, ids: np.ndarray, positions: np.ndarray, visible: np.ndarray, past: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The states [B, T, d] of ids, positions [B, T], and their keys and values [2 M, B, T, ...], the past [2 M, B,
        S, ...] of what comes after; visible [B, T, S + T]."""

    def log_probabilities(self, hidden: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """log p of tokens [N] after states [N, d]."""

    def likeliest(self, hidden: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`log_probabilities` [N], the K likeliest tokens [N, K] after each state, and log p of these [N, K]."""


@dataclass(frozen=True)
class Source:
    """A source as tokens, after the text before it."""

    number: int  # of its question
    text: str
    before: tuple[int, ...]
    ids: tuple[int, ...]
    ends: tuple[int, ...]  # of its tokens, in characters
    is_whole: bool  # nothing was cut

    @property
    def length(self) -> int:
        """Columns."""
        return len(self.before) + len(self.ids)

    @property
    def first(self) -> int:
        """The column of the first token that another one is before."""
        return max(len(self.before), 1)


class Likelihoods(NamedTuple):
    """What a model says of each token of a source from its `first` on."""

    given: np.ndarray  # [N], log p of the token
    tokens: np.ndarray  # [N, K], the likeliest tokens in its place
    values: np.ndarray  # [N, K], log p of these


UNASKED = Likelihoods(np.zeros(0), np.zeros((0, 1), np.int64), np.zeros((0, 1)))


@dataclass(frozen=True, eq=False)
class ReadSources:
    """Sources that were read in one pass, and what the network remembers of them."""

    sources: Sequence[Source]
    likelihoods: Sequence[Likelihoods]
    hidden: np.ndarray  # [B, T, d]
    past: np.ndarray  # [2 M, B, T, ...]


class Branch(NamedTuple):
    """A variant: its tokens from the first difference on, and the columns of what comes before."""

    variant: int
    start: int  # column of the source at which it begins
    ids: tuple[int, ...]
    shared: int  # tokens of the source, from `start` on, that it is compared with

    @property
    def length(self) -> int:
        """Tokens that are read: the last one is only predicted."""
        return max(len(self.ids) - 1, 0)


@dataclass
class Row:
    """Branches of a source, side by side."""

    source: int
    branches: list[Branch]

    @property
    def length(self) -> int:
        """Columns."""
        return sum(branch.length for branch in self.branches)


class HasLength(Protocol):
    """What takes up columns."""

    @property
    def length(self) -> int:
        """Columns."""


AnyRow = TypeVar("AnyRow", bound=HasLength)


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A network with its vocabulary."""

    network: LanguageNetwork
    tokens: BytePairs

    @classmethod
    def load(
        cls, path: str | Path, device: str = "cpu", dtype: str = "float32", precision: str = "", threads: int = 1
    ) -> LanguageModel:
        """The model of a folder or a GGUF file: in torch; in ONNX Runtime without torch, or with a `precision`.

        device, dtype: of torch. precision, threads: of ONNX Runtime; "float32", "int8" or "auto"
        (backends/onnx_language_network.py), which needs a folder with graphs.

        Raises ModelError for a broken or unknown model and for a base that is not installed, InputError for a precision
        that does not fit, MissingExtraError without the packages that read it.
        """
        tokens = BytePairs.load(path)
        if precision or find_spec("torch") is None:
            from edit_gec.backends.onnx_language_network import OnnxLanguageNetwork

            return cls(OnnxLanguageNetwork.load(Path(path), precision=precision or "auto", threads=threads), tokens)
        import torch

        from edit_gec.backends.torch_language_network import TorchLanguageNetwork
        from edit_gec.modeling.causal_checkpoint import load_causal

        return cls(TorchLanguageNetwork(load_causal(path, getattr(torch, dtype)).to(device)), tokens)

    def read(self, questions: Sequence[Question]) -> Iterator[ReadSources]:
        """The sources of questions, some in each pass, short ones first; empty ones in none."""
        sources = [self.encode(n, question) for n, question in enumerate(questions)]
        for batch in group_rows([source for source in sources if source.length]):
            ids, positions, visible = lay_out([(*source.before, *source.ids) for source in batch])
            hidden, past = self.network.read(ids, positions, visible)
            columns = [range(source.first, source.length) for source in batch]
            states = [hidden[n, of.start - 1 : of.stop - 1] for n, of in enumerate(columns)]
            written = [ids[n, of.start : of.stop] for n, of in enumerate(columns)]
            found = UNASKED
            if any(columns):
                found = Likelihoods(*self.network.likeliest(np.concatenate(states), np.concatenate(written)))
            cuts = np.cumsum([len(of) for of in columns])[:-1]
            parts = zip(*(np.split(each, cuts) for each in found), strict=True)
            yield ReadSources(batch, [Likelihoods(*part) for part in parts], hidden, past)

    def encode(self, number: int, question: Question) -> Source:
        """The tokens of a question, as many as a row may have: a begin, the end of the text before, and the source."""
        begin = () if self.tokens.begin is None else (self.tokens.begin,)
        before = (*begin, *(self.tokens.encode(question.before).ids[-MOST_CONTEXT:] if question.before else ()))
        encoded = self.tokens.encode(question.source)
        most = MOST_ROW - len(before)
        ids, ends = tuple(encoded.ids[:most]), tuple(encoded.ends[:most])
        return Source(number, question.source, before, ids, ends, len(ids) == len(encoded.ids))

    def compare(self, reading: ReadSources, variants: Sequence[Sequence[str]]) -> list[list[float]]:
        """The gains of variants of each source of a reading."""
        gains = [[0.0] * len(texts) for texts in variants]
        rows: list[Row] = []
        for n, (source, texts) in enumerate(zip(reading.sources, variants, strict=True)):
            found = (find_branch(v, source, self.tokens.encode(text).ids) for v, text in enumerate(texts))
            rows += put_in_rows(n, [branch for branch in found if branch])
        for batch in group_rows(rows):
            for row, chances in zip(batch, self._read_branches(reading, batch), strict=True):
                likely, first = reading.likelihoods[row.source].given, reading.sources[row.source].first
                for branch, chance in zip(row.branches, chances, strict=True):
                    replaced = likely[branch.start - first : branch.start - first + branch.shared]
                    gains[row.source][branch.variant] = chance - float(replaced.sum())
        return gains

    def _read_branches(self, reading: ReadSources, rows: Sequence[Row]) -> list[list[float]]:
        """log p of each branch of each row, in one pass."""
        hidden = np.zeros((len(rows), 0, reading.hidden.shape[2]), np.float32)
        if any(row.length for row in rows):
            past = reading.past[:, [row.source for row in rows]]
            hidden, _ = self.network.read(*lay_out_branches(rows, past.shape[2]), past)
        states: list[np.ndarray] = []
        tokens: list[int] = []
        ends = [0]
        for n, row in enumerate(rows):
            begin = 0
            for branch in row.branches:
                before = reading.hidden[row.source, branch.start - 1 : branch.start][: len(branch.ids)]
                states += [before, hidden[n, begin : begin + branch.length]]
                tokens += branch.ids
                ends.append(len(tokens))
                begin += branch.length
        found = self.network.log_probabilities(np.concatenate(states), np.array(tokens)) if tokens else np.zeros(0)
        sums = iter([float(found[start:end].sum()) for start, end in pairwise(ends)])
        return [[next(sums) for _ in row.branches] for row in rows]


def lay_out(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ids, positions [B, T] of texts, and which places each place sees [B, T, T]; padding sees what is before it."""
    longest = max(map(len, rows))
    ids = np.zeros((len(rows), longest), np.int64)
    for n, row in enumerate(rows):
        ids[n, : len(row)] = row
    positions = np.arange(longest)[None].repeat(len(rows), 0)
    return ids, positions, np.tri(longest, dtype=bool)[None].repeat(len(rows), 0)


def lay_out_branches(rows: Sequence[Row], past: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ids, positions [B, T] of branches, and which places each place sees [B, T, S + T], where S is the `past`."""
    longest = max(row.length for row in rows)
    ids = np.zeros((len(rows), longest), np.int64)
    positions = np.zeros((len(rows), longest), np.int64)
    visible = np.zeros((len(rows), longest, past + longest), bool)
    visible[:, range(longest), range(past, past + longest)] = True  # padding sees itself
    for n, row in enumerate(rows):
        begin = 0
        for branch in row.branches:
            end = begin + branch.length
            ids[n, begin:end] = branch.ids[: branch.length]
            positions[n, begin:end] = range(branch.start, branch.start + branch.length)
            visible[n, begin:end, : branch.start] = True
            visible[n, begin:end, past + begin : past + end] = np.tri(branch.length, dtype=bool)
            begin = end
    return ids, positions, visible


def put_in_rows(source: int, branches: Sequence[Branch]) -> list[Row]:
    """Branches of a source in rows of at most WIDTH columns, or one branch."""
    rows: list[Row] = []
    for branch in branches:
        if not rows or rows[-1].length + branch.length > WIDTH:
            rows.append(Row(source, []))
        rows[-1].branches.append(branch)
    return rows


def find_branch(variant: int, source: Source, tokens: Sequence[int]) -> Branch | None:
    """Where a variant leaves its source. None where they are the same.

    >>> source = Source(0, "", before=(1,), ids=(5, 6, 7, 8), ends=(), is_whole=True)
    >>> find_branch(0, source, [5, 9, 9, 7, 8])
    Branch(variant=0, start=2, ids=(9, 9, 7, 8), shared=3)
    """
    if source.ids == tuple(tokens):
        return None
    offset = len(source.before)
    head, tail = count_shared_ends(source.ids, tokens)
    head = max(head, source.first - offset)
    cut = max(0, tail - TAIL)
    return Branch(variant, head + offset, tuple(tokens[head : len(tokens) - cut]), len(source.ids) - cut - head)


def group_rows(rows: Sequence[AnyRow]) -> Iterator[list[AnyRow]]:
    """Rows of similar length in passes of at most MOST_TOKENS, or one row, padding included."""
    batch: list[AnyRow] = []
    for row in sorted(rows, key=lambda row: row.length):
        if batch and row.length * (len(batch) + 1) > MOST_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
