"""edit-gec: grammatical error correction that is fast, exact about what it changes, and measured."""

from __future__ import annotations

from edit_gec.errors import InputError

__all__ = ["InputError"]
