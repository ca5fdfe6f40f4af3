"""The thresholds of EdiT5's decisions, and where they come from.

    own = load_thresholds(Path("models/edit5-mini"))           those of the model folder
    load_thresholds(folder, min_confidence=0.4)                the same with other values

A folder holds them in config.json as "thresholds", and what --strictness names as "strictness". A T5 target holds
overrides in "thresholds", with which EdiT5 drafts for it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from edit_gec.editing.confidence import IMPOSSIBLE, Scale, log_odds, logistic
from edit_gec.errors import ModelError
from edit_gec.modeling.config import read_config


@dataclass(frozen=True)
class Thresholds(Scale):
    """Thresholds of the decisions, and the scale of confidence; a model folder carries tuned values."""

    keep_bias: float = 0.0  # added to the logit of KEEP, and to the score of the next kept piece
    min_confidence: float = 0.0  # the final confidence of an edit
    reorder: float = 1.0  # 0: kept pieces stay in source order (a draft seldom needs another)
    sequential: bool = False  # write one slot after the other, as in the paper: the reference

    @property
    def threshold(self) -> float:
        """The lowest confidence of an edit; above 0, so that impossible edits are never made."""
        return max(self.min_confidence, IMPOSSIBLE)

    @property
    def reads_twice(self) -> bool:
        """Whether changed sentences are read again (second_pass.py)."""
        return self.doubt_slope > 0

    @property
    def asks_what_stays(self) -> bool:
        """Whether the decoder is asked how probable it is that the source stays (Slot.stays)."""
        return self.stays_slope > 0

    def for_second_pass(self) -> Thresholds:
        """The threshold of the second pass, which does not know yet how much the first edits support its own."""
        lowest = logistic(log_odds(self.threshold) - self.most_supported) if self.min_confidence else 0.0
        return replace(self, min_confidence=lowest)


def read_overrides(folder: Path) -> dict[str, Any]:
    """The thresholds in the config.json of a model folder; {} if it has none.

    Raises ModelError for an unknown name or a value that is not a number.
    """
    entries: Any = read_config(folder).get("thresholds", {})
    names = {each.name for each in fields(Thresholds) if each.name != "sequential"}
    if isinstance(entries, dict) and entries.keys() <= names and all(map(_is_number, entries.values())):
        return entries
    expected = ", ".join(sorted(names))
    raise ModelError(f"{folder / 'config.json'}: thresholds {entries!r}; expected numbers for {expected}")


def _is_number(value: Any) -> bool:
    """Whether it is a finite number; JSON as Python reads it has NaN and infinity, too."""
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max


def read_presets(folder: Path) -> dict[str, float]:
    """The lowest confidence of an edit for each `--strictness NAME` of a model folder; {} if it names none.

    Raises ModelError for a value that is not a number from 0 to 1.
    """
    presets = read_config(folder).get("strictness", {})
    if isinstance(presets, dict) and all(_is_number(value) and 0 <= value <= 1 for value in presets.values()):
        return presets
    raise ModelError(f"{folder / 'config.json'}: strictness {presets!r}; expected names with numbers from 0 to 1")


def load_thresholds(folder: Path, **overrides: Any) -> Thresholds:
    """The thresholds of a model folder, with overrides.

    Raises ModelError for entries that are no thresholds, and for slopes that would turn the scale around.
    """
    own = Thresholds(**read_overrides(folder))
    slopes = ("written_slope", "stays_slope", "rare_slope", "doubt_slope", "neighbour_slope")
    others = {name: getattr(own, name) for name in slopes}
    above = {"slope": own.slope, "final_slope": own.final_slope}
    if min(above.values()) <= 0 or min(others.values()) < 0:
        given = ", ".join(f"{name} {value}" for name, value in {**above, **others}.items())
        raise ModelError(f"{folder / 'config.json'}: {given}; expected the first two above 0 and no other below 0")
    return replace(own, **overrides)
