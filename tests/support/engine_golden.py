"""Texts and the edits that any engine of the page must give (edit_gec/server/page/engine.js): writes the golden file.

    cd tests && python -m support.engine_golden      # after the model or its thresholds changed; look at the difference

The texts are every eighth of tests/robustness, and some whose positions are hard. Products are in float32: their
confidences are the same on every processor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "golden" / "engine.json"
FILES = ("correct", "leave_alone", "obvious")
HARD = (
    "🏠 She go home 👩‍🚒 becuase its late.",
    "# A heading\n\nHe dont know `go becuase`.\r\n\r\n- its raining\n- I has **recieved** it.\n",
    "",
    "Café am Meer: they was there , to.",
)
FIELDS = ("original", "replacement", "confidence", "type")


def texts() -> Iterator[str]:
    """The texts of the golden file, in order."""
    for name in FILES:
        lines = (TESTS / "robustness" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        yield from (json.loads(line)["text"] for line in lines[::8])
    yield from HARD


def ask(address: str, text: str) -> list[dict[str, Any]]:
    """The edits that the server streams for a text, as the page reads them."""
    answer = httpx.post(f"{address}/v1/correct/stream", json={"text": text, "explain": True}, timeout=60)
    found = [json.loads(line) for line in answer.text.split("\n") if line]
    edits = [edit for sentence in found if "edits" in sentence for edit in sentence["edits"]]
    return [{"start": e["start_utf16"], "end": e["end_utf16"], **{name: e[name] for name in FIELDS}} for e in edits]


def main() -> None:
    """Write the file."""
    from edit_gec.corrector import Corrector
    from support.live_server import LIMITS, serving

    with serving(Corrector.load(threads=1, precision="float32"), LIMITS) as address:
        rows = [{"text": text, "edits": ask(address, text)} for text in texts()]
    GOLDEN.parent.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    GOLDEN.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
