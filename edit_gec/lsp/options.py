"""What an editor may set, as initializationOptions or as the section "edit-gec" of its settings.

>>> Options().update({"minConfidence": 0.8, "comments": False})
Options(min_confidence=0.8, fix_all_confidence=0.9, severity='information', comments=False, dictionary=())
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from edit_gec.errors import InputError

SEVERITIES = ("error", "warning", "information", "hint")  # in the order of the protocol's numbers, from 1


@dataclass(frozen=True)
class Options:
    """`min_confidence` None: what the project says, or else the model. `comments`: check those of code."""

    min_confidence: float | None = None
    fix_all_confidence: float = 0.9
    severity: str = "information"
    comments: bool = True
    dictionary: tuple[str, ...] = ()

    def update(self, given: Any) -> Options:
        """These options with what an editor sent; names that are not ours are ignored. Raises InputError."""
        if not isinstance(given, dict):
            return self
        options = self
        if (confidence := _share(given, "minConfidence")) is not None:
            options = replace(options, min_confidence=confidence)
        if (confidence := _share(given, "fixAllConfidence")) is not None:
            options = replace(options, fix_all_confidence=confidence)
        if (severity := given.get("severity")) is not None:
            if severity not in SEVERITIES:
                raise InputError(f"edit-gec.severity must be one of {', '.join(SEVERITIES)}, not {severity!r}")
            options = replace(options, severity=severity)
        if (comments := given.get("comments")) is not None:
            if not isinstance(comments, bool):
                raise InputError(f"edit-gec.comments must be true or false, not {comments!r}")
            options = replace(options, comments=comments)
        if (words := given.get("dictionary")) is not None:
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise InputError(f"edit-gec.dictionary must be a list of words, not {words!r}")
            options = replace(options, dictionary=tuple(words))
        return options


def _share(given: dict[str, Any], name: str) -> float | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InputError(f"edit-gec.{name} must be a number from 0 to 1, not {value!r}")
    return float(value)
