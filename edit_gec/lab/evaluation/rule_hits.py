"""What each rule finds in sentences whose errors are known: `edit-gec score --rules dev.m2`.

A match is a hit where an annotator makes one of its proposals, seen where one changes the same words in another way,
and else a false alarm. No model is asked: in a corrector a rule only proposes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from edit_gec.annotation.m2 import M2Edit, M2Sentence, apply_edits, read_m2
from edit_gec.rules.engine import DOUBLED, Found, find_all, load_rules
from edit_gec.text.detokenize import RawSentence, detokenize, splits_hyphens


@dataclass(frozen=True)
class RuleHits:
    """The matches of a rule: all, those that an annotator agrees with, and those where one changes something else."""

    rule: str
    matches: int
    hits: int
    seen: int


def count_hits(path: str) -> list[RuleHits]:
    """The matches of all rules in an M2 file, the most frequent rule first. Raises InputError as `read_m2` does."""
    sentences = read_m2(path)
    split = splits_hyphens([sentence.tokens for sentence in sentences])
    counts = {name: Counter[str]() for name in (DOUBLED, *(rule.name for rule in load_rules()))}
    for sentence in sentences:
        raw = detokenize(sentence.tokens, split)
        for found in find_all(raw.text):
            counts[found.rule].update(["matches", _judge(raw, sentence, found, split)])
    rows = [RuleHits(name, each["matches"], each["hits"], each["seen"]) for name, each in counts.items()]
    return sorted(rows, key=lambda row: (-row.matches, row.rule))


def _judge(raw: RawSentence, sentence: M2Sentence, found: Found, split: bool) -> str:
    """Whether a match is one of the "hits", just "seen", or "false"."""
    made = {raw.text[: found.start] + text + raw.text[found.end :] for text in found.texts}
    verdict = "false"
    for edits in sentence.annotators.values():
        here = [edit for edit in edits if _touches(raw, edit, found)]
        if here and detokenize(apply_edits(sentence.tokens, here), split).text in made:
            return "hits"
        verdict = "seen" if here else verdict
    return verdict


def _touches(raw: RawSentence, edit: M2Edit, found: Found) -> bool:
    """Whether an edit changes what was found, or inserts inside or right before or after it."""
    starts = [start for start, _ in raw.spans[edit.start : edit.end + 1]] or [len(raw.text)]
    ends = [end for _, end in raw.spans[edit.start : edit.end]] or starts[:1]
    return starts[0] <= found.end and found.start <= ends[-1]


def to_data(counts: Iterable[RuleHits]) -> list[dict[str, str | int]]:
    """The counts as plain JSON values."""
    return [vars(each) for each in counts]


def format_table(counts: Sequence[RuleHits]) -> str:
    """A line for each rule, and one for all."""
    total = RuleHits("all", *(sum(getattr(each, name) for each in counts) for name in ("matches", "hits", "seen")))
    return "".join(f"{line}\n" for line in _lines([*counts, total]))


def _lines(counts: Iterable[RuleHits]) -> Iterator[str]:
    yield f"{'rule':<20}{'matches':>8}{'hits':>6}{'seen':>6}{'false':>7}"
    for each in counts:
        false = each.matches - each.hits - each.seen
        yield f"{each.rule:<20}{each.matches:>8}{each.hits:>6}{each.seen:>6}{false:>7}"
