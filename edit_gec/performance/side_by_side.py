"""All systems on the same sentences, in turns: latency one by one, throughput in batches, cold start, memory.

The result is plain values: for each system `latency` (seconds of each sentence, quantiles), `throughput` (sentences a
second by batch), `cold_start_s`, `peak_bytes`, `same_output` (share of sentences with the text of the target's greedy
decoding), and the names of those that were left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from edit_gec.errors import InputError
from edit_gec.performance import cold_start as cold
from edit_gec.performance import peers, setup, systems, timing
from edit_gec.performance.peers import Run
from edit_gec.performance.setup import Setup
from edit_gec.performance.systems import System
from edit_gec.tokens import Tokens

REFERENCE = "t5"  # whose text the exact systems write
Say = Callable[[str], None]


def side_by_side(
    given: Setup,
    sentences: Sequence[str],
    *,
    size: str = "shipped",
    only: Sequence[str] = (),
    batches: Sequence[int] = (1, 8, 32),
    repeats: int = 3,
    cold_starts: int = 3,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Measure every system that can run here. Raises InputError for a size or system that there is not."""
    if size not in setup.SIZES:
        raise InputError(f"size {size}: {' or '.join(setup.SIZES)} is wanted")
    chosen = [systems.named(name) for name in only] if only else list(systems.SYSTEMS)
    with TemporaryDirectory(prefix="edit-gec-bench-") as work, ExitStack() as stack:
        ready, chosen, skipped = prepare(Path(work), given, sentences, size, chosen)
        for name, why in skipped.items():
            say(f"left out: {name}: {why}")
        say(f"loading {len(chosen)} systems")
        runs = {system.name: systems.build(system, ready, stack) for system in chosen}
        tokens = Tokens.load(ready.target or ready.model, 0)
        rows = {system.name: {"replayed": bool(set(system.follows) & set(ready.replayed))} for system in chosen}
        result: dict[str, Any] = {"systems": rows, "skipped": skipped, "prefix": ready.prefix}
        if ready.replayed:
            result["streams"] = f"{Path(given.model).name}, {Path(given.target).name or 'whose text the T5s write'}"
        for name, outputs in written(chosen, runs, sentences).items():
            rows[name].update(outputs)
        if 1 in batches:
            say(f"latency of {len(sentences)} sentences")
            latency(rows, runs, sentences, tokens, repeats, ready.device)
        for batch in (number for number in batches if number > 1):
            if batch > len(sentences):
                say(f"left out: batches of {batch}: there are only {len(sentences)} sentences")
                continue
            say(f"batches of {batch}")
            throughput(rows, chosen, runs, sentences, tokens, batch, repeats, ready.device)
        stack.close()  # what follows runs alone
        runs.clear()
        for system in chosen if cold_starts else []:
            say(f"cold start: {system.name}")
            rows[system.name].update(started(system, ready, sentences, cold_starts, Path(work)))
        if cold_starts and size == "shipped":
            result["command_cold_start_s"] = commands(ready, sentences[0], cold_starts)
    return result


def prepare(
    work: Path, given: Setup, sentences: Sequence[str], size: str, chosen: Sequence[System]
) -> tuple[Setup, list[System], dict[str, str]]:
    """Folders of this size, converted for whoever needs it; who can run, and why the others cannot."""
    ready = getattr(setup, size)(work, given, sentences)
    for system in chosen:
        precision = system.name.partition(" ")[2]
        if system.module == "ctranslate2" and systems.missing(system, ready) is None:
            peers.convert(ready.target, work / precision, precision)
            ready = replace(ready, converted={**ready.converted, precision: str(work / precision)})
    skipped = {system.name: why for system in chosen if (why := systems.missing(system, ready))}
    return ready, [system for system in chosen if system.name not in skipped], skipped


def written(chosen: Sequence[System], runs: Mapping[str, Run], sentences: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The share of sentences on which each system writes what the target does. This is the warm-up as well."""
    outputs = {name: [run([sentence])[0] for sentence in sentences] for name, run in runs.items()}
    reference = outputs.get(REFERENCE)
    if reference is None:
        return {}
    same = {name: fmean(a == b for a, b in zip(texts, reference, strict=True)) for name, texts in outputs.items()}
    return {system.name: {"same_output": same[system.name], "exact": system.exact} for system in chosen}


def latency(
    rows: dict[str, dict[str, Any]],
    runs: Mapping[str, Run],
    sentences: Sequence[str],
    tokens: Tokens,
    repeats: int,
    device: str,
) -> None:
    """Seconds of each sentence alone, which is the throughput in batches of 1 as well."""
    times = timing.interleave(runs, [[s] for s in sentences], repeats=repeats, device=device)
    for name, of_jobs in times.items():
        each = timing.medians(of_jobs)
        rows[name]["latency"] = {
            "p50_s": timing.quantile(each, 0.5),
            "p95_s": timing.quantile(each, 0.95),
            "mean_s": fmean(each),
            "sentences": [[len(tokens.ids(s)), t] for s, t in zip(sentences, each, strict=True)],
        }
        rows[name]["throughput"] = {"1": 1 / fmean(each)}


def throughput(
    rows: dict[str, dict[str, Any]],
    chosen: Sequence[System],
    runs: Mapping[str, Run],
    sentences: Sequence[str],
    tokens: Tokens,
    batch: int,
    repeats: int,
    device: str,
) -> None:
    """Sentences a second in batches of similar length."""
    ordered = sorted(sentences, key=lambda sentence: len(tokens.ids(sentence)))
    jobs = [ordered[start : start + batch] for start in range(0, len(ordered), batch)]
    able = {system.name: runs[system.name] for system in chosen if system.batches}
    times = timing.interleave(able, jobs, repeats=repeats, device=device)
    for name, of_jobs in times.items():
        rows[name].setdefault("throughput", {})[str(batch)] = len(ordered) / sum(timing.medians(of_jobs))


def started(system: System, ready: Setup, sentences: Sequence[str], times: int, work: Path) -> dict[str, Any]:
    """Median cold start and highest peak over several processes."""
    all_of_them = [cold.start(system.name, ready, sentences[:32], work) for _ in range(times)]
    return {
        "cold_start_s": timing.quantile([each["cold_start_s"] for each in all_of_them], 0.5),
        **{key: max(each[key] for each in all_of_them) for key in all_of_them[0] if key.endswith("peak_bytes")},
    }


def commands(ready: Setup, sentence: str, times: int) -> dict[str, float]:
    """Median seconds of the command `edit-gec correct`, alone and with the target."""
    kinds = {"edit5": False, **({"edit5 + t5": True} if ready.target else {})}
    return {
        name: timing.quantile([cold.command_line(ready, sentence, verified=verified) for _ in range(times)], 0.5)
        for name, verified in kinds.items()
    }
