"""The settings that an editor may send, as initializationOptions or in the section "edit-gec" of its own.

>>> Options().with_settings({"minConfidence": 0.8, "comments": False})
Options(min_confidence=0.8, strictness=None, fix_all_confidence=0.9, severity='information', comments=False, \
hints=True, dictionary=())
>>> describe_unknown({"minConfidnce": 0.8})
'edit-gec.minConfidnce is no setting; did you mean minConfidence?'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from edit_gec.config.load_settings import STRICTNESS
from edit_gec.errors import InputError, did_you_mean

SEVERITIES = ("error", "warning", "information", "hint")  # in the order of the protocol's numbers, from 1


@dataclass(frozen=True)
class Options:
    """`min_confidence` or `strictness`: both None mean that of the project, or else of the model.

    `comments`: check the comments of code. `hints`: show words that are surely wrong where no correction is sure
    enough, and errors that are shown on purpose.
    """

    min_confidence: float | None = None
    strictness: str | None = None
    fix_all_confidence: float = 0.9
    severity: str = "information"
    comments: bool = True
    hints: bool = True
    dictionary: tuple[str, ...] = ()

    def with_settings(self, given: Any) -> Options:
        """These options with the settings that an editor sent; unknown names change nothing. Raises InputError."""
        if not isinstance(given, dict):
            return self
        if None not in (given.get("minConfidence"), given.get("strictness")):
            raise InputError("edit-gec.minConfidence and strictness: expected one, both say how sure an edit must be")
        changed = {
            field: parse(given[name], name) for name, (field, parse) in _SETTINGS.items() if given.get(name) is not None
        }
        if "min_confidence" in changed or "strictness" in changed:
            changed = {"min_confidence": None, "strictness": None, **changed}
        return replace(self, **changed)


def describe_unknown(given: Any) -> str | None:
    """What to say of the first setting that has an unknown name; None where all are known."""
    unknown = next((str(name) for name in given if name not in _SETTINGS), None) if isinstance(given, dict) else None
    if unknown is None:
        return None
    meant = did_you_mean(unknown, _SETTINGS) or f"; there are {', '.join(_SETTINGS)}"
    return f"edit-gec.{unknown} is no setting{meant}"


def _parse_confidence(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InputError(f"edit-gec.{name} must be a number from 0 to 1, not {value!r}")
    return float(value)


def _one_of(known: Sequence[str]) -> Callable[[Any, str], str]:
    def parse(value: Any, name: str) -> str:
        if value not in known:
            raise InputError(f"edit-gec.{name} must be one of {', '.join(known)}, not {value!r}")
        return str(value)

    return parse


def _parse_flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"edit-gec.{name} must be true or false, not {value!r}")
    return value


def _parse_words(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise InputError(f"edit-gec.{name} must be a list of words, not {value!r}")
    return tuple(value)


_SETTINGS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {  # the editor's name -> field, how it is read
    "minConfidence": ("min_confidence", _parse_confidence),
    "strictness": ("strictness", _one_of(STRICTNESS)),
    "fixAllConfidence": ("fix_all_confidence", _parse_confidence),
    "severity": ("severity", _one_of(SEVERITIES)),
    "comments": ("comments", _parse_flag),
    "hints": ("hints", _parse_flag),
    "dictionary": ("dictionary", _parse_words),
}
