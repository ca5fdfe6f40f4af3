"""What a language model thinks of variants of a text: log p(variant) - log p(source), for all variants in one pass.

    row       <s> He go to school .  |  goes to school .  |  went to school .
    position   0   1  2  3  4     5        2  3  4     5       2  3  4     5

The source stands once. A variant begins where its tokens differ, at the position of the token that it replaces, and
attends to the source before that and to itself. It ends `TAIL` tokens after its last difference: what a change does to
likelihoods is done by then. So a variant costs tens of tokens, not a whole text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.text.edits import count_shared_ends

TAIL = 12  # tokens after the last difference that are compared: more change no ranking (profiles/LOG.md)
MOST_CONTEXT = 250  # tokens before the text
MOST_ROW = 512  # tokens of a row
MOST_TOKENS = 256  # tokens of one pass: what is computed stays in the cache (profiles/LOG.md)


class Question(NamedTuple):
    """How much likelier is each of these variants than the source, after the text before it?"""

    before: str
    source: str
    variants: tuple[str, ...]


class LanguageNetwork(Protocol):
    """A decoder-only network, whatever runs it."""

    def log_probabilities(
        self, ids: np.ndarray, positions: np.ndarray, visible: np.ndarray, asked: np.ndarray, tokens: np.ndarray
    ) -> np.ndarray:
        """log p of tokens [N] after the places `asked` [N, 2] (row, column) of ids, positions [B, T]; visible
        [B, T, T]."""

    def likeliest(
        self, ids: np.ndarray, positions: np.ndarray, visible: np.ndarray, asked: np.ndarray, tokens: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`log_probabilities` [N], the K likeliest tokens [N, K] of each place, and log p of these [N, K]."""


@dataclass
class Branch:
    """A variant in a row: its tokens from the first difference on, and the columns of what comes before."""

    variant: int
    start: int  # column of the source at which it begins
    ids: tuple[int, ...]
    shared: int  # tokens of the source, from `start` on, that it is compared with


@dataclass
class Row:
    """A source with its context and some of its variants, ready to be read."""

    question: int
    prefix: tuple[int, ...]  # begin, context, source
    branches: list[Branch]

    @property
    def length(self) -> int:
        """Columns."""
        return len(self.prefix) + sum(len(branch.ids) for branch in self.branches)


AnyRow = TypeVar("AnyRow", bound=Row)


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

    def gains(self, questions: Sequence[Question]) -> list[list[float]]:
        """log p(variant) - log p(source) for each variant of each question; 0 for a variant that is the source."""
        gains = [[0.0] * len(question.variants) for question in questions]
        rows = [row for n, question in enumerate(questions) for row in self.rows(n, question)]
        for batch in group_rows(rows):
            for row, found in zip(batch, self._read(batch), strict=True):
                for branch, gain in zip(row.branches, found, strict=True):
                    gains[row.question][branch.variant] = gain
        return gains

    def rows(self, number: int, question: Question) -> Iterator[Row]:
        """The rows of a question: one, unless its variants are too many for that."""
        first = self.read_before(question)
        source = self.tokens.encode(question.source).ids[: MOST_ROW - len(first)]
        row = Row(number, (*first, *source), [])
        for n, variant in enumerate(question.variants):
            branch = find_branch(n, source, self.tokens.encode(variant).ids, len(first))
            if branch is None:
                continue
            if row.branches and row.length + len(branch.ids) > MOST_ROW:
                yield row
                row = Row(number, row.prefix, [])
            row.branches.append(branch)
        if row.branches:
            yield row

    def read_before(self, question: Question) -> tuple[int, ...]:
        """The ids before the source: the begin of a text, and the end of the text before it."""
        begin = () if self.tokens.begin is None else (self.tokens.begin,)
        return (*begin, *(self.tokens.encode(question.before).ids[-MOST_CONTEXT:] if question.before else ()))

    def _read(self, rows: Sequence[Row]) -> list[list[float]]:
        """The gain of each branch of each row, in one pass."""
        asked: list[tuple[int, int]] = []
        tokens: list[int] = []
        spans: list[tuple[int, int]] = []
        for n, row in enumerate(rows):
            begin = len(row.prefix)
            for branch in row.branches:
                end = begin + len(branch.ids)
                before = [branch.start - 1, *range(begin, end - 1)] if branch.ids else []
                for places, written in (
                    (before, branch.ids),
                    (range(branch.start - 1, branch.start - 1 + branch.shared), row.prefix[branch.start :]),
                ):
                    asked += [(n, place) for place in places]
                    tokens += written[: len(places)]
                    spans.append((len(asked) - len(places), len(asked)))
                begin = end
        found = self.network.log_probabilities(*lay_out(rows), np.array(asked), np.array(tokens))
        sums = iter([float(found[start:end].sum()) for start, end in spans])
        return [[next(sums) - next(sums) for _ in row.branches] for row in rows]


def lay_out(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ids, positions [B, T] of rows and which places each place sees [B, T, T]."""
    longest = max(row.length for row in rows)
    ids = np.zeros((len(rows), longest), np.int64)
    positions = np.zeros((len(rows), longest), np.int64)
    visible = np.zeros((len(rows), longest, longest), bool)
    visible[:, range(longest), range(longest)] = True  # padding sees itself
    for n, row in enumerate(rows):
        width = len(row.prefix)
        ids[n, :width] = row.prefix
        positions[n, :width] = range(width)
        visible[n, :width, :width] = np.tri(width, dtype=bool)
        begin = width
        for branch in row.branches:
            end = begin + len(branch.ids)
            ids[n, begin:end] = branch.ids
            positions[n, begin:end] = range(branch.start, branch.start + len(branch.ids))
            visible[n, begin:end, : branch.start] = True
            visible[n, begin:end, begin:end] = np.tri(end - begin, dtype=bool)
            begin = end
    return ids, positions, visible


def find_branch(variant: int, source: Sequence[int], tokens: Sequence[int], offset: int) -> Branch | None:
    """Where a variant leaves the source; `offset` columns stand before the source. None where they are the same.

    >>> find_branch(0, [5, 6, 7, 8], [5, 9, 9, 7, 8], offset=1)
    Branch(variant=0, start=2, ids=(9, 9, 7, 8), shared=3)
    """
    if tuple(source) == tuple(tokens):
        return None
    head, tail = count_shared_ends(source, tokens)
    head = max(head, 1 - offset)  # something must stand before the first token that is compared
    cut = max(0, tail - TAIL)
    return Branch(variant, head + offset, tuple(tokens[head : len(tokens) - cut]), len(source) - cut - head)


def group_rows(rows: Sequence[AnyRow]) -> Iterator[list[AnyRow]]:
    """Rows of similar length in passes of at most MOST_TOKENS, padding included."""
    batch: list[AnyRow] = []
    for row in sorted(rows, key=lambda row: row.length):
        if batch and row.length * (len(batch) + 1) > MOST_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
