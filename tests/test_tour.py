"""The notebook edit_gec/tour.ipynb: what its cells show is what they give now.

If a new model changes that, run it again: jupyter nbconvert --to notebook --execute --inplace edit_gec/tour.ipynb
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnxruntime")
NOTEBOOK = Path(__file__).parent.parent / "edit_gec" / "tour.ipynb"
CELLS = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def run(source: str, names: dict[str, Any]) -> list[str]:
    """What a notebook shows of a cell: what it prints, and its last value or its error."""
    *body, last = ast.parse(source).body
    printed, shown = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(ast.Module(body, []), "cell", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
                if value is not None:
                    shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
            else:
                exec(compile(ast.Module([last], []), "cell", "exec"), names)
        except ValueError as error:
            shown.append(f"{type(error).__name__}: {error}")
    return [text for text in (printed.getvalue(), *shown) if text]


def stored(cell: dict[str, Any]) -> list[str]:
    """The same of what the notebook holds."""
    found = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        lines = output.get("text") or data.get("text/html") or data.get("text/plain")
        found.append("".join(lines) if lines else f"{output['ename']}: {output['evalue']}")
    return ["".join(found)] if all("text" in output for output in cell["outputs"]) and found else found


def test_it_was_run_with_this_library() -> None:
    assert [cell["execution_count"] for cell in CELLS] == list(range(1, len(CELLS) + 1))
    names: dict[str, Any] = {}
    for cell in CELLS:
        now, then = run("".join(cell["source"]), names), stored(cell)
        assert [_without_shares(text) for text in now] == [_without_shares(text) for text in then]
    assert sum(len(cell["outputs"]) for cell in CELLS) > len(CELLS) / 2


def _without_shares(text: str) -> str:
    """Confidences differ a little between processors."""
    return re.sub(r"\d+%", "%", text)
