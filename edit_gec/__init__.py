"""edit-gec: grammatical error correction that is fast, exact about what it changes, and measured.

    from edit_gec import Corrector
    corrector = Corrector.from_pretrained()
    corrector("She go home.").corrected

The path, in reading order: corrector (start there), text.sentences, modeling.tokenizer, editing.plan, modeling.edit5,
editing.decode, text.edits. With a T5 that verifies: the room speculative. For many callers: runtime.async_corrector.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.errors import DeviceError, EditGecError, InputError, MissingExtraError, ModelError, WriteError
    from edit_gec.runtime.async_corrector import AsyncCorrector
    from edit_gec.text.correction import Correction
    from edit_gec.text.edits import Edit, Provenance

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
_HOMES = {  # the modules of what is not an error
    "AsyncCorrector": "edit_gec.runtime.async_corrector",
    "Correction": "edit_gec.text.correction",
    "Corrector": "edit_gec.corrector",
    "Edit": "edit_gec.text.edits",
    "Provenance": "edit_gec.text.edits",
}


def __getattr__(name: str) -> object:
    """Everything is imported when it is first asked for, because `edit-gec --help` must answer at once."""
    if name == "__version__":
        return import_module("edit_gec.version").version()
    if name in __all__:
        return getattr(import_module(_HOMES.get(name, "edit_gec.errors")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
