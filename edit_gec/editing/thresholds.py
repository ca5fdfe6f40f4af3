"""The thresholds of EdiT5's decisions, and where they come from.

    own = load_thresholds(Path("models/edit5-mini"))           those of the model folder
    with_overrides(own, {"min_confidence": 0.4})               the same with other values

A folder holds them in config.json as "thresholds". A T5 target holds overrides there, with which EdiT5 drafts for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from edit_gec.editing.confidence import Scale
from edit_gec.errors import InputError
from edit_gec.modeling.checkpoint import read_config

FORMER_NAMES = {
    "reread": "second_pass_factor",
    "confirm": "second_pass_penalty",
    "bold": "alternative_threshold",
}  # in config.json of models made before 0.2


@dataclass(frozen=True)
class Thresholds(Scale):
    """Thresholds of the decisions, and the scale of confidence; a model folder carries tuned values."""

    keep_bias: float = 0.0  # added to the logit of KEEP, and to the score of the next kept piece
    min_confidence: float = 0.0  # of a single edit
    sentence_gate: float = 0.0  # of the edits of a sentence together; below it the sentence is left unchanged
    second_pass_factor: float = 0.0  # share of min_confidence that is enough in the second pass; 0: no second pass
    second_pass_penalty: float = 0.0  # how much it costs an edit that the second pass doubts what it wrote
    alternative_threshold: float = 0.0  # confidence of an edit in the alternative plan for a target; 0: no such plan
    reorder: float = 1.0  # 0: kept pieces stay in source order (a draft seldom needs another)
    sequential: bool = False  # write one slot after the other, as in the paper: the reference

    @property
    def least(self) -> float:
        """The smallest confidence of an edit; what the model holds impossible is never made."""
        return max(self.min_confidence, 1e-9)

    def alternative(self) -> Thresholds:
        """The thresholds of the alternative plan, which is at least as bold as the usual one."""
        lower = min(self.alternative_threshold, self.min_confidence)
        return replace(self, min_confidence=lower, sentence_gate=lower)


def read_overrides(folder: Path, key: str = "thresholds") -> dict[str, Any]:
    """The thresholds in the config.json of a model folder, by their present names; {} if it has none.

    Raises InputError for an unknown name or a value that is not a number.
    """
    entries = read_config(folder).get(key, {})
    names = {each.name for each in fields(Thresholds) if each.name != "sequential"}
    if isinstance(entries, dict):
        overrides = {FORMER_NAMES[name] if name in FORMER_NAMES else name: value for name, value in entries.items()}
        if overrides.keys() <= names and all(isinstance(value, int | float) for value in overrides.values()):
            return overrides
    expected = ", ".join(sorted(names))
    raise InputError(f"{folder / 'config.json'}: {key} {entries!r}; expected numbers for {expected}")


def load_thresholds(folder: Path, **overrides: Any) -> Thresholds:
    """The thresholds of a model folder, with overrides (`with_overrides`).

    Raises InputError for entries that are no thresholds, and for slopes that would turn the scale around.
    """
    own = Thresholds(**read_overrides(folder))
    if own.slope <= 0 or min(own.written_slope, own.stays_slope) < 0:
        raise InputError(
            f"{folder / 'config.json'}: slope {own.slope}, written_slope {own.written_slope}, "
            f"stays_slope {own.stays_slope}; expected one above 0 and two not below 0"
        )
    return with_overrides(own, overrides)


def with_overrides(thresholds: Thresholds, overrides: Mapping[str, Any]) -> Thresholds:
    """The thresholds with other values. `min_confidence` rescales the sentence gate unless that is given too."""
    if "min_confidence" in overrides and "sentence_gate" not in overrides:
        gate = rescale_gate(thresholds.sentence_gate, thresholds.min_confidence, overrides["min_confidence"])
        overrides = {**overrides, "sentence_gate": gate}
    return replace(thresholds, **overrides)


def rescale_gate(gate: float, own: float, given: float) -> float:
    """The sentence gate when the user overrides `min_confidence`: piecewise linear, 0 -> 0, own -> given, 1 -> 1."""
    if given <= own:
        return gate * given / own if own else gate
    return given + max(0.0, gate - own) * (1 - given) / (1 - own)
