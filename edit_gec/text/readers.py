"""Readers of formats: text -> flags of its characters, as markup.py defines them.

Markdown, HTML and plain text need none: they are read by markup.py and paragraphs.py together.
"""

from __future__ import annotations

from collections.abc import Callable

from edit_gec.text.asciidoc import mark_asciidoc
from edit_gec.text.org import mark_org
from edit_gec.text.rst import mark_rst

Reader = Callable[[str], bytearray]

READERS: dict[str, Reader] = {  # by the names of formats.NAMES
    "asciidoc": mark_asciidoc,
    "org": mark_org,
    "rst": mark_rst,
}
