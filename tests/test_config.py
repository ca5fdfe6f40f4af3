"""[tool.edit-gec]: found from the files upwards, checked key by key."""

from __future__ import annotations

from pathlib import Path

import pytest

from edit_gec import config
from edit_gec.errors import InputError


def _project(folder: Path, table: str) -> Path:
    (folder / "docs" / "deep").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f"[project]\nname = 'x'\n[tool.edit-gec]\n{table}\n")
    return folder / "docs" / "deep"


def test_nearest_with_our_table_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = _project(tmp_path, "min-confidence = 0.8\nexclude = ['vendor']")
    (tmp_path / "docs" / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    for paths in ([str(deep)], [str(deep / "a.txt"), str(tmp_path / "docs" / "b.txt")]):
        found = config.nearest(paths)
        assert found == config.Settings(min_confidence=0.8, exclude=("vendor",), root=str(tmp_path))
    monkeypatch.chdir(deep)
    assert config.nearest([]).min_confidence == 0.8
    assert config.nearest(["a.txt"]).min_confidence == 0.8


def test_words_listed_or_in_a_file(tmp_path: Path) -> None:
    deep = _project(tmp_path, "dictionary = 'docs/words.txt'")
    (tmp_path / "docs" / "words.txt").write_text("kubectl\r\n\r\n  Grafana \nzwei Wörter\n")
    assert config.nearest([str(deep)]).dictionary == ("kubectl", "Grafana", "zwei Wörter")
    assert config.parse({"dictionary": ["kubectl"]}, "p").dictionary == ("kubectl",)


def test_a_model_folder_is_relative_to_the_file_and_a_name_stays_a_name(tmp_path: Path) -> None:
    deep = _project(tmp_path, "model = 'docs/deep'")
    assert config.nearest([str(deep)]).model == str(deep)
    assert config.parse({"model": "edit5-mini"}, str(tmp_path / "pyproject.toml")).model == "edit5-mini"


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("min-confidence = 80", "min-confidence must be a number from 0 to 1, not 80"),
        ("min-confidence = true", "min-confidence must be a number"),
        ("min-confidence = nan", "min-confidence must be a number"),
        ("confidence = 0.8", "has no setting 'confidence'; it knows dictionary, min-confidence, exclude, model"),
        ("exclude = 'vendor'", "exclude must be a list of strings"),
        ("dictionary = [1]", "dictionary must be a list of strings"),
        ("dictionary = 'no-such-file'", "no-such-file: cannot read"),
        ("model = 1", "model must be a name or a folder"),
        ("this is not TOML", "pyproject.toml: not TOML"),
    ],
)
def test_wrong_settings_are_one_line_that_names_the_file(tmp_path: Path, table: str, complaint: str) -> None:
    deep = _project(tmp_path, table)
    with pytest.raises(InputError, match=complaint) as caught:
        config.nearest([str(deep)])
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)
