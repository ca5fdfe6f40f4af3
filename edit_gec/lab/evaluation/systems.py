"""Raw sentences -> a system's corrections: edit-gec itself, another checker, doing nothing, or any command.

run_system("edit-gec", ["He go home."])                ->  SystemOutput("He goes home.", (Change(3, 5, "goes", 0.97),))
run_system("sed s/teh/the/ {in} > {out}", ["teh end"]) ->  SystemOutput("the end", ())
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
    from edit_gec.text.correction import Correction

NAMES = ", ".join(map(repr, ("edit-gec", "edit-gec+JUDGE", *CHECKERS, "none")))
EXPECTED = f"{NAMES}, or a command with {{in}} and {{out}} in it"


@dataclass(frozen=True)
class SystemOutput:
    """One corrected text, and its changes if the system reports them."""

    text: str
    changes: tuple[Change, ...] = ()

    @classmethod
    def from_correction(cls, correction: Correction) -> SystemOutput:
        """What the scorer needs of a correction."""
        changes = (Change(e.start, e.end, e.replacement, e.confidence) for e in correction.edits)
        return cls(correction.corrected, tuple(changes))


def run_system(
    system: str,
    texts: Sequence[str],
    model: str | None = None,
    min_confidence: float | None = None,
    *,
    markup: bool = False,
) -> list[SystemOutput]:
    """The system's output for each text. `model` and `min_confidence` are for edit-gec; None is its default.

    With `markup`, edit-gec reads the texts as Markdown and HTML, as `edit-gec correct` does. Raises InputError if the
    name is unknown, the command fails, or it outputs another number of lines.
    """
    if system == "none":
        return [SystemOutput(text) for text in texts]
    if is_ours(system):
        found = load_corrector(model, min_confidence, judge_of(system)).correct_batch(
            list(texts), lines=True, markup=markup
        )
        return [SystemOutput.from_correction(correction) for correction in found]
    if system in CHECKERS:
        return [SystemOutput(correct(text)) for correct in [load_checker(system)] for text in texts]
    if is_command(system):
        return _run_on_lines(system, texts)
    raise InputError(f"system '{system}': expected {EXPECTED}")


def is_ours(system: str) -> bool:
    """Whether a system is edit-gec itself, alone or with a judge."""
    return system == "edit-gec" or system.startswith("edit-gec+")


def judge_of(system: str) -> str | None:
    """The judge in the name of a system.

    >>> judge_of("edit-gec+smollm2"), judge_of("edit-gec")
    ('smollm2', None)
    """
    return system.partition("+")[2] or None


@cache
def load_corrector(model: str | None, min_confidence: float | None, judge: str | None = None) -> Corrector:
    """The corrector of `--system edit-gec`, loaded once; None takes the shipped model, its threshold, and no judge."""
    from edit_gec.corrector import Corrector

    verify = "judge" if judge else None
    return Corrector.load(model or DEFAULT_MODEL, min_confidence=min_confidence, target=judge, verify=verify)


def is_command(system: str) -> bool:
    """Whether the name of a system is a command that reads {in} and writes {out}."""
    return "{in}" in system and "{out}" in system


def run_command(template: str, given: Path, made: Path) -> None:
    """Run a command that reads the file {in} and writes the file {out}.

    Raises InputError where it fails or writes no file.
    """
    command = template.replace("{in}", shlex.quote(str(given))).replace("{out}", shlex.quote(str(made)))
    # The user's own command line, pipes and all, hence the shell.
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise InputError(f"system '{template}' failed with status {done.returncode}: {last}")
    if not made.exists():
        raise InputError(f"system '{template}' wrote no {{out}} file")


def _run_on_lines(template: str, texts: Sequence[str]) -> list[SystemOutput]:
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "in.txt"), Path(folder, "out.txt")
        given.write_text("".join(text + "\n" for text in texts), encoding="utf-8", newline="\n")
        run_command(template, given, made)
        lines = read_lines(made)
    if len(lines) != len(texts):
        raise InputError(f"system '{template}': {len(texts)} lines in, {len(lines)} out; it must keep one per line")
    return [SystemOutput(line) for line in lines]


def apply_confident(source: str, output: SystemOutput, threshold: float) -> str:
    """The source with only those changes whose confidence reaches the threshold."""
    return apply_changes(source, [change for change in sorted(output.changes) if change.confidence >= threshold])


def describe_system(system: str, model: str | None, min_confidence: float | None) -> str:
    """A system in a signature: a command as given, edit-gec with its model, a checker with its versions."""
    if system in CHECKERS:
        return identify_checker(system)
    if not is_ours(system):
        return system
    judge = judge_of(system)
    named = f"+{judge}:{fingerprint(find_model(judge))[:8]}" if judge else ""
    return f"edit-gec+{identify_model(model, min_confidence)}{named}"


def identify_model(model: str | None, min_confidence: float | None) -> str:
    """Name, hash and thresholds of the model that edit-gec corrects with: edit5-mini:1a2b3c4d:keep_bias=0.5,..."""
    corrector = load_corrector(model, min_confidence)
    edit5 = corrector.edit5
    thresholds = ",".join(f"{k}={v:g}" for k, v in asdict(edit5.thresholds).items() if not isinstance(v, bool))
    return f"{corrector.folder.name}:{fingerprint(corrector.folder)[:8]}:{edit5.network.precision}:{thresholds}"
