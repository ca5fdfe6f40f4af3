"""Raw sentences -> a system's corrections: edit-gec itself, another checker, doing nothing, or any command.

ScoredSystem("edit-gec").correct(["He go."])           ->  [SystemOutput("He goes.", (Change(3, 5, "goes", 0.97),))]
ScoredSystem("sed s/teh/the/ {in} > {out}").correct(["teh"])           ->  [SystemOutput("the", ())]
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.annotation.m2 import read_lines
from edit_gec.catalog import DEFAULT_MODEL, find_model, fingerprint
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.checkers import CHECKERS, identify_checker, load_checker
from edit_gec.text.edits import Change, apply_changes

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector

NAMES = ", ".join(map(repr, ("edit-gec", "edit-gec+JUDGE", *CHECKERS, "none")))


@dataclass(frozen=True)
class SystemOutput:
    """One corrected text, and its changes if the system reports them."""

    text: str
    changes: tuple[Change, ...] = ()

    def keep_confident(self, source: str, threshold: float) -> str:
        """The source with only those changes whose confidence reaches the threshold."""
        return apply_changes(source, [change for change in sorted(self.changes) if change.confidence >= threshold])


@dataclass(frozen=True)
class ScoredSystem:
    """A system by its name. `model` and `min_confidence` are for edit-gec; None is the shipped model, its threshold.

    As a string it is what a signature says: a command as given, edit-gec with its model, a checker with its versions.
    """

    name: str
    model: str | None = None
    min_confidence: float | None = None

    def __str__(self) -> str:
        if self.name in CHECKERS:
            return identify_checker(self.name)
        if not self.is_ours:
            return self.name
        named = f"+{self.judge}:{fingerprint(find_model(self.judge))[:8]}" if self.judge else ""
        return f"edit-gec+{self.identify_model()}{named}"

    @property
    def is_ours(self) -> bool:
        """Whether it is edit-gec itself, alone or with a judge."""
        return self.name == "edit-gec" or self.name.startswith("edit-gec+")

    @property
    def judge(self) -> str | None:
        """The judge in the name.

        >>> ScoredSystem("edit-gec+smollm2").judge, ScoredSystem("edit-gec").judge
        ('smollm2', None)
        """
        return self.name.partition("+")[2] or None

    @property
    def corrector(self) -> Corrector:
        """That of edit-gec, loaded once."""
        return load_corrector(self.model, self.min_confidence, self.judge)

    def identify_model(self) -> str:
        """Name, hash and thresholds of the model that edit-gec corrects with: edit5-mini:1a2b3c4d:keep_bias=0.5,..."""
        corrector = load_corrector(self.model, self.min_confidence)
        edit5 = corrector.edit5
        thresholds = ",".join(f"{k}={v:g}" for k, v in asdict(edit5.thresholds).items() if not isinstance(v, bool))
        return f"{corrector.folder.name}:{fingerprint(corrector.folder)[:8]}:{edit5.network.precision}:{thresholds}"

    def correct(self, texts: Sequence[str], *, markup: bool = False) -> list[SystemOutput]:
        """The output for each text; with `markup`, edit-gec reads Markdown and HTML, as `edit-gec correct` does.

        Raises InputError if the name is unknown, the command fails, or it outputs another number of lines.
        """
        if self.name == "none":
            return [SystemOutput(text) for text in texts]
        if self.is_ours:
            found = self.corrector.correct_batch(list(texts), lines=True, markup=markup)
            changes = [[Change(e.start, e.end, e.replacement, e.confidence) for e in each.edits] for each in found]
            return [SystemOutput(each.corrected, tuple(own)) for each, own in zip(found, changes, strict=True)]
        if self.name in CHECKERS:
            return [SystemOutput(correct(text)) for correct in [load_checker(self.name)] for text in texts]
        with tempfile.TemporaryDirectory() as folder:
            given, made = Path(folder, "in.txt"), Path(folder, "out.txt")
            given.write_text("".join(text + "\n" for text in texts), encoding="utf-8", newline="\n")
            self.run_command(given, made)
            lines = read_lines(made)
        if len(lines) != len(texts):
            raise InputError(
                f"system '{self.name}': {len(texts)} lines in, {len(lines)} out; it must keep one per line"
            )
        return [SystemOutput(line) for line in lines]

    def run_command(self, given: Path, made: Path) -> None:
        """Run a command that reads the file {in} and writes the file {out}.

        Raises InputError where the name is no such command, or it fails or writes no file.
        """
        if "{in}" not in self.name or "{out}" not in self.name:
            raise InputError(f"system '{self.name}': expected {NAMES}, or a command with {{in}} and {{out}} in it")
        command = self.name.replace("{in}", shlex.quote(str(given))).replace("{out}", shlex.quote(str(made)))
        # The user's own command line, pipes and all, hence the shell.
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
            raise InputError(f"system '{self.name}' failed with status {done.returncode}: {last}")
        if not made.exists():
            raise InputError(f"system '{self.name}' wrote no {{out}} file")


@cache
def load_corrector(model: str | None, min_confidence: float | None, judge: str | None = None) -> Corrector:
    """The corrector of `--system edit-gec`, loaded once; None takes the shipped model, its threshold, and no judge."""
    from edit_gec.corrector import Corrector

    verify = "judge" if judge else None
    return Corrector.load(model or DEFAULT_MODEL, min_confidence=min_confidence, target=judge, verify=verify)
