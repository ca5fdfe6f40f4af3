"""Readers of formats: text -> flags of its characters, as markup.py defines them.

Markdown, HTML and plain text need none: they are read by markup.py and paragraphs.py together.
"""

from __future__ import annotations

from collections.abc import Callable

from edit_gec.text.rst import mark_rst

Reader = Callable[[str], bytearray]

READERS: dict[str, Reader] = {"rst": mark_rst}  # by the names of formats.NAMES
