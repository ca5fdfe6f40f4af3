"""The engine of the page gives what the golden file says: any second one must give the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from support.engine_golden import GOLDEN, ask, texts
from support.live_server import LIMITS, serving

from edit_gec.corrector import Corrector

CLOSE = 0.005  # confidences; processors round differently
HINT = "if that is meant: cd tests && python -m support.engine_golden"


def test_the_server_is_such_an_engine() -> None:
    rows = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert [row["text"] for row in rows] == list(texts()), HINT
    with serving(Corrector.load(threads=1, precision="float32"), LIMITS) as address:
        for row in rows:
            found = ask(address, row["text"])
            assert [{**e, "confidence": 0} for e in found] == [{**e, "confidence": 0} for e in row["edits"]], HINT
            pairs = zip(found, row["edits"], strict=True)
            assert all(abs(a["confidence"] - b["confidence"]) < CLOSE for a, b in pairs), HINT
            units = row["text"].encode("utf-16-le")
            for edit in row["edits"]:
                assert units[2 * edit["start"] : 2 * edit["end"]].decode("utf-16-le") == edit["original"]
    assert sum(len(row["edits"]) for row in rows) > 30 and any(not row["edits"] for row in rows)


def test_the_names_of_strictness_are_thresholds_of_the_model() -> None:
    import httpx

    text = "Everybody know the answer. They left there coats in the car. He go home."
    corrector = Corrector.load(threads=1)
    with serving(corrector, LIMITS) as address:

        def ask_for(**how: object) -> Any:
            return httpx.post(f"{address}/v1/correct", json={"text": text, **how}, timeout=60)

        for name in ("sure", "low", "high"):
            named = corrector.presets[name]
            assert ask_for(strictness=name).json()["edits"] == ask_for(min_confidence=named).json()["edits"]
        assert ask_for(strictness="default").json()["edits"] == ask_for().json()["edits"]
        counts = [len(ask_for(strictness=name).json()["edits"]) for name in ("sure", "low", "default", "high")]
        assert counts == sorted(counts) and counts[0] < counts[-1]
        assert httpx.get(f"{address}/v1/info").json()["strictness"] == ["sure", "low", "default", "high"]
        both = ask_for(strictness="low", min_confidence=0.5)
        assert both.status_code == 400 and "expected one of them" in both.text
