"""References: which words of a document are the key to a place in it, so that an edit of one side would break a link.

    - [Kids](#two-childs)          the anchor is made of the title: "Two childs" stays
    ## Two childs

    See the [childs guide].        the words are the label of a definition: they stay
    [childs guide]: kids.md

A title is compared with all references in its document, of any format, by its letters and digits alone: generators of
anchors differ in the rest. Titles that nothing refers to are corrected. What other documents refer to is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

_REFERENCES = re.compile(
    r"#(?P<anchor>[^\s#()<>\[\]\"'`{}|\\]{1,200})"  # (#two-childs), href="a.html#two-childs"
    r"|<<(?P<asciidoc>[^<>,\n]{1,200})|\bxref:(?P<xref>[^\s\[\]]{1,200})\["
    r"|(?:\A|(?<=[\s:(]))`(?P<rst>[^`\n]{1,120}(?:\n[^`\n]{1,120})?)`"  # `Two childs`_, :ref:`the kids <Two childs>`
    r"|\[(?P<bracket>[^\[\]\n]{1,200}(?:\n[^\[\]\n]{1,120})?)\](?![(:{])"  # [two childs], [[Page#two childs|text]]
)
_WITHIN = re.compile(r"<([^<>]+?)_?>\s*\Z")  # the target of a reference with a text of its own
_COUNTED = re.compile(r"-\d{1,3}\Z")  # the anchor of the second title with the same words
_LABEL = re.compile(r"^[ \t>]{0,20}\[(?!\^)((?:[^\[\]\\]|\\.){1,300})\]:", re.MULTILINE)


def find_keys(text: str) -> frozenset[str]:
    """The keys of the titles that something in the text refers to, and of other words that look like it."""
    return frozenset(filter(None, (key_of(each) for each in _find_targets(text))))


def key_of(text: str) -> str:
    """The letters and digits of a text, case folded: what all anchors of a title have in common."""
    return "".join(filter(str.isalnum, text.casefold()))


def _find_targets(text: str) -> Iterator[str]:
    for found in _REFERENCES.finditer(text):
        target = str(found[str(found.lastgroup)])
        if found["anchor"]:
            yield from (unquote(target), _COUNTED.sub("", target))
        elif found["rst"]:
            within = _WITHIN.search(target)
            target = within[1] if within else target
            yield from (target, target.rpartition(":")[2])
        else:
            page, _, title = target.partition("|")[0].rpartition("#")
            yield title or page


def find_labels(text: str) -> frozenset[str]:
    """The labels of the definitions of a Markdown text, `normalize`d."""
    return frozenset(normalize(found[1]) for found in _LABEL.finditer(text))


def normalize(label: str) -> str:
    """A label as CommonMark compares it: case folded, its white space alike."""
    return " ".join(label.split()).casefold()
