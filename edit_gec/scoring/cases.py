"""Cases: single texts that must be left alone, or become one of a few accepted corrections; and what happens when a
corrected text is corrected again.

    {"kind": "names", "text": "Siobhan moved to Kraków."}                            any change is a failure
    {"kind": "its", "text": "Its late.", "accept": ["It's late.", "It is late."]}    one of these, to the letter

Averages over a corpus hide that a model spoils every e-mail address; a share for each kind of text does not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.scoring import systems
from edit_gec.scoring.m2 import read_lines


@dataclass(frozen=True)
class Case:
    """One text of some kind, with the corrections that are right; with none, it must be left alone."""

    kind: str
    text: str
    accept: tuple[str, ...] = ()

    def passes(self, corrected: str) -> bool:
        """Whether this is what should have come of the text."""
        return corrected in self.accept if self.accept else corrected == self.text


class Outcome(NamedTuple):
    """A case, what the system made of it, and what it made of that."""

    case: Case
    corrected: str
    again: str

    @property
    def passed(self) -> bool:
        """Whether the case was handled as it should be."""
        return self.case.passes(self.corrected)


@dataclass(frozen=True)
class Judged:
    """All outcomes of one system on one file. With `plain` the file was any text, so nothing passes or fails."""

    name: str
    system: str
    outcomes: list[Outcome]
    signature: str
    plain: bool = False

    @property
    def kinds(self) -> dict[str, tuple[int, int]]:
        """kind -> (cases that passed, cases)."""
        counts: dict[str, tuple[int, int]] = {}
        for outcome in self.outcomes:
            passed, cases = counts.get(outcome.case.kind, (0, 0))
            counts[outcome.case.kind] = (passed + outcome.passed, cases + 1)
        return counts

    @property
    def passed(self) -> int:
        """Cases that passed."""
        return sum(outcome.passed for outcome in self.outcomes)

    @property
    def changed(self) -> int:
        """Texts that the system changed."""
        return sum(o.corrected != o.case.text for o in self.outcomes)

    @property
    def changed_again(self) -> int:
        """Texts that it changed once more when it got its own output."""
        return sum(o.again != o.corrected for o in self.outcomes)


def read(path: str | Path) -> list[Case]:
    """Cases from a file of JSON lines. Raises InputError that names the line at fault."""
    cases = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            case = Case(row["kind"], row["text"], tuple(row.get("accept", ())))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputError(f'{path}, line {number}: wanted {{"kind": ..., "text": ..., "accept": [...]}}') from None
        if not all(isinstance(value, str) and value for value in (case.kind, case.text, *case.accept)):
            raise InputError(f"{path}, line {number}: kind, text and accepted corrections must be strings")
        if "\n" in case.text or case.text in case.accept:
            raise InputError(f"{path}, line {number}: a text is one line, and none of its own corrections")
        cases.append(case)
    if not cases:
        raise InputError(f"{path}: no cases in it")
    return cases


def read_plain(path: str | Path) -> list[Case]:
    """The lines of any text file, as cases without a kind. Raises InputError where there are none."""
    lines = [line for line in read_lines(path) if line.strip()]
    if not lines:
        raise InputError(f"{path}: no text in it")
    return [Case("", line) for line in lines]


def judge(
    path: str | Path,
    system: str,
    model: str | None = None,
    min_confidence: float | None = None,
    *,
    plain: bool = False,
) -> Judged:
    """Give each text to a system, and its output once more. `plain` takes any text file; else it holds cases."""
    from edit_gec.correct import version

    cases = read_plain(path) if plain else read(path)
    first = systems.run(system, [case.text for case in cases], model, min_confidence, markup=True)
    second = systems.run(system, [output.text for output in first], model, min_confidence, markup=True)
    outcomes = [Outcome(c, a.text, b.text) for c, a, b in zip(cases, first, second, strict=True)]
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]
    who = f"edit-gec+{systems.identity(model, min_confidence)}" if system == "edit-gec" else system
    signature = f"{'AGAIN' if plain else 'CASES'}|set:{Path(path).name}:{digest}|sys:{who}|edit-gec:{version()}"
    return Judged(Path(path).name, system, outcomes, signature, plain)


def table(judged: Sequence[Judged]) -> str:
    """For people: the share that passed by kind, what failed, and how much changed the second time."""
    return "\n".join(_table(one) for one in judged)


def _table(one: Judged) -> str:
    lines = [f"{one.name}, {one.system}"]
    if not one.plain:
        lines[0] += ": passed, of, %"
        rows = [*sorted(one.kinds.items()), ("all", (one.passed, len(one.outcomes)))]
        lines += [f"  {kind:<20}{passed:>5}{cases:>5}{100 * passed / cases:>7.1f}" for kind, (passed, cases) in rows]
    count = len(one.outcomes)
    lines.append(
        f"  changed: {one.changed} of {count} ({100 * one.changed / count:.1f} %); corrected again: "
        f"{one.changed_again} of {count} ({100 * one.changed_again / count:.1f} %)"
    )
    for o in one.outcomes:
        if not (o.passed or one.plain):
            made = "left alone" if o.corrected == o.case.text else o.corrected
            lines.append(f"  failed, {o.case.kind}: {o.case.text}\n      -> {made}")
        if o.again != o.corrected:
            lines.append(f"  again: {o.case.text}\n      -> {o.corrected}\n      -> {o.again}")
    return "\n".join([*lines, f"  {one.signature}", ""])


def as_data(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """The same as plain data, ready for JSON."""
    out = []
    for one in judged:
        row: dict[str, Any] = {"set": one.name, "system": one.system, "metric": "again" if one.plain else "cases"}
        row |= {"texts": len(one.outcomes), "changed": one.changed, "changed_again": one.changed_again}
        if not one.plain:
            row |= {"passed": one.passed, "kinds": {kind: list(counts) for kind, counts in sorted(one.kinds.items())}}
            failed = [o for o in one.outcomes if not o.passed]
            row["failed"] = [{"kind": o.case.kind, "text": o.case.text, "corrected": o.corrected} for o in failed]
        row["again"] = [[o.case.text, o.corrected, o.again] for o in one.outcomes if o.again != o.corrected]
        out.append(row | {"signature": one.signature})
    return out
