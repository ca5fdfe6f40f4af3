"""edit-gec: grammatical error correction that is fast, exact about what it changes, and measured.

    from edit_gec import Corrector
    corrector = Corrector.load()
    corrector.correct("They was late.").corrected

The path, in reading order: corrector (start there), sentences, tokens, plan, t5, edit5, decode, edits. With a T5 that
verifies: target, ragged, resync, draft, verify, verified; what that gains: speculation.
"""

from __future__ import annotations

from edit_gec.corrector import Correction, Corrector
from edit_gec.errors import InputError
from edit_gec.text.edits import Edit

__all__ = ["Correction", "Corrector", "Edit", "InputError"]
