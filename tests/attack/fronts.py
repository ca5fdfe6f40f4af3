"""The same edits in every front, with the real network: `python tests/attack/fronts.py --texts 200`

Texts in seven formats, with errors, emoji, CRLF, tabs and combining marks, are corrected by `edit-gec correct`, by the
server (`/v1/correct`, `/v2/check`) and by the language server in the editors whose offsets are UTF-8, UTF-16 and code
points. Offsets are applied in their own units. Prints counts; status 1 where a result differs from the corrector's.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "lsp"))
from support.live_server import serving
from test_lsp import PROFILES, Editor

from edit_gec.catalog import find_model
from edit_gec.corrector import Corrector
from edit_gec.server.middleware import Limits
from edit_gec.text.edits import spans

SUFFIXES = {
    "markdown": ".md", "rst": ".rst", "latex": ".tex", "html": ".html", "asciidoc": ".adoc", "org": ".org",
    "text": ".txt",
}  # fmt: skip
PIECES = [
    "She go home becuase its late.", "I recieve teh letter, 🏠 and he dont know it.", "They was tired , and him too.",
    "Cafe\u0301s is open\u00a0here.", "A tab\tstand here.", "We has `code` and *stress* in it.", "It is right.",
]  # fmt: skip


def make_texts(count: int) -> list[tuple[str, str]]:
    """(format, text)."""
    chance = random.Random(5)
    texts = []
    for n in range(count):
        end = chance.choice(["\n", "\r\n"])
        lines = (" ".join(chance.choices(PIECES, k=chance.randrange(1, 4))) for _ in range(chance.randrange(1, 6)))
        texts.append(([*SUFFIXES][n % len(SUFFIXES)], (2 * end).join(lines) + f" Number {n} are last.{end}"))
    return texts


def apply_units(text: str, edits: list[tuple[int, int, str]], encoding: str) -> str:
    """The text after edits whose offsets count code units of an encoding."""
    size = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}[encoding]
    data = text.encode(encoding)
    for start, end, new in reversed(edits):
        data = data[: start * size] + new.encode(encoding) + data[end * size :]
    return data.decode(encoding)


def ask_server(client: httpx.Client, format: str, text: str, edits: int, found: Counter[str], right: str) -> None:
    answer = client.post("/v1/correct", json={"text": text, "format": format}).json()
    found["/V1/CORRECT DIFFERS"] += answer["corrected"] != right
    for unit, encoding in (("", "utf-32-le"), ("_utf8", "utf-8"), ("_utf16", "utf-16-le")):
        given = [(each[f"start{unit}"], each[f"end{unit}"], each["replacement"]) for each in answer["edits"]]
        found[f"/v1/correct IN ITS UNITS{unit} DIFFERS".upper()] += apply_units(text, given, encoding) != right
    matches = client.post("/v2/check", data={"text": text, "language": "en", "format": format}).json()["matches"]
    found["/V2/CHECK HAS OTHER EDITS"] += len(matches) != edits
    given = [(m["offset"], m["offset"] + m["length"], m["replacements"][0]["value"]) for m in matches]
    found["/V2/CHECK DIFFERS"] += apply_units(text, given, "utf-16-le") != right


def ask_editor(editor: Editor, format: str, text: str, edits: int, found: Counter[str], right: str) -> None:
    diagnostics = editor.open(text, format, f"notes{SUFFIXES[format]}")
    found["LANGUAGE SERVER HAS OTHER EDITS"] += len(diagnostics) != edits
    if edits:
        (action,) = editor.actions(editor.range(0, 0), ["source.fixAll"])
        found["LANGUAGE SERVER DIFFERS"] += editor.applied(action.edit) != right
    editor.shut()


def ask_command(folder: Path, texts: list[tuple[str, str]], rights: list[Any], found: Counter[str]) -> None:
    """All texts in one call, as JSON and in place."""
    paths = [folder / f"{n}{SUFFIXES[format]}" for n, (format, _) in enumerate(texts)]
    for path, (_, text) in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    command = [sys.executable, "-m", "edit_gec", "correct", "--isolated", "--threads", "1"]
    done = subprocess.run([*command, "--format", "jsonl", *paths], capture_output=True, text=True, cwd=folder)
    for line, (_, text), right in zip(done.stdout.split("\n"), texts, rights, strict=False):
        expected = [(edit.start, edit.end, start.utf8, end.utf16) for edit, start, end in spans(text, right.edits)]
        given = [(e["start"], e["end"], e["start_utf8"], e["end_utf16"]) for e in json.loads(line)["edits"]]
        found["COMMAND HAS OTHER EDITS"] += given != expected
    subprocess.run([*command, "-qw", *paths], check=True, cwd=folder)
    for path, right in zip(paths, rights, strict=True):
        found["WRITTEN FILE DIFFERS"] += path.read_bytes() != right.corrected.encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=200)
    texts = make_texts(parser.parse_args().texts)
    corrector = Corrector.load(threads=1)
    rights = [corrector.correct(text, format=format) for format, text in texts]
    found = Counter({"texts": len(texts), "edits": sum(len(right.edits) for right in rights)})
    with tempfile.TemporaryDirectory() as place:
        ask_command(Path(place), texts, rights, found)
        with serving(corrector, Limits()) as address, httpx.Client(base_url=address, timeout=120) as client:
            for (format, text), right in zip(texts, rights, strict=True):
                ask_server(client, format, text, len(right.edits), found, right.corrected)
        for profile in PROFILES:
            folder = Path(place) / profile
            folder.mkdir()
            editor = Editor(profile, find_model("edit5-mini"), folder, "--fix-all-confidence", "0")
            for (format, text), right in zip(texts, rights, strict=True):
                ask_editor(editor, format, text, len(right.edits), found, right.corrected)
            editor.close()
    print(", ".join(f"{count:,} {what}" for what, count in sorted(found.items())))
    return int(any(count and what.isupper() for what, count in found.items()))


if __name__ == "__main__":
    sys.exit(main())
