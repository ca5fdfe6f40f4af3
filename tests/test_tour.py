"""The notebook edit_gec/tour.ipynb: what its cells show is what they give now."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytest.importorskip("onnxruntime")
from support.tour import code_cells, read, run

HINT = "if that is meant: cd tests && python -m support.tour"


def test_it_was_run_with_this_library() -> None:
    cells = code_cells(read())
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell, outputs in zip(cells, run(cells), strict=True):
        assert _comparable(cell["outputs"]) == _comparable(outputs), HINT
    assert sum(len(cell["outputs"]) for cell in cells) > len(cells) / 2


def _comparable(outputs: list[dict[str, Any]]) -> str:
    """Confidences differ a little between processors."""
    return re.sub(r"\d+%|0\.\d+", "%", json.dumps(outputs, ensure_ascii=False, sort_keys=True))
