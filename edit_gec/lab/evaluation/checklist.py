"""A checklist: single texts that must stay unchanged, or become one of a few accepted corrections.

Each corrected text is corrected again; a second change is counted, too.

    {"kind": "names", "text": "Siobhan moved to Kraków."}                            any change is a failure
    {"kind": "its", "text": "Its late.", "accept": ["It's late.", "It is late."]}    one of these, to the letter

A case may name its error, and have a twin: a similar text that is correct.

    {"kind": "its", "writer": "native", "text": "its late, i think.", "error": "its", "fixed": ["it's", "It's"],
     "accept": ["It's late, I think."], "twin": "Its roof is old."}

The text passes when all of its errors are corrected. A named error counts as corrected when the words of `error` have
been replaced by those of one of `fixed`, whatever else was changed or missed. The twin is a separate case of the kind
"its, twin". It must be left alone.

An average over a corpus hides that a model spoils every e-mail address. A share per kind of text shows it.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from edit_gec.annotation.m2 import read_lines
from edit_gec.errors import InputError
from edit_gec.lab.evaluation import systems
from edit_gec.text.tables import align_columns
from edit_gec.version import version

LONG = 15  # words from which a text counts as long
FORM = '{"kind": ..., "text": ..., "accept": [...]}'


@dataclass(frozen=True)
class Case:
    """One text of some kind, with its accepted corrections; without any, it must stay unchanged.

    `writer` says whose error it is, native or learner; `error` and `fixed` are the error's words and what may replace
    them.
    """

    kind: str
    text: str
    accept: tuple[str, ...] = ()
    writer: str = ""
    error: str = ""
    fixed: tuple[str, ...] = ()

    def passes(self, corrected: str) -> bool:
        """Whether the outcome is correct for the text."""
        return corrected in self.accept if self.accept else corrected == self.text

    def lost_its_error(self, corrected: str) -> bool:
        """Whether whole words of one of the corrections have replaced the named error."""
        return not _contains(corrected, self.error) and any(_contains(corrected, words) for words in self.fixed)

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of a case with a named error: its writer, short or long, one error or more, emoji."""
        before, after = re.split(_word_pattern(self.error), self.text, maxsplit=1)
        alone = any(f"{before}{words}{after}" in self.accept for words in self.fixed)
        length = "long" if len(self.text.split()) >= LONG else "short"
        emoji = any(unicodedata.category(character) == "So" for character in self.text)
        groups = (self.writer, length, "one error" if alone else "more errors", "emoji" if emoji else "")
        return tuple(filter(None, groups))


class CaseOutcome(NamedTuple):
    """A case, the output of the system, and the output for that output."""

    case: Case
    corrected: str
    again: str

    @property
    def passed(self) -> bool:
        """Whether the outcome is correct."""
        return self.case.passes(self.corrected)


class Share(NamedTuple):
    """A part of all."""

    part: int
    whole: int


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
        return _counts(self.outcomes, lambda o: [o.case.kind], lambda o: o.passed)

    @property
    def groups(self) -> dict[str, Share]:
        """The share of cases with a named error that passed, by group."""
        return _counts(self.named, lambda o: o.case.groups, lambda o: o.passed)

    @property
    def errors_gone(self) -> dict[str, Share]:
        """The share of named errors that are gone, by kind."""
        return _counts(self.named, lambda o: [o.case.kind], lambda o: o.case.lost_its_error(o.corrected))

    @property
    def named(self) -> list[CaseOutcome]:
        """Outcomes of the cases with a named error."""
        return [o for o in self.outcomes if o.case.error]

    @property
    def wrong(self) -> Share:
        """The share of texts with errors that are corrected as expected."""
        return _count(o.passed for o in self.outcomes if o.case.accept)

    @property
    def right(self) -> Share:
        """The share of texts without errors that are left alone."""
        return _count(o.passed for o in self.outcomes if not o.case.accept)

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
        """Texts that the system changed again when it read its own output."""
        return sum(o.again != o.corrected for o in self.outcomes)


def _word_pattern(words: str) -> str:
    """A pattern for these words as whole words."""
    return rf"(?<!\w){re.escape(words)}(?!\w)"


def _contains(text: str, words: str) -> bool:
    return re.search(_word_pattern(words), text) is not None


def _count(answers: Iterable[bool]) -> Share:
    listed = list(answers)
    return Share(sum(listed), len(listed))


def _counts(
    outcomes: Iterable[CaseOutcome], keys: Callable[[CaseOutcome], Iterable[str]], holds: Callable[[CaseOutcome], bool]
) -> dict[str, Share]:
    """The share of outcomes for which `holds` is true, by key."""
    answers: dict[str, list[bool]] = {}
    for outcome in outcomes:
        for key in keys(outcome):
            answers.setdefault(key, []).append(holds(outcome))
    return {key: _count(listed) for key, listed in answers.items()}


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
        words = {name: row.get(name, "") for name in ("writer", "error", "twin")}
        accept, fixed = tuple(row.get("accept", ())), tuple(row.get("fixed", ()))
        case = Case(row["kind"], row["text"], accept, words["writer"], words["error"], fixed)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"expected {FORM}") from None
    if not all(isinstance(value, str) and value for value in (case.kind, case.text, *accept)):
        raise InputError("kind, text and accepted corrections must be strings")
    if not all(isinstance(value, str) for value in (*words.values(), *fixed)):
        raise InputError("writer, error, fixed and twin must be strings")
    if "\n" in case.text or "\n" in words["twin"] or case.text in accept:
        raise InputError("a text is one line, and none of its own corrections")
    if case.error and not (_contains(case.text, case.error) and accept and all(map(case.lost_its_error, accept))):
        raise InputError("the words of error must be in the text, those of fixed in each accepted correction instead")
    return [case, Case(f"{case.kind}, twin", words["twin"])] if words["twin"] else [case]


def read_lines_as_cases(path: str | Path) -> list[Case]:
    """The lines of any text file, as cases without a kind. Raises InputError where there are none."""
    lines = [line for line in read_lines(path) if line.strip()]
    if not lines:
        raise InputError(f"{path}: no text in it")
    return [Case("", line) for line in lines]


def run_checklist(
    path: str | Path,
    system: str,
    model: str | None = None,
    min_confidence: float | None = None,
) -> ChecklistResult:
    """Give each text to a system, then its output. `path` holds cases, or any text if it is not called .jsonl."""
    plain = Path(path).suffix != ".jsonl"
    cases = read_lines_as_cases(path) if plain else read_cases(path)
    first = systems.run_system(system, [case.text for case in cases], model, min_confidence, markup=True)
    second = systems.run_system(system, [output.text for output in first], model, min_confidence, markup=True)
    outcomes = [CaseOutcome(c, a.text, b.text) for c, a, b in zip(cases, first, second, strict=True)]
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]
    who = systems.describe_system(system, model, min_confidence)
    signature = f"{'AGAIN' if plain else 'CASES'}|set:{Path(path).name}:{digest}|sys:{who}|edit-gec:{version()}"
    return ChecklistResult(Path(path).name, system, outcomes, signature, plain)


def format_table(results: Sequence[ChecklistResult]) -> str:
    """For people: the share that passed by kind, what failed, and how much changed the second time."""
    return "\n".join(_format_result(result) for result in results)


def _format_result(result: ChecklistResult) -> str:
    count = len(result.outcomes)
    lines = [f"{result.name}, {result.system}"]
    if not result.plain:
        lines += [*align_columns(_kind_rows(result)), *_format_named(result)]
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


def _kind_rows(result: ChecklistResult) -> list[list[str]]:
    """A row for each kind, and one for all; with a column for the named errors that are gone, where there are any."""
    gone = result.errors_gone
    rows = [["kind", "passed", "of", "%", *(["errors gone"] if gone else [])]]
    for name, (passed, cases) in [*sorted(result.kinds.items()), ("all", (result.passed, len(result.outcomes)))]:
        row = [name, str(passed), str(cases), f"{100 * passed / cases:.1f}"]
        rows.append([*row, str(gone[name].part) if name in gone else ""] if gone else row)
    return rows


def _format_named(result: ChecklistResult) -> list[str]:
    """The totals over cases with a named error, overall and by group."""
    if not result.named:
        return []
    groups = ", ".join(f"{name} {passed}/{cases}" for name, (passed, cases) in sorted(result.groups.items()))
    corrected, wrong = result.wrong
    alone, right = result.right
    named_gone = sum(share.part for share in result.errors_gone.values())
    return [
        f"corrected: {corrected} of {wrong} ({groups})",
        f"named errors gone: {named_gone} of {len(result.named)}; left alone: {alone} of {right}",
    ]


def _sorted(counts: dict[str, Share]) -> dict[str, list[int]]:
    return {key: list(pair) for key, pair in sorted(counts.items())}


def to_data(results: Sequence[ChecklistResult]) -> list[dict[str, Any]]:
    """The same as plain data, ready for JSON."""
    out = []
    for one in results:
        row: dict[str, Any] = {"set": one.name, "system": one.system, "metric": "again" if one.plain else "cases"}
        row |= {"texts": len(one.outcomes), "changed": one.changed, "changed_again": one.changed_again}
        if not one.plain:
            row |= {"passed": one.passed, "wrong": one.wrong, "right": one.right, "kinds": _sorted(one.kinds)}
            if one.named:
                row |= {"errors_gone": _sorted(one.errors_gone), "groups": _sorted(one.groups)}
            failed = [o for o in one.outcomes if not o.passed]
            row["failed"] = [{"kind": o.case.kind, "text": o.case.text, "corrected": o.corrected} for o in failed]
        row["again"] = [[o.case.text, o.corrected, o.again] for o in one.outcomes if o.again != o.corrected]
        out.append(row | {"signature": one.signature})
    return out
