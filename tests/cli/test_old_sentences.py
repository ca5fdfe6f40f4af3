"""--since and --baseline: findings in sentences that are new, whatever lines they stand on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STAND_IN = [sys.executable, str(Path(__file__).parents[1] / "support" / "fake_model.py")]
OLD = "I go to the sea. It is fine there, and the sky is blue all day long. We dont stay.\n"
WRAPPED = "I go to the\nsea. It is fine there, and the sky is\nblue all day long. We dont stay.\n"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "x")
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    Path("docs").mkdir()
    Path("docs/a.md").write_text(OLD)
    Path("same.md").write_text(OLD)
    Path("moved.md").write_text(OLD)
    git("add", ".")
    git("commit", "-q", "-m", "first")
    return tmp_path


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def correct(*arguments: str) -> tuple[int, list[str], str]:
    done = subprocess.run([*STAND_IN, "correct", *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout.splitlines(), done.stderr


def places(findings: list[str]) -> list[str]:
    return [finding.split(" ")[0] for finding in findings]


def test_since_a_revision_only_new_sentences_are_corrected() -> None:
    Path("docs/a.md").write_text(f"{WRAPPED}\nShe go home. I go to the sea.\n")
    git("mv", "moved.md", "docs/new name.md")
    Path("docs/new name.md").write_text(f"{OLD}\nHe go.\n")
    Path("untracked.md").write_text("It go.\n")
    git("add", ".")
    git("reset", "-q", "untracked.md")
    status, findings, _ = correct("--check", "--since", "HEAD", ".")
    assert status == 1
    assert [finding.split("“")[0] for finding in findings] == [
        "./untracked.md:1:4: ", "./docs/a.md:5:5: ", "./docs/new name.md:3:4: "
    ]  # fmt: skip
    assert correct("-q", "--check", "--since", "HEAD", "same.md") == (0, [], "")
    assert correct("-q", "-w", "--since", "HEAD", "docs/a.md") == (0, [], "")
    assert Path("docs/a.md").read_text() == f"{WRAPPED}\nShe goes home. I go to the sea.\n"
    os.chdir("docs")
    assert places(correct("--check", "--since", "HEAD", "../untracked.md")[1]) == ["../untracked.md:1:4:"]


def test_an_old_version_that_cannot_be_read_costs_only_its_file() -> None:
    Path("latin.md").write_bytes("Caf\xe9 go. ".encode("latin-1") * 3)
    git("add", ".")
    git("commit", "-q", "-m", "second")
    Path("latin.md").write_text("She go home.\n")
    Path("same.md").write_text(f"{OLD}\nHe go.\n")
    status, findings, talk = correct("--check", "--since", "HEAD", "latin.md", "same.md")
    assert status == 2 and places(findings) == ["same.md:3:4:"] and "latin.md" in talk


@pytest.mark.parametrize("revision", ["no-such", "--help", "HEAD:docs"])
def test_a_wrong_revision_is_one_line(revision: str) -> None:
    status, findings, talk = correct("--check", f"--since={revision}", "same.md")
    assert (status, findings) == (2, []) and talk.startswith(f"edit-gec: --since {revision}: no such revision in ")
    assert talk.count("\n") == 1


def test_outside_a_repository(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("none")
    (folder / "a.md").write_text(OLD)
    status, _, talk = correct("--since", "HEAD", str(folder / "a.md"))
    assert status == 2 and "not a git repository" in talk


def test_a_baseline_holds_the_sentences_that_have_findings() -> None:
    status, findings, talk = correct("--baseline", "known.txt", "--write-baseline", "docs", "same.md")
    assert (status, findings, talk) == (0, [], "known.txt: 4 sentences\n")
    lines = Path("known.txt").read_text().splitlines()
    assert (
        lines[0].startswith("# ") and [line.split("  ")[1] for line in lines[1:]] == ["docs/a.md"] * 2 + ["same.md"] * 2
    )
    assert correct("--check", "--baseline", "known.txt", "docs", "same.md", "moved.md") == (0, [], "")
    Path("docs/a.md").write_text(f"New words go here.\n\n{WRAPPED}")
    status, findings, talk = correct("--check", "--baseline", "known.txt", "docs")
    assert (status, places(findings), talk) == (1, ["docs/a.md:1:11:"], "1 file would change, 1 edit\n")
    before = Path("known.txt").read_bytes()
    assert correct("-q", "--baseline", "known.txt", "--write-baseline", "docs", "same.md") == (0, [], "")
    assert len(Path("known.txt").read_text().splitlines()) == len(before.splitlines()) + 1


def test_a_baseline_that_is_not_there() -> None:
    status, findings, talk = correct("--check", "--baseline", "no.txt", "same.md")
    assert (status, findings) == (2, []) and talk.startswith("edit-gec: no.txt: cannot read")
