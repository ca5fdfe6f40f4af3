"""Runs the notebook edit_gec/tour.ipynb and writes what its cells show; no Jupyter is needed.

cd tests && python -m support.tour      # after the model or its thresholds changed; look at the difference
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[2] / "edit_gec" / "tour.ipynb"
Output = dict[str, Any]  # of a cell, in the form of notebooks


def read() -> dict[str, Any]:
    """The notebook."""
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text("utf-8"))
    return notebook


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Its cells with code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(cells: list[dict[str, Any]]) -> list[list[Output]]:
    """What each cell shows: what it prints, and its last value or its error."""
    names: dict[str, Any] = {}
    return [_run(number, "".join(cell["source"]), names) for number, cell in enumerate(cells, start=1)]


def _run(number: int, source: str, names: dict[str, Any]) -> list[Output]:
    *body, last = ast.parse(source).body
    printed = io.StringIO()
    shown: list[Output] = []
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(ast.Module(body, []), "cell", "exec"), names)
            if not isinstance(last, ast.Expr):
                exec(compile(ast.Module([last], []), "cell", "exec"), names)
            elif (value := eval(compile(ast.Expression(last.value), "cell", "eval"), names)) is not None:
                shown.append(_show(number, value))
        except ValueError as error:
            name, said = type(error).__name__, str(error)
            shown.append({"ename": name, "evalue": said, "output_type": "error", "traceback": [f"{name}: {said}"]})
    text = printed.getvalue()
    stream = [{"name": "stdout", "output_type": "stream", "text": _lines(text)}] if text else []
    return [*stream, *shown]


def _show(number: int, value: Any) -> Output:
    data = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        data = {"text/html": _lines(value._repr_html_()), **data}
    return {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Run it and write it."""
    notebook = read()
    cells = code_cells(notebook)
    for number, (cell, outputs) in enumerate(zip(cells, run(cells), strict=True), start=1):
        cell.update(execution_count=number, outputs=outputs)
    NOTEBOOK.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
