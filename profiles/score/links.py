"""Whether corrected documents keep their links: errors are planted in them, and what docutils and markdown-it-py say of
each text before and after its correction is compared.

    python profiles/score/links.py FOLDER

docutils: messages, references and titles of *.rst. markdown-it-py: links, and anchors that no title has, of *.md.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from planted import apply_plants, plant

from edit_gec.corrector import Corrector
from edit_gec.lab.evaluation.documents import read_documents
from edit_gec.text.references import key_of


def read_rst(text: str) -> Counter[str]:
    """The messages of docutils without their places, its references and its titles, counted."""
    core, nodes, stream = import_module("docutils.core"), import_module("docutils.nodes"), io.StringIO()
    tree = core.publish_doctree(text, settings_overrides={"warning_stream": stream, "halt_level": 6})
    lines = [line for line in stream.getvalue().splitlines() if re.match(r"<string>:\d+:", line)]
    found = Counter(re.sub(r"<string>:\d+:|\".*", "", line).strip() for line in lines)
    found["references"] = sum("refid" in node or "refuri" in node for node in tree.findall(nodes.reference))
    found["titles"] = sum(1 for _ in tree.findall(nodes.title))
    return found


def read_markdown(text: str) -> Counter[str]:
    """The links of a Markdown text, and its anchors that are dead, counted."""
    tokens = MarkdownIt().enable("table").parse(text)
    titles = {key_of(after.content) for before, after in pairwise(tokens) if before.type == "heading_open"}
    inline = [child for token in tokens for child in token.children or ()]
    targets = [str(_target(child)) for child in inline if child.type in ("link_open", "image")]
    dead = [each for each in targets if each.startswith("#") and key_of(each) not in titles]
    return Counter({"titles": len(titles), "dead": len(dead), **Counter(targets)})


def _target(token: Token) -> str | int | float | None:
    return token.attrGet("href") or token.attrGet("src")


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each document that differs, and a summary for each format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args(argv)
    corrector, draw = Corrector.from_pretrained(), random.Random(7)
    readers = {"rst": read_rst, "markdown": read_markdown}
    sums = {name: Counter[str]() for name in readers}
    for document in read_documents(options.folder):
        if document.format not in readers:
            continue
        plants = plant(document, draw)
        text, _ = apply_plants(document.text, plants)
        correction = corrector.correct(text, format=document.format)
        read = readers[document.format]
        before, after = read(text), read(correction.corrected)
        sums[document.format].update(files=1, planted=len(plants), edits=len(correction.edits), links=before.total())
        if before != after:
            sums[document.format]["changed"] += 1
            sys.stdout.write(f"{document.path}: gone {dict(before - after)}, new {dict(after - before)}\n")
    for name, counts in sums.items():
        sys.stdout.write(f"{name}: " + ", ".join(f"{key} {value}" for key, value in counts.items()) + "\n")


if __name__ == "__main__":
    main()
