"""Stability: do the other suggestions of a sentence stay when a writer accepts the first one?

    edit-gec score --stability dev.m2 --system edit-gec

    They was late and i dont know why.      was -> were, i -> I, dont -> don't
    They were late and i dont know why.     nothing: two suggestions have vanished

A writer who sees no more marks believes that the sentence is right. Each sentence with two or more suggestions is
corrected again with its first suggestion accepted, and the new suggestions are compared with the remaining ones.
edit-gec runs as in the server and in editors, where suggestions stand (runtime/standing.py). The score without memory
is reported as well.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from edit_gec.annotation.m2 import read_lines, read_m2
from edit_gec.errors import InputError
from edit_gec.evaluation import systems
from edit_gec.evaluation.edit_kinds import TextEdit
from edit_gec.evaluation.errant_score import touches
from edit_gec.evaluation.projection import diff_words
from edit_gec.evaluation.systems import Output
from edit_gec.runtime.async_corrector import AsyncCorrector
from edit_gec.text.detokenize import detokenize, splits_hyphens
from edit_gec.text.formats import PLAIN
from edit_gec.text.tables import align_columns
from edit_gec.version import version

Suggest = Callable[[list[str]], Awaitable[list[Output]]]
SHOWN = 10  # sentences that the table shows


class Acceptance(NamedTuple):
    """A sentence whose first suggestion was accepted: the other suggestions before, and the suggestions now.

    Offsets are those of the sentence before and after.
    """

    before: str
    suggested: Sequence[TextEdit]
    after: str
    suggested_again: Sequence[TextEdit]

    @property
    def left(self) -> list[TextEdit]:
        """The other suggestions, in offsets of the sentence after the first was accepted."""
        first, *others = self.suggested
        shift = len(first.replacement) - (first.end - first.start)
        return [TextEdit(start + shift, end + shift, new) for start, end, new in others]

    @property
    def changed(self) -> int:
        """Other suggestions that now have a different replacement at the same place."""
        return sum(
            edit not in self.suggested_again and any(touches(edit, now) for now in self.suggested_again)
            for edit in self.left
        )

    @property
    def vanished(self) -> int:
        """Other suggestions whose place has no suggestion now."""
        return sum(not any(touches(edit, now) for now in self.suggested_again) for edit in self.left)


@dataclass(frozen=True)
class StabilityScore:
    """The sentences of a set with several suggestions of one system, each after its first was accepted."""

    name: str
    system: str
    sentences: int
    acceptances: Sequence[Acceptance]
    signature: str
    read_anew: Sequence[Acceptance] | None = None  # the same without memory, for a system that has one

    @property
    def counts(self) -> dict[str, int]:
        """How many sentences, how many of them with several suggestions, and what became of the other suggestions."""
        counts = {
            "sentences": self.sentences,
            "with several suggestions": len(self.acceptances),
            "some vanish": sum(a.vanished > 0 for a in self.acceptances),
            "all vanish": sum(a.vanished == len(a.left) for a in self.acceptances),
            "nothing is suggested any more": sum(not a.suggested_again for a in self.acceptances),
            "other suggestions": sum(len(a.left) for a in self.acceptances),
            "of them vanished": sum(a.vanished for a in self.acceptances),
            "of them changed": sum(a.changed for a in self.acceptances),
        }
        if self.read_anew is not None:
            counts["some vanish, nothing remembered"] = sum(a.vanished > 0 for a in self.read_anew)
        return counts

    @property
    def vanish_rate(self) -> float:
        """Percentage of the sentences with several suggestions in which others vanish; 0 without such sentences."""
        return 100 * self.counts["some vanish"] / max(len(self.acceptances), 1)


def read_sentences(path: str | Path) -> list[str]:
    """Raw sentences: the lines of a text file, or the detokenised ones of an M2 file.

    Raises InputError where there are none.
    """
    if str(path).endswith(".m2"):
        tokens = [sentence.tokens for sentence in read_m2(path)]
        split = splits_hyphens(tokens)
        return [detokenize(each, split).text for each in tokens]
    lines = [line for line in read_lines(path) if line.strip()]
    if not lines:
        raise InputError(f"{path}: no text in it")
    return lines


def score_stability(
    path: str | Path, system: str, model: str | None = None, min_confidence: float | None = None
) -> StabilityScore:
    """Accept the first suggestion of every sentence that has several, and correct it again."""
    texts = read_sentences(path)

    async def run(given: list[str]) -> list[Output]:
        return systems.run_system(system, given, model, min_confidence)

    anew = None
    if system == "edit-gec":
        acceptances, anew = asyncio.run(_accept_remembering(texts, run, model, min_confidence))
    else:
        acceptances = asyncio.run(_accept_first(texts, run))
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]
    memory = "" if anew is None else "suggestions:stand|"
    who = systems.describe_system(system, model, min_confidence)
    signature = f"STABILITY|accept:first|{memory}set:{Path(path).name}:{digest}|sys:{who}|edit-gec:{version()}"
    return StabilityScore(Path(path).name, system, len(texts), acceptances, signature, anew)


async def _accept_first(texts: Sequence[str], suggest: Suggest, again: Suggest | None = None) -> list[Acceptance]:
    """The sentences with several suggestions; `again` corrects them after the first, by default as `suggest` does."""
    outputs = await suggest(list(texts))
    suggested = ((text, _suggestions(text, output)) for text, output in zip(texts, outputs, strict=True))
    several = [(text, edits) for text, edits in suggested if len(edits) > 1]
    accepted = [text[: edits[0].start] + edits[0].replacement + text[edits[0].end :] for text, edits in several]
    now = await (again or suggest)(accepted) if accepted else []
    return [
        Acceptance(text, edits, after, _suggestions(after, output))
        for (text, edits), after, output in zip(several, accepted, now, strict=True)
    ]


async def _accept_remembering(
    texts: Sequence[str], anew: Suggest, model: str | None, min_confidence: float | None
) -> tuple[list[Acceptance], list[Acceptance]]:
    """The acceptances where suggestions stand, and where the second text is read `anew`."""
    async with AsyncCorrector(systems.load_corrector(model, min_confidence)) as corrector:

        async def suggest(given: list[str]) -> list[Output]:
            corrections = await asyncio.gather(*(corrector.correct(text, format=PLAIN) for text in given))
            return [Output.from_correction(correction) for correction in corrections]

        return await _accept_first(texts, suggest), await _accept_first(texts, suggest, anew)


def _suggestions(text: str, output: Output) -> list[TextEdit]:
    """The edits that a system proposes, in order. For a system that only gives text, the words that differ."""
    if output.changes:
        return [TextEdit(c.start, c.end, c.replacement) for c in sorted(output.changes)]
    return [TextEdit(i, j, output.text[k:m]) for i, j, k, m in diff_words(text, output.text)]


def format_table(scores: Sequence[StabilityScore]) -> str:
    """For people: the counts of each system, and some of the sentences where suggestions vanish."""
    return "\n".join(_format_score(score) for score in scores)


def _format_score(score: StabilityScore) -> str:
    lines = [f"{score.name}, {score.system}"]
    lines += align_columns([["", "count"], *([name, str(count)] for name, count in score.counts.items())])
    lines.append(f"others vanish in {score.vanish_rate:.1f} % of the sentences with several suggestions")
    lost = [acceptance for acceptance in score.acceptances if acceptance.vanished]
    for acceptance in lost[:SHOWN]:
        lines.append(f"  {acceptance.before}\n  -> {acceptance.after}\n     lost: {_show_lost(acceptance)}")
    return "\n".join([*lines, f"signature  {score.signature}", ""])


def _show_lost(acceptance: Acceptance) -> str:
    lost = [e for e in acceptance.left if not any(touches(e, now) for now in acceptance.suggested_again)]
    return ", ".join(f"{acceptance.after[start:end]!r} -> {new!r}" for start, end, new in lost)


def to_data(scores: Sequence[StabilityScore]) -> list[dict[str, Any]]:
    """The same as plain data, ready for JSON."""
    return [
        {
            "set": score.name,
            "system": score.system,
            "metric": "stability",
            "counts": score.counts,
            "others_vanish_percent": round(score.vanish_rate, 2),
            "signature": score.signature,
        }
        for score in scores
    ]
