"""The recipes of the documentation, run as they stand there."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from support.corpus_cli import ENVIRONMENT, write_jsonl

pytestmark = pytest.mark.slow
README = Path(__file__).parents[2] / "edit_gec" / "corpus" / "README.md"
VALUES = [{"id": str(n), "text": f"I like teh garden of day {n}."} for n in range(20)]


def run(recipe: int, folder: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (folder / "recipe.py").write_text(blocks[recipe], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "recipe.py"],
        cwd=folder,
        env={**ENVIRONMENT, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def check(rows: list[dict[str, object]]) -> None:
    assert sorted((str(row["id"]), row["text"]) for row in rows) == sorted((v["id"], v["text"]) for v in VALUES)
    assert all("the garden" in str(row["corrected"]) and "teh" in json.dumps(row["edits"]) for row in rows)


@pytest.mark.skipif(
    importlib.util.find_spec("pyspark") is None or shutil.which("java") is None, reason="needs pyspark and java"
)
def test_spark(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(VALUES), tmp_path / "in" / "a.parquet")
    run(0, tmp_path)
    check(
        [row for path in (tmp_path / "out").glob("*.parquet") for row in pyarrow.parquet.read_table(path).to_pylist()]
    )


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("datatrove", "orjson")), reason="needs datatrove[io]"
)
def test_datatrove(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in" / "a.jsonl", VALUES[:12])
    write_jsonl(tmp_path / "in" / "b.jsonl", VALUES[12:])
    run(1, tmp_path)
    lines = [line for path in (tmp_path / "out").iterdir() for line in path.read_text().splitlines()]
    check([{**json.loads(line), **json.loads(line)["metadata"]} for line in lines])
