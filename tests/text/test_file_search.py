"""Which files of a folder are found; git itself says what it ignores."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from edit_gec.errors import InputError
from edit_gec.text.file_search import Patterns, Search


def test_search(tmp_path: Path) -> None:
    kept = ["README", "a.txt", "b.MD", "docs/page.html", "docs/x.adoc", "docs/x.mdx", "docs/x.org", "docs/x.rst"]
    kept += ["docs/x.tex", "docs/old/x.text"]
    left = [
        "a.py", "Makefile", ".hidden.md", ".git/x.txt", "node_modules/x.md", "env/lib/x.txt", "vendor/x.md",
        "docs/skip.md", "LICENSE", "requirements.txt", "COMMIT_EDITMSG",
    ]  # fmt: skip
    for name in [*kept, *left, "env/pyvenv.cfg"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    (tmp_path / "link.txt").symlink_to("a.txt")
    (tmp_path / "loop").symlink_to(".")
    found = Search(Patterns(("vendor/", "docs/sk*.md"), str(tmp_path))).find(str(tmp_path))
    assert [os.path.relpath(path, tmp_path) for path in found] == kept


def test_a_folder_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.txt").write_text("text")
    found = []
    with pytest.raises(InputError, match="b: cannot read folder: No such file"):
        for path in Search().find(str(tmp_path)):
            found.append(os.path.relpath(path, tmp_path))
            shutil.rmtree(tmp_path / "b", ignore_errors=True)  # gone during the search: that stops root too
    assert found == ["a/x.txt", "c/x.txt"]


def test_a_folder_without_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("pass")
    with pytest.raises(InputError, match=r"no text files \(\.adoc, .*\.txt.*\) in this folder"):
        list(Search().find(str(tmp_path)))


IGNORES = {
    ".gitignore": "build/\n*.txt\n!keep.txt\n/top.md\ndeep/**/x.md\n# comment\n!\n\\#odd.md\n a.md\ntrailing.md   \n",
    "docs/.gitignore": "!notes.txt\nold*\n[ab].md\n",
    ".git/info/exclude": "private.md\n",
}
NAMES = (
    "build/a.md docs/build/a.md keep.txt drop.txt docs/drop.txt docs/notes.txt notes.txt top.md docs/top.md "
    "deep/x.md deep/one/two/x.md deep/one/y.md docs/old.md docs/older/a.md docs/a.md docs/c.md private.md "
    "docs/private.md #odd.md trailing.md build.md docs/keep.txt"
).split()


def repository(folder: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")
    for name, rules in IGNORES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(rules)
    return folder


@pytest.mark.parametrize("within", [".", "docs", "deep/one"])
def test_what_git_ignores_is_left_out(tmp_path: Path, within: str) -> None:
    root = repository(tmp_path)
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "--others", "--exclude-standard", "-z", within],
        capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip
    visible = {name for name in listed.stdout.split("\0") if name in NAMES}
    found = {os.path.relpath(path, root) for path in Search().find(str(root / within))}
    assert found == visible and visible


def test_a_search_from_within_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path)
    monkeypatch.chdir(root / "docs")
    assert {os.path.normpath(path) for path in Search().find(".")} == {
        os.path.relpath(path, root / "docs") for path in Search().find(str(root / "docs"))
    }


@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("vendor/deep/x.md", True),
        ("vendor", True),
        ("docs/vendor/x.md", True),
        ("docs/old/x.md", True),
        ("old/x.md", False),
        ("docs/older/x.md", False),
        ("docs/new.md", True),
        ("docs/deep/new.md", False),
        ("docs/good.md", False),
        ("../vendor", False),
    ],
)
def test_patterns_fit_a_path_or_a_folder_above_it(tmp_path: Path, path: str, fits: bool) -> None:
    root = tmp_path / "root"
    (root / "docs" / "old").mkdir(parents=True)
    patterns = Patterns(("vendor", "docs/old/", "docs/*.md", "!docs/good.md"), str(root))
    assert patterns.fit_below(str(root / path)) == fits
    assert not Patterns((), str(root)).fit_below(str(root / path))


def test_a_pattern_that_cannot_be_read_is_one_line() -> None:
    with pytest.raises(InputError, match=r"expected patterns as in \.gitignore"):
        Patterns(("docs", "!")).check()
