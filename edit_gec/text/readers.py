"""Readers of formats. One gives flags for the characters of a text (markup.py), or the parts of it that are prose.

Markdown, HTML and plain text need none: they are read by markup.py and paragraphs.py together. "code/python" and
"code/client.py" are read by read_code, which asks pygments for that language or for that name of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from edit_gec.text.asciidoc import mark_asciidoc
from edit_gec.text.code_comments import read_code
from edit_gec.text.commit import read_commit
from edit_gec.text.latex import mark_latex
from edit_gec.text.mail import read_mail
from edit_gec.text.markup import regions
from edit_gec.text.mdx import mark_mdx_regions
from edit_gec.text.org import mark_org
from edit_gec.text.parts import Part
from edit_gec.text.quoted import read_catalogue, read_notebook
from edit_gec.text.rst import mark_rst
from edit_gec.text.subtitles import mark_cues, read_subtitles
from edit_gec.text.typst import mark_typst

Reader = Callable[[str], bytearray]
PartReader = Callable[[str], Iterator[Part]]

READERS: dict[str, Reader] = {  # by the names of formats.NAMES, and "cues", a part of subtitles
    "asciidoc": mark_asciidoc,
    "cues": mark_cues,
    "latex": mark_latex,
    "org": mark_org,
    "rst": mark_rst,
    "typst": mark_typst,
}
_PART_READERS: dict[str, PartReader] = {
    "commit": read_commit,
    "gettext": read_catalogue,
    "mail": read_mail,
    "notebook": read_notebook,
    "subtitles": read_subtitles,
}

REGIONS: dict[str, Reader] = {  # of formats that are read alike apart from these regions
    "html": partial(regions, indented_code=False),
    "markdown": partial(regions, is_markdown=True),
    "mdx": mark_mdx_regions,
}

SPECIAL = {  # characters that an edit must not bring in
    "code": '\\"`<>{}[]*/#%|=',
    "commit": "#",
    "cues": "<>{}[]",
    "gettext": '"\\%',
    "latex": "\\{}$&%#^_~",
    "mail": ">",
    "mdx": "{}<",
    "notebook": '"\\',
    "typst": "\\#$*_`@<>[]{}~",
}


def read_parts(text: str, format: str) -> Iterator[Part] | None:
    """The parts of a text of this format; None where the text is one whole."""
    kind, _, language = format.partition("/")
    if kind == "code":
        return read_code(text, language)
    reader = _PART_READERS.get(format)
    return reader(text) if reader else None
