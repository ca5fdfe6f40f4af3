"""Labelled regions: the stages of the path say when they begin and end, to whoever listens.

    with regions.listen(clock := Clock()):
        corrector.correct("She go home.")
    clock.spans                                    # [Span("split", ...), Span("tokenize", ...), Span("encode", ...)...]

The profiler and the server's latency bar both listen here, so what they time is what runs. Where nobody listens a
region costs well under a microsecond. A listener hears the regions of its own thread only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

STEP = "insert step"  # of the insertion decoder; the stages in order of their first use:
STAGES = (
    *("split", "tokenize", "encode", "tag", "point", "insert setup", "spell", STEP, "realize", "draft"),
    *("target tokenize", "target encode", "decoder setup", "decoder step", "verify", "align", "detokenize"),
)


class Listener(Protocol):
    """Somebody who wants to know."""

    def begin(self, name: str) -> None:
        """A region begins."""

    def end(self) -> None:
        """The region that began last, and has not ended, ends."""


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


class region:
    """`with region("encode"): ...`; regions may lie within others."""

    __slots__ = ("listener", "name")

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        self.listener = _listener.get()
        if self.listener is not None:
            self.listener.begin(self.name)

    def __exit__(self, *_: object) -> None:
        if self.listener is not None:
            self.listener.end()


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """The listener hears all regions of this thread until the block ends."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@dataclass
class Span:
    """One region as it happened, in seconds of `perf_counter`; `inner_s` is the time of regions within it."""

    name: str
    begun: float
    ended: float = 0.0
    inner_s: float = 0.0

    @property
    def own_s(self) -> float:
        """Its time without that of regions within it: own times can be added up."""
        return self.ended - self.begun - self.inner_s


@dataclass
class Clock:
    """Notes when regions began and ended, in order of their beginning."""

    spans: list[Span] = field(default_factory=list)
    _open: list[Span] = field(default_factory=list)

    def begin(self, name: str) -> None:
        span = Span(name, perf_counter())
        self.spans.append(span)
        self._open.append(span)

    def end(self) -> None:
        span = self._open.pop()
        span.ended = perf_counter()
        if self._open:
            self._open[-1].inner_s += span.ended - span.begun

    def seconds(self, *names: str) -> float:
        """Time spent in the regions of these names."""
        return sum(span.own_s for span in self.spans if span.name in names)
