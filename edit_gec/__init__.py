"""edit-gec: grammatical error correction that is fast, exact about what it changes, and measured.

    from edit_gec import Corrector
    corrector = Corrector.load()
    corrector.correct("They was late.").corrected

The path, in reading order: corrector (start there), sentences, tokens, plan, t5, edit5, decode, edits. With a T5 that
verifies: target, ragged, resync, draft, verify, verified; what that gains: speculation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from edit_gec.corrector import Correction, Corrector
from edit_gec.errors import DeviceError, EditGecError, InputError, MissingExtraError, ModelError, WriteError
from edit_gec.text.edits import Edit

if TYPE_CHECKING:
    __version__: str

__all__ = [
    "Correction",
    "Corrector",
    "DeviceError",
    "Edit",
    "EditGecError",
    "InputError",
    "MissingExtraError",
    "ModelError",
    "WriteError",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from edit_gec.version import version

        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
