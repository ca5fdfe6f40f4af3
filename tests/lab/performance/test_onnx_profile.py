"""The profile of ONNX Runtime: what it counts, with and without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from edit_gec.cli.main import main
from edit_gec.tracing import STAGES

pytest.importorskip("onnxruntime")
TEXTS = ["She go to school yesterday becuase she were late.", "All is well here.", "I has two dog and an cat."]


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_stages_and_operators_add_up(precision: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "texts").write_text("\n".join(TEXTS), encoding="utf-8")
    how = ["--repeats", "2", "--out", str(tmp_path)]
    assert main(["profile", "--backend", f"onnx-{precision}", "--file", str(tmp_path / "texts"), *how]) == 0
    assert "encode" in capfd.readouterr().out
    (file,) = tmp_path.glob(f"*/edit5-mini-{precision}-onnx.json")
    result = json.loads(file.read_text(encoding="utf-8"))
    assert result["settings"]["dtype"] == precision and result["settings"]["texts"] == 3
    own = result["systems"]["edit5"]
    assert {stage["name"] for stage in own["stages"]} <= set(STAGES) and own["encoder_ms"] > 0
    encode = own["graphs"]["encode"]
    assert 1 <= encode["runs"] <= 2, "each text once, and again where it changed"
    assert own["graphs"]["decode"]["runs"] > 0
    for graph in own["graphs"].values():
        assert 0 < sum(graph["operators"].values()) <= 1.05 * graph["ms"]
    assert ("DynamicQuantizeMatMul" in encode["operators"]) == (precision == "int8")


def test_it_needs_no_torch() -> None:
    code = """
import sys
sys.modules["torch"] = None
from edit_gec.cli.main import main
how = ["--text", "She go home.", "--repeats", "1"]
sys.exit(main(["profile", "--backend", "onnx", *how]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "DynamicQuantize" in done.stdout or "MatMul" in done.stdout


@pytest.mark.parametrize("words", [["--device", "cuda"], ["--system", "t5"], ["--preset", "edit5-base"]])
def test_what_is_torchs(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["profile", "--backend", "onnx", *words])
    assert "are torch's" in capfd.readouterr().err
