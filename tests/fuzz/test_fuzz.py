"""A short run of each fuzz target: guided by coverage where atheris is installed, and by hypothesis anywhere."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from targets import SEEDS, TARGETS  # noqa: E402

SECONDS = 2


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
@pytest.mark.parametrize("name", TARGETS)
def test_guided_by_coverage(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "fuzz.py"), name, "--seconds", str(SECONDS), "--corpus", str(tmp_path / "corpus")],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:] + str([path.read_bytes() for path in tmp_path.glob("crash-*")])
    assert "Done " in done.stderr  # so many runs


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_any_bytes(name: str) -> None:
    target = TARGETS[name]
    mutated = st.sampled_from(SEEDS[name]).flatmap(
        lambda seed: st.tuples(st.integers(0, len(seed)), st.integers(0, 8), st.binary(max_size=8)).map(
            lambda change: seed[: change[0]] + change[2] + seed[change[0] + change[1] :]
        )
    )

    @settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
    @given(mutated | st.binary(max_size=300))
    def run(data: bytes) -> None:
        target(data)

    for seed in SEEDS[name]:
        run = example(seed)(run)
    run()
