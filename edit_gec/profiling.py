"""`edit-gec profile`: where every millisecond goes, in the shape of the case study.

    edit-gec profile                                              base size, random weights, the case study's sentence
    edit-gec profile --system t5 edit5 --repeats 50 --threads 1
    edit-gec profile --model edit5-mini --file sentences.txt      what the shipped model does with these sentences

Writes profiles/MACHINE/NAME.json and pictures beside it, a Chrome trace of each system to profiles/traces/, and prints
the table. The work is done in `edit_gec.performance`.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec import files
from edit_gec.errors import InputError
from edit_gec.performance import machine

if TYPE_CHECKING:
    from edit_gec.performance.stage_replay import Text
    from edit_gec.performance.stage_systems import Settings

PRESETS = ("edit5-base", "t5-base")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `edit-gec profile`."""
    add = parser.add_argument
    systems = ("t5", "edit5-sequential", "edit5", "verified")
    add("--system", nargs="+", choices=systems, default=[], help="what to measure (default: all the models allow)")
    models = parser.add_mutually_exclusive_group()
    models.add_argument("--preset", metavar="A,B", help="shapes with random weights (default: edit5-base,t5-base)")
    models.add_argument("--model", nargs="+", metavar="NAME|PATH", default=[], help="an EdiT5, a T5, or one of each")
    texts = parser.add_mutually_exclusive_group()
    texts.add_argument("--text", help="the sentence (default: the case study's)")
    texts.add_argument("--file", help="one sentence on each line; behind a tab what random weights shall make of it")
    add("--corrected", metavar="TEXT", help="what random weights shall make of --text")
    add("--device", default="cpu", metavar="D", help="cpu, cuda, cuda:1 (default: cpu)")
    add("--dtype", default="float32", choices=("float32", "bfloat16", "float16"))
    add("--mode", default="eager", choices=("eager", "compiled", "graph"), help="graph: CUDA graphs (default: eager)")
    add("--threads", type=int, metavar="N", help="CPU threads (default: all cores)")
    add("--warm-up", type=int, default=2, metavar="N", help="rounds that do not count (default: 2)")
    add("--repeats", type=int, default=20, metavar="N", help="rounds that do (default: 20)")
    add("--traced", type=int, default=2, metavar="N", help="runs under torch.profiler (default: 2)")
    add("--out", default="profiles", metavar="DIR", help="where results go (default: profiles)")
    add("--name", help="name of the result files (default: from models, dtype and mode)")


def run(args: argparse.Namespace) -> int:
    """Measure, write the files, print the table."""
    from edit_gec import correct
    from edit_gec.performance import stage_table as table
    from edit_gec.performance.stage_systems import Settings

    for name, least in (("warm_up", 1), ("repeats", 1), ("traced", 1), ("threads", 1)):
        if getattr(args, name) is not None and getattr(args, name) < least:
            raise InputError(f"--{name.replace('_', '-')} {getattr(args, name)}: {least} or more is wanted")
    presets = tuple(args.preset.split(",")) if args.preset else () if args.model else PRESETS
    settings = Settings(tuple(args.system), presets, tuple(args.model), args.device, args.dtype, args.mode)
    profile, written = measure(
        settings, read_texts(args), out=Path(args.out), name=args.name, threads=args.threads,
        warm_up=args.warm_up, repeats=args.repeats, traced=args.traced,
    )  # fmt: skip
    correct.out(table.table(profile))
    for path in written:
        correct.say(f"wrote {path}")
    return 0


def read_texts(args: argparse.Namespace) -> list[Text]:
    """The sentences that were asked for. Raises InputError when there are none."""
    from edit_gec.performance.stage_replay import CASE_STUDY, Text

    if args.file is None and args.text is None:
        if args.corrected is not None:
            raise InputError("--corrected is what --text becomes: give --text too")
        return [CASE_STUDY]
    if args.file is None:
        lines = [args.text if args.corrected is None else f"{args.text}\t{args.corrected}"]
    else:
        lines = files.read(args.file).text.splitlines()
    texts = [Text(*line.split("\t")[:2]) for line in lines if line.strip()]
    if not texts:
        raise InputError(f"{args.file or '--text'}: no sentence to profile; one on each line is wanted")
    return texts


def measure(
    settings: Settings,
    texts: list[Text],
    *,
    out: Path,
    name: str | None = None,
    threads: int | None = None,
    warm_up: int = 2,
    repeats: int = 20,
    traced: int = 2,
) -> tuple[dict[str, Any], list[Path]]:
    """Measure, write result, pictures and traces under `out`; returns the profile as plain values, and the files."""
    import torch

    from edit_gec.performance import roofline
    from edit_gec.performance import stage_plots as pictures
    from edit_gec.performance import stage_summary as summary
    from edit_gec.performance import stage_systems as systems
    from edit_gec.performance import stages as clock
    from edit_gec.performance import torch_profiler as profiler

    if threads:
        torch.set_num_threads(threads)
    models = systems.load(settings)
    chosen = systems.build(models, settings.systems, texts)
    sources = [text.source for text in texts]
    where = {**machine.describe(settings.device), "threads": torch.get_num_threads()}
    stem = out / where["name"] / (name or machine.slug("-".join((*models.names, settings.dtype, settings.mode))))
    stem.parent.mkdir(parents=True, exist_ok=True)
    runs = clock.measure(chosen, sources, warm_up=warm_up, repeats=repeats, device=settings.device)
    written, described = [], {}
    limits = roofline.machine(settings.device, settings.dtype)
    for system in chosen:
        written.append(out / "traces" / where["name"] / f"{stem.name}-{system.name}.json.gz")
        trace = profiler.trace(system, sources, runs=traced, device=settings.device, file=written[-1])
        work = {} if settings.mode != "eager" else roofline.count(system, sources)
        described[system.name] = summary.describe(runs[system.name], trace, work, limits, len(texts))
    profile = {
        "kind": "profile",
        "date": time.strftime("%Y-%m-%d"),
        "machine": where,
        "settings": {
            **asdict(settings), "models": models.names, "texts": len(texts), "warm_up": warm_up, "repeats": repeats,
            "traced": traced, "replayed": replayed(texts) if models.random else None,
        },
        "limits": {"gb_per_s": limits.bytes_per_s / 1e9, "gflop_per_s": limits.flops_per_s / 1e9},
        "systems": described,
        "reduction": summary.reductions(described),
    }  # fmt: skip
    written += pictures.draw(profile, {name: each.typical() for name, each in runs.items()}, stem)
    written.append(stem.with_suffix(".json"))
    partial = stem.with_suffix(".json.partial")
    partial.write_text(json.dumps(profile, indent=1) + "\n", encoding="utf-8")
    partial.replace(written[-1])
    return profile, written


def replayed(texts: list[Text]) -> str:
    """What random weights were made to write, in words."""
    from edit_gec.performance.stage_replay import CASE_STUDY

    if texts == [CASE_STUDY]:
        return (
            "random weights write the case study's tokens: 27 of T5, 10 of EdiT5 (<extra_id_1> I was <extra_id_6> ...)"
        )
    return "random weights write the corrections that were given"
