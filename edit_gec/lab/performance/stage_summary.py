"""What was measured, as plain values for JSON; times in milliseconds per text.

Total and stages are of one run, that of median length, so they add up; quantiles are over all runs.

The case study's terms: encoder, decoder steps (how many, how long each), overhead. Overhead is all that is neither:
split, tokens, tags, points, the decoders' setup, assembly. Reduction factors compare decoder latencies (steps; steps
with setup) with those of the first system, T5 alone where it was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from edit_gec.lab.performance.stages import TimedRun, rounded
from edit_gec.speculative.statistics import quantile
from edit_gec.tracing import STAGES

ENCODERS = ("encode", "target encode")
STEPS = ("insert step", "decoder step", "verify")
PLAN = ("tag", "point", "realize")  # what the case study calls EdiT5's overhead
SETUPS = ("insert setup", "decoder setup")
QUIET = 1.5  # p95 over the median, up to which a machine is called quiet: the committed base profiles have 1.0 to 1.2
CASE_STUDY_STEPS = 10  # of EdiT5's decoder, which also generates the first slot; here the tags have opened it


def summarize(runs: Sequence[TimedRun], texts: int) -> dict[str, Any]:
    """Figures of one system on that many texts."""
    run = find_typical(runs)
    names = [name for name in STAGES if any(span.name == name for span in run.spans)]
    stages = [_summarize_stage(name, runs, texts) for name in names]
    by_name = {stage["name"]: stage for stage in stages}

    def total(group: tuple[str, ...], key: str = "ms") -> float:
        return float(sum(by_name[name][key] for name in group if name in by_name))

    steps = round(total(STEPS, "regions"), 2)
    unattributed = run.total_s - sum(span.own_s for span in run.spans)
    whole = 1000 * run.total_s / texts
    encoder, decoder = total(ENCODERS), total(STEPS)
    return {
        "total_ms": rounded(whole),
        "total_p95_ms": rounded(1000 * quantile([each.total_s for each in runs], 0.95) / texts),
        "encoder_ms": rounded(encoder),
        "steps": steps,
        "step_ms": rounded(decoder / steps) if steps else 0.0,
        "decoder_ms": rounded(decoder),
        "setup_ms": rounded(total(SETUPS)),
        "overhead_ms": rounded(max(0.0, whole - encoder - decoder)),
        "plan_over_encoder": rounded(total(PLAN) / encoder) if encoder else 0.0,
        "total_over_encoder": rounded(whole / encoder) if encoder else 0.0,
        "unattributed_ms": rounded(1000 * unattributed / texts),
        "unattributed_share": rounded(unattributed / run.total_s),
        "stages": stages,
    }


def find_typical(runs: Sequence[TimedRun]) -> TimedRun:
    """The run of median length."""
    return sorted(runs, key=lambda run: run.total_s)[len(runs) // 2]


def _summarize_stage(name: str, runs: Sequence[TimedRun], texts: int) -> dict[str, Any]:
    """Times of a stage per text: in the run of median length, the 95th of 100 runs, and by the device's own clock."""
    own = [span.own_s for span in find_typical(runs).spans if span.name == name]
    device = [run.stage_on_device_s(name) for run in runs if run.device_s]
    return {
        "name": name,
        "regions": rounded(len(own) / texts),
        "ms": rounded(1000 * sum(own) / texts),
        "p95_ms": rounded(1000 * quantile([run.stage_s(name) for run in runs], 0.95) / texts),
        "device_ms": rounded(1000 * median(device) / texts) if device else None,
    }


def find_disturbance(systems: Mapping[str, Mapping[str, Any]], load: Sequence[float] | None) -> str | None:
    """Why the figures should not be quoted: other work on the machine, before or meanwhile; None if it was quiet."""
    signs = [f"load {load[0]:.1f} before the start"] if load and load[0] >= 1 else []
    ratios = {name: own["total_p95_ms"] / own["total_ms"] for name, own in systems.items() if own["total_ms"]}
    signs += [f"{name}: p95 is {ratio:.1f} times the median" for name, ratio in ratios.items() if ratio > QUIET]
    return "; ".join(signs) or None


def reduction_factors(systems: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Reduction factors against the first system: of decoder latency (steps, steps with setup) and of the total."""
    first, *others = systems
    base = systems[first]
    factors = {}
    for name in others:
        own = systems[name]
        factors[name] = {"total": rounded(base["total_ms"] / own["total_ms"])}
        if own["decoder_ms"]:
            factors[name]["decoder"] = rounded(base["decoder_ms"] / own["decoder_ms"])
            with_setup = (each["decoder_ms"] + each["setup_ms"] for each in (base, own))
            factors[name]["decoder_with_setup"] = rounded(next(with_setup) / next(with_setup))
        if name == "edit5-sequential" and own["step_ms"]:
            factors[name]["decoder_in_10_steps"] = rounded(base["decoder_ms"] / (CASE_STUDY_STEPS * own["step_ms"]))
    return factors
