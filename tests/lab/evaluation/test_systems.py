"""The names of systems: edit-gec alone, with a judge, and what is no system."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from support.tiny_causal import save_folder

from edit_gec.errors import InputError, ModelError
from edit_gec.lab.evaluation.systems import describe_system, is_ours, judge_of, load_corrector, run_system
from edit_gec.speculative.judge import KEY, JointScale

TEXTS = ["She go to school every days.", "They was late."]


@pytest.fixture
def judge(tmp_path: Path) -> str:
    """A judge that takes no change for right."""
    save_folder(tmp_path)
    path = tmp_path / "config.json"
    scale = asdict(JointScale(gain_slope=0.1, offset=-20.0))
    path.write_text(json.dumps({**json.loads(path.read_text()), KEY: scale, "prompt": "{source}\n"}))
    return str(tmp_path)


def test_a_judge_has_its_say(judge: str) -> None:
    alone, judged = run_system("edit-gec", TEXTS), run_system(f"edit-gec+{judge}", TEXTS)
    assert any(output.changes for output in alone) and not any(output.changes for output in judged)
    assert load_corrector(None, None, judge).predictor.summary() is not None
    assert describe_system(f"edit-gec+{judge}", None, None).startswith(describe_system("edit-gec", None, None) + "+")


def test_names() -> None:
    assert is_ours("edit-gec") and is_ours("edit-gec+smollm2") and not is_ours("edit-gec-old {in} {out}")
    assert judge_of("edit-gec+smollm2") == "smollm2" and judge_of("edit-gec") is None
    with pytest.raises(InputError, match=r"'edit-gec\+JUDGE', 'languagetool', 'harper', 'quire', 'none'"):
        run_system("a-tool", TEXTS)
    with pytest.raises(ModelError, match="no-such-judge"):
        run_system("edit-gec+no-such-judge", TEXTS)
