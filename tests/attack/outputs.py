"""What becomes of n edits takes time in proportion to n. `python tests/attack/outputs.py`

Every form of output, every filter and every answer is made of texts with n edits: on n lines, and all on one line, with
characters that take one unit and several. Prints seconds of processor time (the least of three) for the larger of two
sizes, and the exponent of growth between them; for bytes of output as well. Status 1 above `--exponent`.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from lsprotocol import types

from edit_gec.cli.old_sentences import find_keys
from edit_gec.lsp import actions
from edit_gec.lsp.documents import Document, Mark, move_marks
from edit_gec.lsp.user_dictionary import correction_key
from edit_gec.runtime.async_corrector import SentenceResult
from edit_gec.server import languagetool
from edit_gec.server.app import _to_json_line
from edit_gec.server.matches import merge_matches
from edit_gec.server.schema import to_messages
from edit_gec.text import render
from edit_gec.text.correction import Correction, assemble
from edit_gec.text.edit_filter import EditFilter
from edit_gec.text.edits import Edit, Places, resolve_overlaps
from edit_gec.text.kinds import parse_names
from edit_gec.text.language_id import Language
from edit_gec.text.rdjson import rdjson
from edit_gec.text.sentences import split

UNITS = {
    "lines": "I teh cat.\n",
    "one line": "I teh cat, ",
    "one line, wide": "😀 é teh cat, ",
    "directives": "edit-gec: ignore\nI teh.\n",
}
EXPONENT = 1.1
LEAST_S = 0.05  # shorter times say nothing
read = lru_cache(maxsize=1)(split)  # growth.py measures it
Make = Callable[[str, Sequence[Edit]], Any]


def make_text(unit: str, n: int) -> tuple[str, list[Edit]]:
    """A text of n units, and an edit in each."""
    at = unit.index("teh")
    starts = (k * len(unit) + at for k in range(n))
    return unit * n, [Edit(start, start + 3, "teh", "the", 0.9, kind="spelling") for start in starts]


def answer(text: str, edits: Sequence[Edit]) -> Any:
    """The body of /v2/check."""
    asked = languagetool.parse_request({"text": text, "language": "en-US"})
    spans = [(start, start + 10) for start in range(0, len(text) - 10, 10)]
    return languagetool.build_answer(asked, edits, spans, version="1", detected=Language("en", "English", 0.9))


def merged(text: str, edits: Sequence[Edit]) -> Any:
    """The matches of two servers."""

    def match(offset: int) -> dict[str, Any]:
        return {"offset": offset, "length": 3, "replacements": [{"value": "the"}], "rule": {}}

    return merge_matches([match(each.start) for each in edits], [match(each.start + 1) for each in edits])


def stream(text: str, edits: Sequence[Edit]) -> list[bytes]:
    """The lines of /v1/correct/stream, of a sentence each."""
    places = Places(text)
    return [_to_json_line(places, SentenceResult(each.start, each.end, (each,), (), ())) for each in edits]


def diagnostics(text: str, edits: Sequence[Edit], encoding: types.PositionEncodingKind) -> Any:
    """All that an editor is sent, and all fixes at once, after a change at the beginning."""
    from pygls.workspace import PositionCodec

    document = Document("file:///a.md", text, 1, "markdown", position_codec=PositionCodec(encoding))
    sentence = text[:50_000]
    marks = tuple(Mark(e.start, e.end, e.replacement, e, correction_key(sentence, e.start, e)) for e in edits)
    marks = move_marks(marks, text, 0, 0, "")
    found = [actions.make_diagnostic(document, mark, "warning") for mark in marks]
    return [found, actions.make_fix_all(document, marks, 0.5, types.ClientCapabilities())]


FORMS: dict[str, Make] = {
    "corrected text": lambda text, edits: assemble(text, edits).corrected,
    "overlaps": lambda text, edits: resolve_overlaps([*edits, *edits]),
    "--diff": lambda text, edits: render.unified_diff("a.md", text, edits),
    "--inline": render.inline,
    "html": render.html,
    "findings, --check": lambda text, edits: render.notes("a.md", text, edits[::2], edits[1::2]),
    "json": lambda text, edits: json.dumps(render.as_json("a.md", text, edits)),
    "sarif": lambda text, edits: Correction(text, "", tuple(edits)).to_sarif("a.md"),
    "github": lambda text, edits: render.github("a.md", text, edits),
    "rdjsonl": lambda text, edits: json.dumps(list(rdjson("a.md", text, edits))),
    "to_dict, utf16": lambda text, edits: Correction(text, "", tuple(edits)).to_dict("utf16"),
    "baseline": lambda text, edits: find_keys(read(text), edits),
    "words, kinds": lambda text, edits: list(
        filter(EditFilter(frozenset(["cat"]), parse_names(["case"])).on(text), edits)
    ),
    "ignore-regex": lambda text, edits: list(filter(EditFilter(patterns=("teh", r"\w+ cat")).on(text), edits)),
    "/v2/check": lambda text, edits: json.dumps(answer(text, edits)),
    "two servers": merged,
    "/v1/correct": to_messages,
    "/v1/correct/stream": stream,
    "editor, utf-16": lambda text, edits: diagnostics(text, edits, types.PositionEncodingKind.Utf16),
    "editor, utf-8": lambda text, edits: diagnostics(text, edits, types.PositionEncodingKind.Utf8),
}


def seconds(make: Make, text: str, edits: Sequence[Edit], repeats: int) -> tuple[float, int]:
    """The least processor time, and the size of what is made, 0 for what is no text."""
    times = []
    size = 0
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        begun = time.process_time()
        made = make(text, edits)
        times.append(time.process_time() - begun)
        gc.enable()
        size = len(made) if isinstance(made, str) else 0
    return min(times), size


def measure(make: Make, unit: str, n: int, repeats: int = 3) -> tuple[float, float, float]:
    """Seconds for n edits, and the exponents of time and size from an eighth of them."""
    (few, small), (many, large) = (seconds(make, *make_text(unit, k), repeats) for k in (n // 8, n))
    exponent = math.log(many / max(few, 1e-6), 8) if many > LEAST_S else 0.0
    return many, exponent, math.log(large / small, 8) if small else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=32_000)
    parser.add_argument("--form", action="append", choices=FORMS)
    parser.add_argument("--exponent", type=float, default=EXPONENT)
    arguments = parser.parse_args()
    tried = failed = 0
    for name in arguments.form or FORMS:
        for shape, unit in UNITS.items():
            took, exponent, size = measure(FORMS[name], unit, arguments.edits)
            bad = max(exponent, size) > arguments.exponent
            tried, failed = tried + 1, failed + bad
            growth = f"{took:5.2f} s  n ** {exponent:.2f}  bytes ** {size:.2f}"
            print(f"{'FAIL' if bad else 'ok':4} {name:20} {shape:15} {growth}", flush=True)
    print(f"{tried} tables of edits, {failed} over n ** {arguments.exponent}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
