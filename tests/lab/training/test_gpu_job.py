"""The rehearsal of the GPU job: a tiny recipe on the CPU, which ends by the clock."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import PROSE
from support.tiny_training import MODEL

from edit_gec.lab.training import course
from edit_gec.lab.training.recipe import read_recipe
from edit_gec.lab.training.trainer import checkpoints, update_of
from edit_gec.modeling.checkpoint import read_tensors

ROOT = Path(__file__).parents[3]
RECIPE = f"""name = "tiny"
vocabulary = 500
workers = 1
save_minutes = 0.05
{MODEL}
[[stage]]
name = "long"
layers = 1
pieces = 10_000_000
batch_pieces = 256
warmup = 10
decay = 0.3
predicted = 0.2
end = {{ predicted = 0.5 }}
ema = 0.9
"""


def job(place: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, str(ROOT / "profiles" / "training" / "gpu_job.py"), "--device", "cpu"]
    command += ["--recipe", str(place / "recipe" / "recipe.toml"), "--data", str(place / "data")]
    command += ["--runs", str(place / "runs"), "--output", str(place / "out"), *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.mark.slow
def test_a_training_that_ends_by_the_clock(tmp_path: Path) -> None:
    (tmp_path / "data" / "prose").mkdir(parents=True)
    shutil.copyfile(PROSE, tmp_path / "data" / "prose" / "some.txt")
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe" / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    result = job(tmp_path, "--minutes", "0.2")
    stage = tmp_path / "runs" / "tiny" / "long"
    assert Path(result["written"]) == tmp_path / "out" / "long" and result["shards"] == 1
    last = checkpoints(stage)[-1]
    lines = [json.loads(line) for line in (stage / "log.jsonl").read_text().splitlines()]
    rates = [line["learning_rate"] for line in lines if "learning_rate" in line]
    assert update_of(last) < course.steps(read_recipe(tmp_path / "recipe" / "recipe.toml").stages[0])
    if len(rates) > 5:  # a machine that is fast enough logs the decay, but how far it gets depends on the load
        assert rates[-1] < max(rates)
    model, parts = read_tensors(tmp_path / "runs" / "tiny" / "model"), read_tensors(tmp_path / "out" / "long")
    assert model.keys() == parts.keys()
    for name, tensor in read_tensors(stage).items():
        torch.testing.assert_close(parts[name], tensor.half())


def test_the_recipe_of_the_job() -> None:
    recipe = read_recipe(ROOT / "models" / "edit5-mini" / "recipe-4.toml")
    (stage,) = recipe.stages
    assert (stage.batch_pieces, stage.lr, recipe.workers, recipe.save_minutes) == (24576, 2e-3, 13, 3)
    assert course.learning_rate(course.steps(stage) - 1, stage) < 0.1, "the last part decays"
