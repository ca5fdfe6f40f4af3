"""A checklist: single texts that must stay unchanged, or become one of a few accepted corrections.

Each corrected text is corrected again; a second change is counted, too.

    {"kind": "names", "text": "Siobhan moved to Kraków."}                            any change is a failure
    {"kind": "its", "text": "Its late.", "accept": ["It's late.", "It is late."]}    one of these, to the letter

A case may have a twin, a similar text that is correct: {..., "twin": "Its roof is old."}. It is a separate case of the
kind "its, twin", and must be left alone.

An average over a corpus hides that a model spoils every e-mail address. A share per kind of text shows it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from edit_gec.annotation.m2 import read_lines
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.systems import ScoredSystem
from edit_gec.text.tables import align_columns
from edit_gec.version import version

FORM = '{"kind": ..., "text": ..., "accept": [...]}'


@dataclass(frozen=True)
class Case:
    """One text of some kind, with its accepted corrections; without any, it must stay unchanged."""

    kind: str
    text: str
    accept: tuple[str, ...] = ()


class CaseOutcome(NamedTuple):
    """A case, the output of the system, and the output for that output."""

    case: Case
    corrected: str
    again: str

    @property
    def passed(self) -> bool:
        """Whether the outcome is correct."""
        return self.corrected in (self.case.accept or (self.case.text,))


class Share(NamedTuple):
    """A part of all."""

    part: int
    whole: int

    @classmethod
    def of_passed(cls, outcomes: Iterable[CaseOutcome]) -> Share:
        """How many passed."""
        passed = [outcome.passed for outcome in outcomes]
        return cls(sum(passed), len(passed))


@dataclass(frozen=True)
class ChecklistResult:
    """All outcomes of one system on one file. With `plain`, the file was any text, and nothing passes or fails."""

    name: str
    system: str
    outcomes: list[CaseOutcome]
    signature: str
    plain: bool = False

    @property
    def kinds(self) -> dict[str, Share]:
        """The share of cases that passed, by kind."""
        names = sorted({o.case.kind for o in self.outcomes})
        return {name: Share.of_passed(o for o in self.outcomes if o.case.kind == name) for name in names}

    @property
    def wrong(self) -> Share:
        """The share of texts with errors that are corrected as expected."""
        return Share.of_passed(o for o in self.outcomes if o.case.accept)

    @property
    def right(self) -> Share:
        """The share of texts without errors that are left alone."""
        return Share.of_passed(o for o in self.outcomes if not o.case.accept)

    @property
    def passed(self) -> int:
        """Cases that passed."""
        return Share.of_passed(self.outcomes).part

    @property
    def changed(self) -> int:
        """Texts that the system changed."""
        return sum(o.corrected != o.case.text for o in self.outcomes)

    @property
    def changed_again(self) -> int:
        """Texts that the system changed again when it read its own output."""
        return sum(o.again != o.corrected for o in self.outcomes)


def read_cases(path: str | Path) -> list[Case]:
    """Cases from a file of JSON lines, each followed by its twin. Raises InputError that names the line at fault."""
    cases = []
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            try:
                cases += _parse(line)
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from None
    if not cases:
        raise InputError(f"{path}: no cases in it")
    return cases


def _parse(line: str) -> list[Case]:
    """The case of a line, and its twin where it has one. Raises InputError where something is missing or wrong."""
    try:
        row = json.loads(line)
        case, twin = Case(row["kind"], row["text"], tuple(row.get("accept", ()))), row.get("twin", "")
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"expected {FORM}") from None
    if not all(isinstance(value, str) and value for value in (case.kind, case.text, *case.accept)):
        raise InputError("kind, text and accepted corrections must be strings")
    if not isinstance(twin, str) or "\n" in case.text + twin or case.text in case.accept:
        raise InputError("a text is one line, and none of its own corrections")
    return [case, Case(f"{case.kind}, twin", twin)] if twin else [case]


def read_lines_as_cases(path: str | Path) -> list[Case]:
    """The lines of any text file, as cases without a kind. Raises InputError where there are none."""
    lines = [line for line in read_lines(path) if line.strip()]
    if not lines:
        raise InputError(f"{path}: no text in it")
    return [Case("", line) for line in lines]


def run_checklist(path: str | Path, system: ScoredSystem) -> ChecklistResult:
    """Give each text to a system, then its output. `path` holds cases, or any text if it is not called .jsonl."""
    plain = Path(path).suffix != ".jsonl"
    cases = read_lines_as_cases(path) if plain else read_cases(path)
    first = system.correct([case.text for case in cases], markup=True)
    second = system.correct([output.text for output in first], markup=True)
    outcomes = [CaseOutcome(c, a.text, b.text) for c, a, b in zip(cases, first, second, strict=True)]
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]
    signature = f"{'AGAIN' if plain else 'CASES'}|set:{Path(path).name}:{digest}|sys:{system}|edit-gec:{version()}"
    return ChecklistResult(Path(path).name, system.name, outcomes, signature, plain)


def format_table(results: Sequence[ChecklistResult]) -> str:
    """For people: the share that passed by kind, what failed, and how much changed the second time."""
    return "\n".join(_format_result(result) for result in results)


def _format_result(result: ChecklistResult) -> str:
    count = len(result.outcomes)
    lines = [f"{result.name}, {result.system}"]
    if not result.plain:
        rows = [["kind", "passed", "of", "%"]]
        for name, (passed, cases) in [*result.kinds.items(), ("all", Share(result.passed, count))]:
            rows.append([name, str(passed), str(cases), f"{100 * passed / cases:.1f}"])
        lines += align_columns(rows)
    lines.append(
        f"changed: {result.changed} of {count} ({100 * result.changed / count:.1f} %); corrected again: "
        f"{result.changed_again} of {count} ({100 * result.changed_again / count:.1f} %)"
    )
    for o in result.outcomes:
        if not (o.passed or result.plain):
            made = "left alone" if o.corrected == o.case.text else o.corrected
            lines.append(f"  failed, {o.case.kind}: {o.case.text}\n      -> {made}")
        if o.again != o.corrected:
            lines.append(f"  again: {o.case.text}\n      -> {o.corrected}\n      -> {o.again}")
    return "\n".join([*lines, f"signature  {result.signature}", ""])


def to_data(results: Sequence[ChecklistResult]) -> list[dict[str, Any]]:
    """The same as plain data, ready for JSON."""
    out = []
    for one in results:
        row: dict[str, Any] = {"set": one.name, "system": one.system, "metric": "again" if one.plain else "cases"}
        row |= {"texts": len(one.outcomes), "changed": one.changed, "changed_again": one.changed_again}
        if not one.plain:
            row |= {"passed": one.passed, "wrong": one.wrong, "right": one.right, "kinds": one.kinds}
            failed = [o for o in one.outcomes if not o.passed]
            row["failed"] = [{"kind": o.case.kind, "text": o.case.text, "corrected": o.corrected} for o in failed]
        row["again"] = [[o.case.text, o.corrected, o.again] for o in one.outcomes if o.again != o.corrected]
        out.append(row | {"signature": one.signature})
    return out
