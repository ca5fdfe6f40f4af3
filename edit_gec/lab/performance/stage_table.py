"""A profile as text: the case study's table, the stages of each system, and operators."""

from __future__ import annotations

from typing import Any

from edit_gec.text.tables import align_columns

# What the slide of the case study says.
SLIDE = [
    ["case study: T5", "15", "7", "27", "189", "", "", "", "", ""],
    ["case study: EdiT5", "15", "1.3", "10", "13", "5", "", "", "14.5x", ""],
]


def format_table(profile: dict[str, Any]) -> str:
    """Systems and their reduction factors in the columns of the case study, beside its own numbers."""
    s = profile["settings"]
    head = f"{' + '.join(s['models'])} on {profile['machine']['name']}: {s['device']}, {s['dtype']}, {s['mode']}, "
    head += f"{profile['machine']['threads']} threads; {s['texts']} text(s), {s['repeats']} runs, that of median length"
    lines = [head, f"replayed: {s['replayed']}" if s["replayed"] else "the models' own output", ""]
    rows = [["", "encoder ms", "ms/step", "steps", "decoder ms", "overhead ms", "total ms", "p95 ms", "decoder", "all"]]
    for name, own in profile["systems"].items():
        factors = profile["reduction"].get(name, {})
        rows.append([
            name, f"{own['encoder_ms']:.1f}", f"{own['step_ms']:.2f}", f"{own['steps']:g}", f"{own['decoder_ms']:.1f}",
            f"{own['overhead_ms']:.1f}", f"{own['total_ms']:.1f}", f"{own['total_p95_ms']:.1f}",
            *(f"{factors[key]:.1f}x" if key in factors else "" for key in ("decoder", "total")),
        ])  # fmt: skip
    if profile.get("case_study"):
        rows += SLIDE
    lines += align_columns(rows)
    if profile.get("disturbed"):
        lines.append(f"the machine was busy, do not quote these figures: {profile['disturbed']}")
    for name, own in profile["systems"].items():
        if name.startswith("edit5"):
            lines.append(
                f"{name}: tag, point and realize take {own['plan_over_encoder']:.0%} of the encoder's time, "
                f"everything {own['total_over_encoder']:.2f}x"
            )
    for name, factors in profile["reduction"].items():
        if "decoder_in_10_steps" in factors:
            lines.append(f"{name} at the case study's 10 steps: decoder {factors['decoder_in_10_steps']:.1f}x")
            lines.append("(9 are run here: the tags open the first slot, it is not generated)")
    return "\n".join(lines) + "\n"


def format_stages(profile: dict[str, Any]) -> str:
    """The stages of each system."""
    rows = [["stage", "n", "ms", "p95", "device"]]
    for name, own in profile["systems"].items():
        rows.append([name.upper(), *[""] * 4])
        for stage in own["stages"]:
            times = ("" if stage[key] is None else f"{stage[key]:.2f}" for key in ("ms", "p95_ms", "device_ms"))
            rows.append([stage["name"], f"{stage['regions']:g}", *times])
        rows.append(["unattributed", "", f"{own['unattributed_ms']:.2f}", "", ""])
    return "\n".join(["stages", *align_columns(rows)]) + "\n"


def format_operators(profile: dict[str, Any]) -> str:
    """The graphs of ONNX Runtime with their operators; "" where torch ran."""
    rows = [["graph, operator", "runs", "ms", "of it"]]
    for own in profile["systems"].values():
        for name, graph in own.get("graphs", {}).items():
            rows.append([name.upper(), f"{graph['runs']:g}", f"{graph['ms']:.2f}", ""])
            rows += [[kind, "", f"{ms:.3f}", f"{ms / graph['ms']:.0%}"] for kind, ms in graph["operators"].items()]
    return "\n".join(["", *align_columns(rows), ""]) if len(rows) > 1 else ""
