"""Systems side by side; the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.lab.performance import results
from edit_gec.lab.performance.setup import Setup
from edit_gec.lab.performance.side_by_side import Effort, TimedSentences, measure_side_by_side


def test_batches_are_of_similar_length() -> None:
    sample = TimedSentences(["ccc", "a", "bb", "dddd", "e"], [3, 1, 2, 4, 1], repeats=1, device="cpu")
    assert sample.batches(2) == [["a", "e"], ["bb", "ccc"], ["dddd"]]


@pytest.mark.slow
def test_side_by_side(given: Setup, sentences: list[str]) -> None:
    only = ["transformers", "transformers assisted", "t5", "edit5", "edit5 + t5"]
    said: list[str] = []
    effort = Effort(only=only, batches=(1, 4), repeats=1)
    result = measure_side_by_side(replace(given, assistant=""), sentences, effort, said.append)
    assert set(result["skipped"]) == {"transformers assisted"}
    assert set(result["systems"]) == set(only) - set(result["skipped"])
    assert any(line.startswith("left out: transformers assisted") for line in said)
    for name, row in result["systems"].items():
        assert len(row["latency"]["sentences"]) == len(sentences), name
        assert 0 < row["latency"]["p50_s"] <= row["latency"]["p95_s"]
        assert set(row["throughput"]) == {"1", "4"} and min(row["throughput"].values()) > 0
    rows = result["systems"]
    assert rows["t5"]["same_output"] == rows["transformers"]["same_output"] == 1.0
    assert not rows["t5"]["replayed"]
    with pytest.raises(InputError, match="size huge: expected shipped or base"):
        measure_side_by_side(given, sentences, Effort(size="huge"))


@pytest.mark.slow
def test_the_command(given: Setup, sentences: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("\n".join(sentences), encoding="utf-8")
    common = ["--model", given.model, "--target", given.target, "--file", str(tmp_path / "text.txt"),
              "--out", str(tmp_path), "--threads", "1", "--repeats", "1"]  # fmt: skip
    only = ["--only", "t5", "--only", "edit5", "--batch", "1"]
    assert main(["bench", *common, *only]) == 0
    (path,) = tmp_path.glob("*/bench-shipped.json")
    assert "| t5 |" in capfd.readouterr().out
    written = results.read_result(path)
    assert written["sentences"] == len(sentences) and str(tmp_path) not in written["command"]
    assert set(written["systems"]) == {"t5", "edit5"} and torch.get_num_threads() == 1
    assert main(["bench", *common, "--only", "nobody"]) == 2
