"""Rewrite the measured part of a model card: size, scores, reliability, robustness, failures, time and carbon.

    SETS="wi-3k jfleg-dev clean cweb-G-dev cweb-S-dev gmeg-wiki-dev gmeg-fce-dev"
    edit-gec score --benchmark $SETS --system edit-gec --format json > profiles/score/edit5-mini.json
    edit-gec score --benchmark wi-3k --system edit-gec --min-confidence 0 --format json \\
        > profiles/score/edit5-mini-all.json
    python profiles/training/model_card.py --run first

    python profiles/training/model_card.py --run long --attribution  # a model of all of data/README.md

It works on a checkout of the repository: `--run` names a run of profiles/training/curves.csv, which says how long the
training took. Robustness (tests/robustness) is measured here, in a few seconds. Everything between the two marks in the
card is written again, everything else stays; with --attribution the section "Licence and attribution" at its end, too.
Scores of another model than the one in the folder are refused.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from edit_gec.errors import InputError
from edit_gec.lab.training.entry import run_main
from edit_gec.text.files import atomic_write

LISTS = ("leave_alone.jsonl", "correct.jsonl", "obvious.jsonl")  # of tests/robustness
CREDITS = "## Licence and attribution"
BEGIN = "<!-- measured: model_card.py writes from here -->"
END = "<!-- measured: to here -->"
SETS = {
    "wi-3k": "wi-3k (learners), P / R / F0.5",
    "cweb-G-dev": "cweb-G-dev (native web text), F0.5",
    "cweb-S-dev": "cweb-S-dev (native web text), F0.5",
    "jfleg-dev": "jfleg-dev, GLEU",
    "gmeg-wiki-dev": "gmeg-wiki-dev, GLEU",
    "gmeg-fce-dev": "gmeg-fce-dev, GLEU",
    "clean": "clean.txt, changed per 100 sentences",
}
SYSTEMS = {"edit-gec": "this model", "harper": "Harper 2.10", "codespell": "codespell", "none": "doing nothing"}
WIDTH = 120
TEXTS = ("prose/", "edits/ewt", "labelled:", "spelling/", "words/")  # rows of data/README.md that name authors begin so
_WHOLE: dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}  # names of repositories stay whole
READ = ("model.safetensors", "spiece.model", "words.txt", "config.json")  # what a corrector reads of a folder
KG_PER_KWH = 0.47  # CO2 of electricity, mean of the world in 2024 (Ember, Global Electricity Review 2025)


def read_rows(path: Path, who: str) -> list[dict[str, Any]]:
    """Rows of a model alone in a result file of `edit-gec score`. Raises InputError when they are of another model."""
    rows: list[dict[str, Any]] = [
        row for row in json.loads(path.read_text(encoding="utf-8")) if "+" not in row["system"]
    ]
    for row in rows:
        if f"sys:edit-gec+{who}:" not in row["signature"]:
            raise InputError(f"{path}: scores of another model than {who}; measure again (see {Path(__file__).name})")
    return rows


def format_score(row: dict[str, Any]) -> tuple[str, float]:
    """The text for the table, and the figure to compare."""
    scores, metric = row["scores"], row["metric"]
    if row["set"] == "wi-3k":
        return f"{scores['P']:.1f} / {scores['R']:.1f} / {{}}{scores['F0.5']:.1f}{{}}", scores["F0.5"]
    figure = scores["changed per 100" if metric == "false alarms" else metric]
    return f"{{}}{figure:.1f}{{}}", -figure if metric == "false alarms" else figure


def describe_scores(rows: list[dict[str, Any]]) -> str:
    """Our scores next to those of other tools; the best of each row, doing nothing apart, in bold."""
    lines = [f"| set | {' | '.join(SYSTEMS.values())} |", "|---|---|---|---|---|"]
    for test, title in SETS.items():
        cells = {}
        for row in rows:
            system = next((key for key in SYSTEMS if key in row["system"]), None)
            if row["set"] == test and system and not (system == "none" and row["metric"] == "F0.5"):
                cells[system] = format_score(row)
        best = max((figure for system, (_, figure) in cells.items() if system != "none"), default=0.0)
        shown = []
        for system in SYSTEMS:
            text, figure = cells.get(system, ("-", 0.0))
            mark = "**" if system != "none" and figure == best else ""
            shown.append(text.format(mark, mark))
        lines.append(f"| {title} | {' | '.join(shown)} |")
    return "\n".join(lines)


def describe_reliability(folder: Path, rows: list[dict[str, Any]], everything: list[dict[str, Any]], plot: Path) -> str:
    """Draw the diagram for the row with the most edits; returns what the card says about it."""
    calibrated = [row for row in everything if "calibration" in row]
    row = max(calibrated, key=lambda r: sum(b["edits"] for b in r["calibration"]["bins"]))
    bins, ece = row["calibration"]["bins"], row["calibration"]["ece"]
    draw_reliability(bins, plot)
    edits = sum(b["edits"] for b in bins)
    threshold = json.loads((folder / "config.json").read_text(encoding="utf-8"))["thresholds"]["min_confidence"]
    precision = next(r["scores"]["P"] for r in rows if r["set"] == row["set"])
    text = (
        f"Confidence against the share of edits that are the annotator's own: {row['set']}, {edits} edits, expected "
        f"calibration error {ece:.3f}. Areas of the points are numbers of edits; on the diagonal the confidence is "
        f"true. The default threshold is {threshold:g}; of the edits above it {precision:.0f} % are right."
    )
    return f"![Reliability diagram](../../profiles/score/{plot.name})\n\n{fill(text, WIDTH)}"


def draw_reliability(bins: list[dict[str, float]], path: Path) -> None:
    """Share right against mean confidence, with the diagonal of a perfect calibration."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(4.5, 4.2))
    axes.plot([0, 1], [0, 1], ":", color="grey")
    largest = max(b["edits"] for b in bins)
    xs, ys = [b["confidence"] for b in bins], [b["right"] for b in bins]
    axes.plot(xs, ys, "-", color="C0", alpha=0.5)
    axes.scatter(xs, ys, [20 + 180 * b["edits"] / largest for b in bins], color="C0")
    axes.set(xlabel="confidence", ylabel="share of edits that are right", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def describe_robustness(cases: list[dict[str, Any]]) -> str:
    """Shares by kind, and how many texts change when they are corrected again."""
    blocks = []
    for row in cases:
        wrong = row["wrong"][1] > 0
        passed, texts = row["wrong" if wrong else "right"]
        kinds = {kind: counts for kind, counts in row["kinds"].items() if not kind.endswith(", twin")}
        verb = f"of {row['set']} corrected rightly" if wrong else "left alone, as they should be"
        blocks.append(f"- **{passed} of {texts}** texts ({100 * passed / texts:.1f} %) {verb}: {list_shares(kinds)}.")
        if wrong and row["right"][1]:
            alone, twins = row["right"]
            blocks.append(f"- **{alone} of {twins}** twins, texts much like them that are right, are left alone.")
    texts = sum(row["texts"] for row in cases)
    again = sum(row["changed_again"] for row in cases)
    blocks.append(f"- Corrected a second time, {again} of {texts} texts ({100 * again / texts:.1f} %) change again.")
    return "\n".join(fill(block, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for block in blocks)


def list_shares(counts: dict[str, list[int]]) -> str:
    """`kind passed/count` of each, the highest share first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1][0] / item[1][1], item[0]))
    return ", ".join(f"{kind} {passed}/{count}" for kind, (passed, count) in ordered)


def describe_failures(cases: list[dict[str, Any]]) -> str:
    """One example of each kind that fails, as code, so that nothing in it is taken for markup."""
    lines = []
    for row in cases:
        first = {failure["kind"]: failure for failure in reversed(row["failed"])}
        for kind, failure in sorted(first.items()):
            same = failure["corrected"] == failure["text"]
            made = "is left alone" if same else f"becomes `{failure['corrected']}`"
            lines.append(f"- {kind}: `{failure['text']}` {made}")
    return "\n".join(lines)


def describe_size(folder: Path) -> str:
    """Parameters and bytes."""
    from edit_gec.modeling.checkpoint import read_tensors

    parameters = sum(tensor.numel() for tensor in read_tensors(folder).values())
    total = sum((folder / name).stat().st_size for name in READ)
    return f"{parameters / 1e6:.1f} million parameters, {total / 1e6:.1f} MB on the disk, a byte for each weight."


def describe_cost(curves: Path, run: str, watts: float) -> str:
    """Pairs, hours, energy and carbon of a run in curves.csv. Raises InputError where it is not there."""
    with curves.open(encoding="utf-8", newline="") as lines:
        stages = [row for row in csv.DictReader(lines) if row["run"] == run]
    if not stages:
        raise InputError(f"{curves}: no run {run!r}; add its stages with profiles/training/curves.py")
    last = stages[-1]
    hours = float(last["hours"])
    cores = int(last["cores"])
    energy = hours * cores * watts / 1000
    text = (
        f"{int(last['pairs']):,} pairs in {hours:.1f} hours on {cores} CPU cores, {hours * cores:.1f} CPU hours. At an "
        f"assumed {watts:g} W for each core with its share of the machine that is {energy:.2f} kWh, or about "
        f"{1000 * energy * KG_PER_KWH:.0f} g of CO2 at the world's mean of {1000 * KG_PER_KWH:.0f} g a kWh. Runs that "
        "only tried something out are not counted."
    )
    return fill(text, WIDTH)


def describe_attribution(tables: str) -> str:
    """Attribution and licences of a model that was trained on everything in the tables of data/README.md."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables.splitlines() if line[:2] == "| "]
    texts = [row for row in rows if len(row) == 5 and row[0].startswith(TEXTS)]
    owed: dict[str, list[str]] = {}  # by author: the licences of what is theirs
    for *_, licence, who in texts:
        owed.setdefault(who, []).append(licence)
    names = "; ".join(f"{who} ({', '.join(dict.fromkeys(licences))})" for who, licences in owed.items())
    edits = [row for row in rows if len(row) == 2 and "/" in row[1] and " " not in row[1].split(", ")[0]]
    lines = [fill(f"- {licence}: {names}", WIDTH, subsequent_indent="  ", **_WHOLE) for licence, names in edits]
    opening = f"The weights may be used under Apache-2.0. They were trained on text by others, with thanks: {names}."
    return (
        f"{CREDITS}\n\n{fill(opening, WIDTH, **_WHOLE)}\n\nReal edits come from the history of these repositories, by "
        "licence:\n\n" + "\n".join(lines) + "\n"
    )


def measure(model: Path, root: Path, run: str, watts: float) -> dict[str, str]:
    """Title -> text of each measured section; writes the results on the robustness lists and the diagram.

    Raises InputError where scores are missing, or are of another model.
    """
    from edit_gec.lab.evaluation import checklist
    from edit_gec.lab.evaluation.systems import ScoredSystem

    name = model.resolve().name
    results = root / "profiles" / "score"
    system = ScoredSystem("edit-gec", str(model))
    who = ":".join(system.identify_model().split(":")[:2])
    rows = read_rows(results / f"{name}.json", who)
    everything = results / f"{name}-all.json"
    confidences = read_rows(everything, who) if everything.exists() else rows
    lists = [root / "tests" / "robustness" / file for file in LISTS]
    cases = checklist.to_data([checklist.run_checklist(path, system) for path in lists])
    text = json.dumps(cases, indent=1, ensure_ascii=False) + "\n"
    atomic_write(results / f"{name}-cases.json", text.encode())
    baselines = json.loads((results / "baselines.json").read_text(encoding="utf-8"))
    signatures = f"Signatures are in [profiles/score](../../profiles/score/{name}.json)."
    plot = results / f"{name}-reliability.png"
    return {
        "Size": describe_size(model),
        "Scores": f"{describe_scores(rows + baselines)}\n\n{signatures}",
        "Confidence": describe_reliability(model.resolve(), rows, confidences, plot),
        "Robustness": f"On texts written for it (`tests/robustness`):\n\n{describe_robustness(cases)}",
        "Failures on these texts": describe_failures(cases),
        "Time and carbon": describe_cost(root / "profiles" / "training" / "curves.csv", run, watts),
    }


def rewrite(text: str, parts: dict[str, str], credits: str = "") -> str:
    """The card with other sections between the marks, and other credits at its end if they are given.

    Raises InputError where the marks are not there once each.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise InputError(f"model card: expected one line '{BEGIN}' and one line '{END}'")
    block = "\n\n".join(f"## {title}\n\n{part}" for title, part in parts.items())
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    if credits:
        after = after.split(CREDITS)[0] + credits
    return f"{before}{BEGIN}\n\n{block}\n\n{END}{after}"


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the card of a model folder; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(), help="checkout of the repository (default: here)")
    parser.add_argument("--model", type=Path, help="model folder (default: models/edit5-mini of the checkout)")
    parser.add_argument("--run", required=True, help="the run of curves.csv that made the model")
    parser.add_argument("--watts", type=float, default=10.0, help="power of one core, all told (default 10)")
    parser.add_argument("--attribution", action="store_true", help="write anew whose text the model learnt from")
    args = parser.parse_args(argv)
    model = args.model or args.root / "models" / "edit5-mini"
    card = model / "README.md"
    credits = (
        describe_attribution((args.root / "data" / "README.md").read_text(encoding="utf-8")) if args.attribution else ""
    )
    parts = measure(model, args.root, args.run, args.watts)
    atomic_write(card, rewrite(card.read_text(encoding="utf-8"), parts, credits).encode())
    return 0


if __name__ == "__main__":
    run_main(main)
