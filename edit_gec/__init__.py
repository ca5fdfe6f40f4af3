"""edit-gec: grammatical error correction that is fast, exact about what it changes, and measured.

    from edit_gec import Corrector
    corrector = Corrector.from_pretrained()
    corrector("She go home.").corrected

The path, in reading order: corrector (start there), text.sentences, modeling.tokenizer, editing.plan, modeling.edit5,
editing.decode, text.edits. With a T5 that verifies: the room speculative. For many callers: runtime.async_corrector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from edit_gec.corrector import Corrector
from edit_gec.errors import DeviceError, EditGecError, InputError, MissingExtraError, ModelError, WriteError
from edit_gec.text.correction import Correction
from edit_gec.text.edits import Edit, Provenance

if TYPE_CHECKING:
    from edit_gec.runtime.async_corrector import AsyncCorrector

    __version__: str

__all__ = [
    "AsyncCorrector",
    "Correction",
    "Corrector",
    "DeviceError",
    "Edit",
    "EditGecError",
    "InputError",
    "MissingExtraError",
    "ModelError",
    "Provenance",
    "WriteError",
    "__version__",
]


def __getattr__(name: str) -> object:
    """What is imported when it is first asked for, because it takes time."""
    if name == "__version__":
        from edit_gec.version import version

        return version()
    if name == "AsyncCorrector":
        from edit_gec.runtime.async_corrector import AsyncCorrector

        return AsyncCorrector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
