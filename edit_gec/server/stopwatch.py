"""Where the time of a batch goes, in the shape of the case study: encoder + steps of the insertion decoder + the rest.

    watch = Stopwatch(model)
    predict(watch, tokens, sentences, options)     # decode.predict works on it as on the model itself
    watch.timing(seconds)  ->  Timing(encoder_s=0.012, steps=4, steps_s=0.006, other_s=0.002, verify_s=0)

`encode` is called once a batch, `embed_slots` begins and `output` ends a step; all else (tags, points, the assembly of
plans) is `other`. On a GPU the figures are those of the host, which waits for results after each stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edit_gec.edit5 import EdiT5


@dataclass(frozen=True)
class Timing:
    """Seconds of one batch."""

    encoder_s: float
    steps: int
    steps_s: float
    other_s: float
    verify_s: float = 0.0  # by the target, where there is one


class Stopwatch:
    """A model whose encoder and decoder steps are timed; use a new one for each batch."""

    def __init__(self, model: EdiT5) -> None:
        self._model = model
        self._encoder_s = 0.0
        self._steps = 0
        self._first_step = self._last_step = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def encode(self, *args: Any) -> Any:
        """`EdiT5.encode`, timed."""
        begun = perf_counter()
        encoded = self._model.encode(*args)
        self._encoder_s += perf_counter() - begun
        return encoded

    def embed_slots(self, *args: Any) -> Any:
        """`EdiT5.embed_slots`, the beginning of a step."""
        self._first_step = self._first_step or perf_counter()
        return self._model.embed_slots(*args)

    def output(self, *args: Any) -> Any:
        """`EdiT5.output`, the end of a step."""
        logits = self._model.output(*args)
        self._last_step = perf_counter()
        self._steps += 1
        return logits

    def timing(self, seconds: float) -> Timing:
        """What was measured, of `seconds` in all."""
        steps_s = self._last_step - self._first_step
        return Timing(self._encoder_s, self._steps, steps_s, seconds - self._encoder_s - steps_s)
