"""All systems on the same sentences, in turn: latency one by one, throughput in batches.

The result is plain values: for each system `latency` (seconds of each sentence, quantiles), `throughput` (sentences a
second by batch), `same_output` (share of sentences with the text of the target's greedy decoding), and the names of
those that were left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from edit_gec.errors import InputError
from edit_gec.lab.performance import peers, systems
from edit_gec.lab.performance.drafting import Verification, summarize
from edit_gec.lab.performance.peers import Run
from edit_gec.lab.performance.setup import Pair, Setup
from edit_gec.lab.performance.sizes import SIZES
from edit_gec.lab.performance.systems import System
from edit_gec.lab.performance.timing import interleave, medians
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.speculative.statistics import quantile
from edit_gec.text.counts import format_count

REFERENCES = ("t5", "lm")  # whose text the exact systems write
Rows = dict[str, dict[str, Any]]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """What is measured and how often. `only` names systems, none of them: all."""

    size: str = "shipped"
    only: Sequence[str] = ()
    batches: Sequence[int] = (1, 8, 32)
    repeats: int = 3

    def systems(self, setup: Setup) -> list[System]:
        """The requested systems. Raises InputError for an unknown size or system."""
        if self.size not in SIZES:
            raise InputError(f"size {self.size}: expected {' or '.join(SIZES)}")
        every = systems.list_systems(setup)
        return [systems.find_system(name, every) for name in self.only] if self.only else list(every)


@dataclass(frozen=True)
class TimedSentences:
    """The sentences, with the pieces of each, and how often each of them is timed."""

    sentences: Sequence[str]
    pieces: Sequence[int]
    repeats: int
    device: str

    def batches(self, size: int) -> list[list[str]]:
        """Batches of similar length."""
        order = sorted(range(len(self.sentences)), key=self.pieces.__getitem__)
        return [[self.sentences[n] for n in order[at : at + size]] for at in range(0, len(order), size)]


def measure_side_by_side(
    given: Setup, sentences: Sequence[str], effort: Effort | None = None, say: Say = lambda line: None
) -> dict[str, Any]:
    """Measure every system that can run here. Raises InputError for an unknown size or system."""
    effort = effort or Effort()
    chosen = effort.systems(given)
    with TemporaryDirectory(prefix="edit-gec-bench-") as work:
        ready = prepare(Path(work), given, sentences, effort.size, chosen)
        skipped = {system.name: why for system in chosen if (why := systems.missing(system, ready))}
        for name, why in skipped.items():
            say(f"left out: {name}: {why}")
        chosen = [system for system in chosen if system.name not in skipped]
        rows = {system.name: {"replayed": system.follows and ready.streams is not None} for system in chosen}
        result: dict[str, Any] = {"systems": rows, "skipped": skipped, "prefix": ready.prefix or ""}
        result["reference"] = next((name for name in REFERENCES if name in rows), "")
        if ready.streams is not None:
            result["streams"] = f"{Path(given.model).name}, {Path(given.target).name or 'whose text the T5s write'}"
        measure_warm(rows, chosen, ready, sentences, effort, say)
    return result


def prepare(work: Path, given: Setup, sentences: Sequence[str], size: str, chosen: Sequence[System]) -> Setup:
    """Folders of this size in `work`, converted for systems that read another format."""
    ready = SIZES[size](work, given, sentences)
    for system in chosen:
        precision = system.name.partition(" ")[2]
        if system.module == "ctranslate2" and systems.missing(system, ready) is None:
            peers.convert_target(ready.exported or ready.target, work / precision, precision)
            ready = replace(ready, converted={**ready.converted, precision: str(work / precision)})
    return ready


# ---------------------------------------------------------------- in this process, in turns


def measure_warm(
    rows: Rows, chosen: Sequence[System], ready: Setup, sentences: Sequence[str], effort: Effort, say: Say
) -> None:
    """Outputs, latency and throughput of all systems, each with a pair of its own."""
    tokens = Tokens.load(ready.model if ready.is_causal else ready.target or ready.model, 0)
    sample = TimedSentences(sentences, [len(tokens.ids(s)) for s in sentences], effort.repeats, ready.device)
    say(f"loading {len(chosen)} systems")
    shared = Pair(ready)  # a language model takes a gigabyte: one for all
    runs = {system.name: system.build(shared if ready.is_causal else Pair(ready)) for system in chosen}
    for name, outputs in compare_outputs(chosen, runs, sentences).items():
        rows[name].update(outputs)
    if 1 in effort.batches:
        say(f"latency of {format_count(len(sentences), 'sentence')}")
        measure_latency(rows, runs, sample)
        count_drafting(rows, runs, sample, 1)
    able = {system.name: runs[system.name] for system in chosen if system.batches}
    for batch in (number for number in effort.batches if number > 1):
        if batch > len(sentences):
            say(f"left out: batches of {batch}: there are only {len(sentences)} sentences")
            continue
        say(f"batches of {batch}")
        measure_throughput(rows, able, sample, batch)
        count_drafting(rows, able, sample, batch)


def compare_outputs(chosen: Sequence[System], runs: Mapping[str, Run], sentences: Sequence[str]) -> Rows:
    """The share of sentences on which each system writes what the target does. This is the warm-up as well."""
    outputs = {name: [run([sentence])[0] for sentence in sentences] for name, run in runs.items()}
    reference = next((outputs[name] for name in REFERENCES if name in outputs), None)
    if reference is None:
        return {}
    same = {name: fmean(a == b for a, b in zip(texts, reference, strict=True)) for name, texts in outputs.items()}
    return {system.name: {"same_output": same[system.name], "exact": system.exact} for system in chosen}


def measure_latency(rows: Rows, runs: Mapping[str, Run], sample: TimedSentences) -> None:
    """Seconds of each sentence alone, which is the throughput in batches of 1 as well."""
    times = interleave(runs, [[s] for s in sample.sentences], repeats=sample.repeats, device=sample.device)
    for name, of_jobs in times.items():
        each = medians(of_jobs)
        rows[name]["latency"] = {
            "p50_s": quantile(each, 0.5),
            "p95_s": quantile(each, 0.95),
            "mean_s": fmean(each),
            "sentences": [[pieces, t] for pieces, t in zip(sample.pieces, each, strict=True)],
        }
        rows[name]["throughput"] = {"1": 1 / fmean(each)}


def measure_throughput(rows: Rows, runs: Mapping[str, Run], sample: TimedSentences, batch: int) -> None:
    """Sentences a second in batches of similar length."""
    times = interleave(runs, sample.batches(batch), repeats=sample.repeats, device=sample.device)
    for name, of_jobs in times.items():
        rows[name].setdefault("throughput", {})[str(batch)] = len(sample.sentences) / sum(medians(of_jobs))


def count_drafting(rows: Rows, runs: Mapping[str, Run], sample: TimedSentences, batch: int) -> None:
    """Passes and tokens of the systems that verify drafts, in what was just timed."""
    for name, run in runs.items():
        if isinstance(run, Verification):
            rows[name].setdefault("drafting", {})[str(batch)] = summarize(run, sample.sentences)
