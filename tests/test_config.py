"""Settings files: found from the files upwards, checked key by key, added up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edit_gec.config.projects import NAMES, Projects
from edit_gec.config.settings import KEYS, Settings, parse
from edit_gec.config.user_words import WatchedLineFile
from edit_gec.errors import InputError


def project(folder: Path, table: str, name: str = "pyproject.toml") -> Path:
    """A deep folder below one with these settings."""
    (folder / "docs" / "deep").mkdir(parents=True, exist_ok=True)
    head = "[project]\nname = 'x'\n[tool.edit-gec]\n" if name == "pyproject.toml" else ""
    (folder / name).write_text(f"{head}{table}\n")
    return folder / "docs" / "deep"


def isolated(folder: Path) -> Projects:
    return Projects(own=WatchedLineFile(folder / "no-words.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_the_nearest_with_our_settings_wins(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = project(tmp_path, "min-confidence = 0.8\nexclude = ['vendor']", name)
    (tmp_path / "docs" / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    expected = Settings(min_confidence=0.8, exclude=("vendor",), root=str(tmp_path))
    projects = isolated(tmp_path)
    for path in (deep, deep / "a.txt", tmp_path / "docs" / "b.txt"):
        assert projects.find_settings(str(path)) == expected
    assert projects.find_shared_settings([str(deep / "a.txt"), str(tmp_path / "docs" / "b.txt")]) == expected
    monkeypatch.chdir(deep)
    assert (
        projects.find_settings("") == projects.find_settings("a.txt") == projects.find_shared_settings([]) == expected
    )
    (tmp_path / "docs" / ".edit-gec.toml").write_text("dialect = 'en-GB'")
    assert projects.find_settings(str(deep)) == Settings(dialect="en-GB", root=str(tmp_path / "docs")), (
        "it hides those above"
    )


def test_the_order_of_names_and_other_files(tmp_path: Path) -> None:
    for number, name in enumerate(reversed(NAMES)):
        project(tmp_path, f"min-confidence = 0.{number + 1}", name)
        assert isolated(tmp_path).find_settings(str(tmp_path)).min_confidence == float(f"0.{number + 1}")
    (tmp_path / "other.toml").write_text("ignore = ['case']")
    given = Projects(str(tmp_path / "other.toml"))
    assert given.find_settings(str(tmp_path)) == Settings(ignore=("case",), root=str(tmp_path))
    assert Projects(isolated=True).find_settings(str(tmp_path)) == Settings()
    with pytest.raises(InputError, match=r"no\.toml: cannot read"):
        Projects(str(tmp_path / "no.toml")).find_settings("")


def test_words_listed_or_in_a_file(tmp_path: Path) -> None:
    deep = project(tmp_path, "dictionary = 'docs/words.txt'")
    words = tmp_path / "docs" / "words.txt"
    words.write_text("kubectl\r\n\r\n  Grafana \nzwei Wörter\n")
    projects = isolated(tmp_path)
    found = projects.find_settings(str(deep))
    assert found.dictionary == ("kubectl", "Grafana", "zwei Wörter") and found.words_file == str(words)
    words.write_text("one more\n")
    os.utime(words, ns=(1, 1))
    assert projects.find_settings(str(deep)).dictionary == ("one more",), (
        "a dictionary is read again when it has changed"
    )
    assert parse({"dictionary": ["kubectl"]}, "p").dictionary == ("kubectl",)


def test_the_users_words_come_first_and_what_is_asked_wins(tmp_path: Path) -> None:
    deep = project(tmp_path, "dictionary = ['b']\nignore = ['case']\nmin-confidence = 0.8\ndialect = 'en-GB'")
    own = WatchedLineFile(tmp_path / "words.txt")
    own.add("a")
    asked = Settings(dictionary=("c",), ignore=("PUNCT",), min_confidence=0.1, model="m")
    found = Projects(own=own, asked=asked).find_settings(str(deep))
    assert (found.dictionary, found.ignore) == (("a", "b", "c"), ("case", "PUNCT"))
    assert (found.min_confidence, found.dialect, found.model) == (0.1, "en-GB", "m")
    assert Projects(own=own, isolated=True).find_settings(str(deep)).dictionary == ()


def test_overrides_are_for_some_files(tmp_path: Path) -> None:
    project(
        tmp_path,
        """
        ignore = ["case"]
        min-confidence = 0.8
        [[overrides]]
        paths = ["docs/", "*.txt"]
        min-confidence = 0.5
        ignore = ["PUNCT"]
        dictionary = ["kubectl"]
        [[overrides]]
        paths = ["docs/deep/*.md"]
        dialect = "en-US"
        min-confidence = 0.2
        ignore-regex = ["x+"]
        """,
        "edit-gec.toml",
    )
    projects = isolated(tmp_path)

    def of(name: str) -> tuple[object, ...]:
        found = projects.find_settings(str(tmp_path / name))
        return found.min_confidence, found.ignore, found.dictionary, found.dialect, found.ignore_regex

    assert of("a.md") == (0.8, ("case",), (), None, ())
    assert of("a.txt") == of("docs/a.md") == (0.5, ("case", "PUNCT"), ("kubectl",), None, ())
    assert of("docs/deep/a.md") == (0.2, ("case", "PUNCT"), ("kubectl",), "en-US", ("x+",))


def test_a_model_folder_is_relative_to_the_file_and_a_name_stays_a_name(tmp_path: Path) -> None:
    deep = project(tmp_path, "model = 'docs/deep'")
    assert isolated(tmp_path).find_settings(str(deep)).model == str(deep)
    assert parse({"model": "edit5-mini"}, str(tmp_path / "pyproject.toml")).model == "edit5-mini"


@pytest.mark.parametrize("name", ["pyproject.toml", "edit-gec.toml"])
@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("min-confidence = 80", "min-confidence must be a number from 0 to 1, not 80"),
        ("min-confidence = true", "min-confidence must be a number"),
        ("min-confidence = nan", "min-confidence must be a number"),
        ("confidence = 0.8", r"has no setting 'confidence'; did you mean min-confidence\?"),
        ("loudness = 0.8", f"has no setting 'loudness'; it knows {', '.join(KEYS)}"),
        ("strictness = 'hi'", "strictness must be one of sure, low, default, high, not 'hi'"),
        ("strictness = 'low'\nmin-confidence = 0.5", "expected one, both say how sure"),
        ("verify = 'always'", "verify 'always': expected judge or exact"),
        ("verify = true", "verify True: expected a name"),
        ("threads = 1000000", "threads 1000000: expected 1024 at most"),
        ("threads = 0", "threads 0: expected a whole number from 1"),
        ("target = 'someone/model'", "has no setting 'target'"),
        ("exclude = 'vendor'", "exclude must be a list of strings"),
        ("exclude = ['!']", "exclude .*expected patterns as in .gitignore"),
        ("dictionary = [1]", "dictionary must be a list of strings"),
        ("dictionary = 'no-such-file'", "no-such-file: cannot read"),
        ("dialect = 'en-AU'", "dialect must be 'en-GB' or 'en-US', not 'en-AU'"),
        ("ignore = ['PUNKT']", r"ignore 'PUNKT': expected a kind \(spelling, "),
        ("ignore-regex = ['(']", r"ignore-regex '\(' is not a regular expression: missing \)"),
        ("model = 1", "model must be a name or a folder"),
        ("overrides = 1", r"overrides must be tables, each begun by \[\[overrides\]\]"),
        ("overrides = [{dialect = 'en-GB'}]", r"overrides 1: name the files that it is for, paths = "),
        (
            "overrides = [{paths = ['a'], model = 'x'}]",
            "overrides 1 has no setting 'model'; it knows dictionary",
        ),
        ("overrides = [{paths = ['a'], dialect = 'x'}]", "overrides 1 dialect must be"),
        ("this is not TOML", "not TOML"),
    ],
)
def test_wrong_settings_are_one_line_that_names_the_file(tmp_path: Path, name: str, table: str, complaint: str) -> None:
    deep = project(tmp_path, table, name)
    with pytest.raises(InputError, match=complaint) as caught:
        isolated(tmp_path).find_settings(str(deep))
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


def test_words_are_added_and_taken_out_atomically(tmp_path: Path) -> None:
    words = WatchedLineFile(tmp_path / "new" / "words.txt")
    assert words.read() == () and not words.remove("a")
    assert words.add("a") and words.add("b") and not words.add("a")
    (tmp_path / "new" / "words.txt").write_bytes(b"a\r\n  b  \r\nc")
    assert words.read() == ("a", "b", "c")
    assert words.add("d") and words.remove("b") and not words.remove("b")
    assert (tmp_path / "new" / "words.txt").read_bytes() == b"a\r\nc\nd\n"
    assert os.listdir(tmp_path / "new") == ["words.txt"]
