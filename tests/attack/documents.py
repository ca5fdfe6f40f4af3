"""Random documents through the byte law: `python tests/attack/documents.py --documents 1000000 --seconds 3600`

A stand-in for the network changes every window at random places (deletes, replaces, inserts words, spaces, line breaks,
marks and broken characters); all else is the real path. Of every document: edits are in order, hold the text that they
replace, and all bytes outside them are identical; line breaks stay; no edit cuts a character; nothing protected is
touched. Documents are corrected in batches in random order, so that mixed-up ones would show. With the other line ends
(CRLF for LF) a document is corrected in the same way. Prints counts every 10,000 documents; status 1 and the document
where a law breaks.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from edit_gec.corrector import Corrector
from edit_gec.editing.predictor import EdiT5Predictor, Window, WindowChanges
from edit_gec.modeling.tokenizer import Pieces
from edit_gec.text.correction import Correction
from edit_gec.text.edits import Change
from edit_gec.text.formats import UNDERSTOOD
from edit_gec.text.paragraphs import LINE_BREAK
from edit_gec.text.words import breaks_character

PROSE = (Path(__file__).parent.parent.parent / "data" / "samples" / "prose.txt").read_text(encoding="utf-8").split()
PARTS = [*"\n\n\n\r\t.!?*_`[](){}<>|#-~$\\\"'“”:;/@%&=+^0 \u00a0\u2028\u2029\v\f\x85\x1c\u0301é中。😀\u200d\u202e"]
PARTS += [
    "\r\n",
    "\n\n",
    "\n> ",
    "- ",
    "1. ",
    "# ",
    "```\n",
    "<!--",
    "-->",
    "<b>",
    "</b>",
    "**",
    "](x)",
    "[^1]",
    "![",
    "$$",
]
PARTS += [
    "cafe\u0301 ",
    "👩\u200d🚒",
    "🇩🇪",
    "각",
    "http://a.b/c ",
    "x@y.org",
    "foo_bar ",
    "3.5 kg ",
    "can not ",
    "the the ",
    "e.g. ",
]
PARTS += [
    ".. note::\n\n   ",
    ":ref:`a`",
    "====\n",
    "#+BEGIN_SRC\n",
    "\\begin{align}",
    "\\end{align}",
    "\\emph{",
    "| a | b |\n",
]
PARTS += ["\ud800", "\ufeff", "</s>", "<extra_id_3>", "    x = 1;\n", "---\n", "\\\n"]
WRITTEN = [
    "",
    "",
    " ",
    "the ",
    " a",
    "x",
    "I",
    ".",
    ",",
    " one two",
    "\n",
    "\u2028",
    "\u0301",
    "\u200d",
    "😀",
    "é",
    "\ufffd",
    "**",
    "`",
]

FORMATS = [*(name for name in UNDERSTOOD if name != "code"), "python", "c"]


class Editor(EdiT5Predictor):
    """Changes every window at places that depend on its text only."""

    def predict(self, windows: Sequence[Window]) -> list[WindowChanges]:
        return [WindowChanges(tuple(self.changes(window.pieces))) for window in windows]

    def changes(self, window: Pieces) -> list[Change]:
        chance = random.Random(repr(window.ids))
        places = sorted({*window.starts, window.ends[-1]})
        if chance.random() < 0.3:
            places = list(range(window.starts[0], window.ends[-1] + 1))  # also inside of pieces
        chosen = sorted(chance.sample(places, min(len(places), 2 * chance.randrange(1, 4))))
        return [
            Change(start, end if chance.random() < 0.7 else start, chance.choice(WRITTEN), chance.random())
            for start, end in zip(chosen[::2], chosen[1::2], strict=False)
        ]


def random_document(chance: random.Random) -> str:
    parts = (chance.choice(PARTS) if chance.random() < 0.4 else chance.choice(PROSE) + " " for _ in range(60))
    return "".join(part for part, _ in zip(parts, range(chance.randrange(1, 60)), strict=False))


def check(text: str, correction: Correction) -> int:
    """Raise AssertionError unless all laws hold; the number of edits."""
    assert correction.text == text
    done, parts = 0, []
    for edit in correction.edits:
        assert done <= edit.start <= edit.end <= len(text)
        assert edit.original == text[edit.start : edit.end] != edit.replacement
        assert LINE_BREAK.findall(edit.original) == LINE_BREAK.findall(edit.replacement)
        assert not breaks_character(text, edit.start, edit.end, edit.replacement)
        parts += [text[done : edit.start], edit.replacement]
        done = edit.end
    corrected = "".join([*parts, text[done:]])
    assert corrected.encode(errors="surrogatepass") == correction.corrected.encode(errors="surrogatepass")
    return len(correction.edits)


def check_line_ends(editor: Corrector, texts: Sequence[str], kinds: Sequence[str], *, lines: bool) -> None:
    """Raise AssertionError unless documents with LF and with CRLF are corrected alike."""
    ends = [re.sub(r"\r\n?", "\n", text) for text in texts]
    others = [text.replace("\n", "\r\n") for text in ends]
    ours, theirs = (editor.correct_batch(each, lines=lines, formats=kinds) for each in (ends, others))
    for own, other, kind in zip(ours, theirs, kinds, strict=True):
        assert own.corrected.replace("\n", "\r\n") == other.corrected, f"{kind}: {own.text!r}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--first", type=int, default=0, help="number of the first document")
    parser.add_argument("--model", default="edit5-mini")
    arguments = parser.parse_args()
    real = Corrector.load(arguments.model, threads=1)
    editor = real.with_predictor(Editor(**vars(real.edit5)))
    begun, tried, edits, edited, size = time.monotonic(), 0, 0, 0, 0
    while tried < arguments.documents and time.monotonic() - begun < arguments.seconds:
        chance = random.Random(arguments.first + tried)
        texts = [random_document(chance) for _ in range(50)]
        kinds = [chance.choice(FORMATS) for _ in texts]
        lines = chance.random() < 0.3
        corrections = editor.correct_batch(texts, lines=lines, formats=kinds)
        for text, kind, correction in zip(texts, kinds, corrections, strict=True):
            try:
                made = check(text, correction)
            except AssertionError:
                print(f"FAIL {kind} lines={lines}: {text!r} -> {correction.edits}")
                return 1
            edits, edited, size = edits + made, edited + bool(made), size + len(text.encode(errors="surrogatepass"))
        try:
            check_line_ends(editor, texts, kinds, lines=lines)
        except AssertionError as error:
            print(f"FAIL with CRLF: lines={lines} {error}")
            return 1
        tried += len(texts)
        if tried % 10_000 == 0:
            print(f"{tried:,} documents, {size:,} bytes, {edited:,} edited, {edits:,} edits", flush=True)
    print(
        f"{tried:,} documents, {size:,} bytes, {edited:,} edited, {edits:,} edits, "
        f"{time.monotonic() - begun:.0f} s: 0 lost, 0 mixed, 0 crashes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
