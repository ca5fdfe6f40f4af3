"""The names of systems: edit-gec alone, with a judge, and what is no system."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from support.tiny_causal import save_folder

from edit_gec.errors import InputError, ModelError
from edit_gec.lab.evaluation.systems import ScoredSystem
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
    alone, judged = ScoredSystem("edit-gec"), ScoredSystem(f"edit-gec+{judge}")
    assert any(output.changes for output in alone.correct(TEXTS))
    assert not any(output.changes for output in judged.correct(TEXTS))
    assert judged.corrector.predictor.summary() is not None
    assert str(judged).startswith(f"{alone}+")


def test_names() -> None:
    ours = [ScoredSystem(name).is_ours for name in ("edit-gec", "edit-gec+smollm2", "edit-gec-old {in} {out}")]
    assert ours == [True, True, False]
    with pytest.raises(InputError, match=r"'edit-gec\+JUDGE', 'languagetool', 'harper', 'quire', 'none'"):
        ScoredSystem("a-tool").correct(TEXTS)
    with pytest.raises(ModelError, match="no-such-judge"):
        ScoredSystem("edit-gec+no-such-judge").correct(TEXTS)
