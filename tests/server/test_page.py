"""The page in a real browser: by keyboard, at phone width, light and dark, with no request to anybody else."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("playwright")
from support import live_server
from support.live_server import serving

from edit_gec.corrector import Corrector

SCRIPT = Path(__file__).parents[2] / "profiles" / "serve" / "page.py"


@pytest.mark.slow
def test_the_page(make_model: Any, tokens: Any, tmp_path: Path) -> None:
    if not os.path.exists("/usr/bin/chromium"):
        pytest.skip("Debian's chromium is not installed")
    if not SCRIPT.exists():
        pytest.skip("profiles/ is not in this distribution")
    corrector = Corrector.load(live_server.save(make_model, tokens, tmp_path), threads=1)
    with serving(corrector) as address:
        runpy.run_path(str(SCRIPT))["main"](f"{address}/", tmp_path / "shots")
    assert {path.name for path in (tmp_path / "shots").iterdir()} == {
        "light.png", "dark.png", "phone.png", "phone-dark.png",
    }  # fmt: skip
    assert all(os.path.getsize(path) > 10_000 for path in (tmp_path / "shots").iterdir())
