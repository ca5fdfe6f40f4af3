"""The hooks for pre-commit: their commands, run as pre-commit runs them, and pre-commit itself running them."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
STAND_IN = [sys.executable, str(Path(__file__).parents[1] / "support" / "fake_model.py")]


@pytest.mark.parametrize(
    ("hook", "status", "after", "says"),
    [
        ("edit-gec-check", 1, "She go home.\n", "1 file would change, 1 edit"),
        ("edit-gec", 0, "She goes home.\n", "1 file changed, 1 edit"),
    ],
)
def test_hooks(hook: str, status: int, after: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HOOKS.parent))
    hooks = {each["id"]: each for each in yaml.safe_load(HOOKS.read_text(encoding="utf-8"))}
    assert len(hooks) == 3
    name, *arguments = shlex.split(hooks[hook]["entry"])
    assert name == "edit-gec" and hooks[hook]["language"] == "python"
    (tmp_path / "notes.md").write_text("She go home.\n")
    (tmp_path / "fine.md").write_text("She is home.\n")
    command = [*STAND_IN, *arguments, "--min-confidence", "0.9", "notes.md", "fine.md"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, (tmp_path / "notes.md").read_text()) == (status, after)
    finding = "notes.md:1:5: “go” → “goes” (97%) [replacement]\n"
    assert done.stdout == (finding if hook == "edit-gec-check" else "")
    assert says in done.stderr


def test_pre_commit_runs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a repository with files of all kinds; installed beforehand, because an environment needs a network."""
    pytest.importorskip("pre_commit")
    monkeypatch.setenv("PYTHONPATH", str(HOOKS.parent))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    hooks = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    for hook in hooks:
        hook["language"] = "system"
        hook["entry"] = shlex.join([*STAND_IN, *shlex.split(hook["entry"])[1:]])
    repository = tmp_path / "repository"
    repository.mkdir()
    left_alone = ["code.py", "a.org", "a.sty", "LICENSE", "requirements.txt", "vendor/deep/b.md"]
    (repository / "vendor" / "deep").mkdir(parents=True)
    (repository / "pyproject.toml").write_text("[tool.edit-gec]\nexclude = ['vendor']\n")
    for name in ("notes.md", "read me.txt", "page.html", "a.tex", *left_alone):
        (repository / name).write_text("She go home.\n" if name != "page.html" else "<p>She go home.</p>\n")
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y"]
    for command in ([*git, "init", "-q"], [*git, "add", "."]):
        subprocess.run(command, cwd=repository, check=True, timeout=60)

    def run(hook: str, *options: str) -> tuple[int, str]:
        files = options or ("--all-files",)
        command = [sys.executable, "-m", "pre_commit", "run", hook, *files, "--color", "never"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=repository, timeout=120)
        return done.returncode, done.stdout + done.stderr

    status, said = run("edit-gec-check")
    assert status == 1 and said.count("“go” → “goes”") == 4 and "exit code: 1" in said
    status, said = run("edit-gec")
    assert status == 1 and "files were modified by this hook" in said and "4 files changed, 4 edits" in said
    assert (repository / "read me.txt").read_text() == "She goes home.\n"
    assert [(repository / name).read_text() for name in left_alone] == ["She go home.\n"] * len(left_alone)
    assert run("edit-gec")[0] == run("edit-gec-check")[0] == 0
    for message, status in (("I go: go\n\n# go\n", 1), ("go: fix it\n\nSigned-off-by: go\n# go\n", 0)):
        (repository / ".git" / "COMMIT_EDITMSG").write_text(message)
        options = ("--hook-stage", "commit-msg", "--commit-msg-filename", ".git/COMMIT_EDITMSG")
        done, said = run("edit-gec-commit-msg", *options)
        assert done == status and said.count("“go” → “goes”") == 2 * status
