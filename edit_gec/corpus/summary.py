"""The summary of a job: counts over all its runs, rates, types of edits, acceptance, and cost per million sentences.

`worker_seconds` adds up the time that workers were busy. Rates are those of all workers side by side without a pause.
Start-up, planning and waiting for files are only in `wall_seconds`, which is that of the last run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from edit_gec.corpus.records import UnitResult
from edit_gec.text.counts import format_count


def summarize(
    results: Iterable[UnitResult],
    broken: dict[str, str],
    *,
    wall_seconds: float,
    hourly_cost: float | None = None,
) -> dict[str, Any]:
    """The summary as plain values, from the lines of the journal.

    `broken` are the files that could not be read. `hourly_cost` is that of all workers together, in any currency.
    """
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    seconds = 0.0
    elapsed = 0.0
    cut_short = 0
    workers = 0
    for result in results:
        counts.update(result["counts"])
        reasons.update(result["reasons"])
        seconds += result["seconds"]
        elapsed += result["seconds"] / result["workers"]
        workers = max(workers, result["workers"])
        cut_short += result["broken"] is not None
    sentences = counts["sentences"]
    hours = elapsed / 3600 / sentences * 1e6 if sentences else 0.0
    return {
        "rows": counts["rows"],
        "written": counts["written"],
        "null": counts["null"],
        "set_aside": dict(reasons.most_common()),
        "unreadable_files": len(broken),
        "files_cut_short": cut_short,
        "edited_rows": counts["edited"],
        "edits": counts["edits"],
        "types": _group_counts(counts, "type "),
        "characters": counts["characters"],
        "sentences": sentences,
        "sentences_inferred": counts["inferred"],
        "duplicates": round(1 - counts["inferred"] / sentences, 4) if sentences else 0.0,
        **({"verification": _summarize_verification(counts)} if counts["verified"] else {}),
        "workers": workers,
        "worker_seconds": round(seconds, 1),
        "wall_seconds": round(wall_seconds, 1),
        "rows_per_second": round(counts["rows"] / elapsed, 1) if elapsed else 0.0,
        "sentences_per_second": round(sentences / elapsed, 1) if elapsed else 0.0,
        "hours_per_million_sentences": round(hours, 3),
        "cost_per_million_sentences": None if hourly_cost is None else round(hours * hourly_cost, 4),
    }


def _group_counts(counts: Counter[str], prefix: str) -> dict[str, int]:
    """The counts whose names begin with `prefix`, the largest first."""
    found = {name.removeprefix(prefix): n for name, n in counts.items() if name.startswith(prefix) and n}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _summarize_verification(counts: Counter[str]) -> dict[str, Any]:
    passes = max(1, counts["target passes"])
    judged = max(1, counts["drafted tokens judged"])
    return {
        "sentences": counts["verified"],
        "too_long": counts["verified too long"],
        "unfinished": counts["verified unfinished"],
        "draft_is_output_rate": round(counts["verified as drafted"] / counts["verified"], 4),
        "acceptance": round(counts["drafted tokens accepted"] / judged, 4),
        "passes_per_sentence": round(counts["target passes"] / counts["verified"], 3),
        "tokens_per_pass": round(counts["target tokens"] / passes, 3),
        "edits_by_provenance": _group_counts(counts, "provenance "),
        "refused_edits": counts["refused"],
    }


def describe_summary(summary: dict[str, Any]) -> list[str]:
    """The summary in a few readable lines."""
    speed = f"{summary['sentences_per_second']:,} sentences a second on {format_count(summary['workers'], 'worker')}"
    cost = summary["cost_per_million_sentences"]
    lines = [
        f"{format_count(summary['written'], 'row')} written, {summary['edited_rows']:,} of them with "
        + format_count(summary["edits"], "edit")
    ]
    if summary["sentences"]:
        lines += [
            f"{format_count(summary['sentences'], 'sentence')}, {summary['duplicates']:.1%} of them seen before; "
            + speed,
            f"a million sentences: {summary['hours_per_million_sentences']:.3g} hours"
            + ("" if cost is None else f", cost {cost}"),
        ]
    if summary["types"]:
        lines.append("edits: " + ", ".join(f"{name} {n:,}" for name, n in list(summary["types"].items())[:10]))
    if "verification" in summary:
        verified = summary["verification"]
        lines.append(
            f"verified: {verified['draft_is_output_rate']:.1%} of drafts stand as they are, "
            f"{verified['acceptance']:.1%} of drafted tokens accepted, "
            f"{verified['passes_per_sentence']} passes a sentence"
        )
    bad = sum(summary["set_aside"].values())
    if bad:
        reasons = ", ".join(f"{why} {n:,}" for why, n in summary["set_aside"].items())
        lines.append(f"{format_count(bad, 'row')} set aside: {reasons}")
    if summary["unreadable_files"] or summary["files_cut_short"]:
        unreadable = format_count(summary["unreadable_files"], "file")
        short = format_count(summary["files_cut_short"], "file")
        lines.append(f"{unreadable} could not be read, {short} cut short")
    return lines
