"""The stages of the path: each reports its begin and its end to a listener.

    with listen(clock := Clock()):
        corrector.correct("She go home.")
    clock.spans                                    # [Span("split", ...), Span("tokenize", ...), Span("encode", ...)...]

The profiler and the server's latency bar both use these reports, so they time the code that runs. Without a listener a
stage costs well under a microsecond. A listener gets the stages of its own thread only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from time import perf_counter
from typing import Protocol


class Stage(str, Enum):
    """The stages, in the order of their first use. As a string, a stage is its name."""

    SPLIT = "split"
    TOKENIZE = "tokenize"
    ENCODE = "encode"
    TAG = "tag"
    POINT = "point"
    INSERT_SETUP = "insert setup"
    SPELL = "spell"
    INSERT_STEP = "insert step"
    REALIZE = "realize"
    DRAFT = "draft"
    TARGET_TOKENIZE = "target tokenize"
    TARGET_ENCODE = "target encode"
    DECODER_SETUP = "decoder setup"
    DECODER_STEP = "decoder step"
    VERIFY = "verify"
    ALIGN = "align"
    DETOKENIZE = "detokenize"

    def __str__(self) -> str:
        return str(self.value)


STAGES = tuple(stage.value for stage in Stage)


class Listener(Protocol):
    """Gets a report when a stage begins and when it ends."""

    def begin(self, name: str) -> None:
        """The stage of this name begins."""

    def end(self) -> None:
        """The stage that began last, and has not ended, ends."""


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def span(stage: Stage) -> AbstractContextManager[None]:
    """`with span(Stage.ENCODE): ...`; stages may lie within others."""
    listener = _listener.get()
    return _UNHEARD if listener is None else _report(stage, listener)


_UNHEARD = nullcontext()


@contextmanager
def _report(stage: Stage, listener: Listener) -> Iterator[None]:
    listener.begin(stage.value)
    try:
        yield
    finally:
        listener.end()


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Report all stages of this thread to the listener until the block ends."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@dataclass
class Span:
    """One stage as it happened, in seconds of `perf_counter`; `inner_s` is the time of stages within it."""

    name: str
    begun: float
    ended: float = 0.0
    inner_s: float = 0.0

    @property
    def own_s(self) -> float:
        """Its time without that of stages within it: own times can be added up."""
        return self.ended - self.begun - self.inner_s


@dataclass
class Clock:
    """Records when stages began and ended, in order of their beginning."""

    spans: list[Span] = field(default_factory=list)
    _open: list[Span] = field(default_factory=list)

    def begin(self, name: str) -> None:
        """The stage of this name begins."""
        opened = Span(name, perf_counter())
        self.spans.append(opened)
        self._open.append(opened)

    def end(self) -> None:
        """The stage that began last, and has not ended, ends."""
        closed = self._open.pop()
        closed.ended = perf_counter()
        if self._open:
            self._open[-1].inner_s += closed.ended - closed.begun

    def seconds(self, *stages: Stage) -> float:
        """Time spent in these stages."""
        return sum(each.own_s for each in self.spans if each.name in stages)
