"""`edit-gec profile`: where every millisecond goes, in the shape of the case study.

    edit-gec profile                                              base size, random weights, the case study's sentence
    edit-gec profile --system t5 edit5 --repeats 50 --threads 1
    edit-gec profile --model edit5-mini --file sentences.txt      what the shipped model does with these sentences

Writes profiles/MACHINE/NAME.json and pictures beside it, a Chrome trace of each system to profiles/traces/, and prints
the table. The work is done in `edit_gec.performance`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.errors import InputError

if TYPE_CHECKING:
    from edit_gec.performance.sentences import Text

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
    for name in ("warm_up", "repeats", "traced", "threads"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            raise InputError(f"--{name.replace('_', '-')} {getattr(args, name)}: expected 1 or more")
    texts = read_texts(args)
    import torch

    from edit_gec.cli import correct
    from edit_gec.performance.setup import Setup
    from edit_gec.performance.stage_profile import Profiling
    from edit_gec.performance.stage_table import format_profile

    if args.threads:
        torch.set_num_threads(args.threads)
    names = tuple(args.model) or (tuple(args.preset.split(",")) if args.preset else PRESETS)
    how = {"device": args.device, "dtype": args.dtype, "mode": args.mode, "threads": torch.get_num_threads()}
    setup = Setup.of_models(names, **how) if args.model else Setup.of_presets(names, **how)
    counts = {"warm_up": args.warm_up, "repeats": args.repeats, "traced": args.traced}
    profile, written = Profiling(setup, texts, tuple(args.system), names, **counts).write(Path(args.out), args.name)
    correct.out(format_profile(profile))
    for path in written:
        correct.say(f"wrote {path}")
    return 0


def read_texts(args: argparse.Namespace) -> list[Text]:
    """The sentences that were asked for. Raises InputError when there are none."""
    from edit_gec.performance import sentences

    if args.file is not None:
        return sentences.read_texts(args.file)
    if args.text is not None:
        if not args.text.strip():
            raise InputError("--text: no sentence to profile")
        return [sentences.parse_text(args.text if args.corrected is None else f"{args.text}\t{args.corrected}")]
    if args.corrected is not None:
        raise InputError("--corrected is what --text becomes: give --text too")
    return [sentences.CASE_STUDY]
