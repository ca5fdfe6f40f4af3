"""`edit-gec corpus INPUT OUTPUT`: the same rows with two columns more, for corpora of any size.

    $ edit-gec corpus comments.jsonl corrected/
    $ cat corrected/comments-*.jsonl
    {"id": 7, "text": "She go home.", "corrected": "She goes home.", "edits": [{"offset": 4, "length": 2, ...}]}

The work itself is in corpus/; run.py there is its beginning.
"""

from __future__ import annotations

import argparse

from edit_gec.cli import correct

SIZE = 2_000_000  # bytes of a unit: some 20,000 sentences, a minute on one core


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    from edit_gec.cli.main import _confidence, _device, _positive

    add = parser.add_argument
    add("input", metavar="INPUT", help="file (text, JSONL, CSV, TSV, Parquet), folder, saved data set, or hub:NAME")
    add("output", metavar="OUTPUT", help="folder for the parts; the same command again goes on where it was")
    add("--column", default="text", metavar="NAME", help="column to correct (default: text)")
    add("--corrected", default="corrected", metavar="NAME", help="column for the corrected text (default: corrected)")
    add("--edits", default="edits", metavar="NAME", help="column for the edits (default: edits)")
    add("--config", metavar="NAME", help="configuration of the data set (hub:NAME)")
    add("--split", metavar="NAME", help="split of the data set (default: all)")
    add("--no-types", action="store_true", help="leave the types of edits out (they need edit-gec[score])")
    add("--engine", choices=("local", "ray"), default="local", help="processes of this machine, or Ray Data")
    add("--address", metavar="A", help="of the Ray cluster, auto or ray://HOST:PORT (default: this machine)")
    add("--workers", type=_positive, metavar="N", help="processes or actors (default: one a GPU, or one a core)")
    add("--unit-size", type=_positive, default=SIZE, metavar="BYTES", help=f"of one part (default: {SIZE})")
    add("--remember", type=_positive, default=100_000, metavar="N", help="sentences to recall (default: 100000)")
    add("--hourly-cost", type=float, metavar="X", help="of all machines together, for the cost of a million sentences")
    add("--min-confidence", type=_confidence, metavar="P", help="leave out edits below this confidence, 0 to 1")
    add("--dictionary", action="append", default=[], metavar="FILE", help="words to leave alone, one on each line")
    add("--model", default="edit5-mini", metavar="NAME|PATH", help="model to correct with (default: edit5-mini)")
    add("--target", metavar="NAME|PATH", help="T5 that verifies every sentence (default: none)")
    add("--target-prefix", metavar="TEXT", help='what the T5 wants before each sentence, "grammar: " for instance')
    add("--device", type=_device, default="cpu", metavar="D", help="cpu, cuda for all GPUs, cuda:1 (default: cpu)")
    add("--dtype", choices=("float32", "bfloat16", "float16"), default="float32", help="(default: float32)")
    add("--threads", type=_positive, default=1, metavar="N", help="CPU threads of a worker (default: 1)")
    add("--batch-size", type=_positive, default=32, metavar="N", help="sentences at a time (default: 32)")
    add("--quiet", action="store_true", help="say nothing but errors")


def run(args: argparse.Namespace) -> int:
    """Do the job, or what is left of it. Raises InputError."""
    from edit_gec import config
    from edit_gec.corpus.records import Columns
    from edit_gec.corpus.run import CorpusTask, Engine, correct_corpus

    correct.say_if_slow(args.dtype, args.device)
    task = CorpusTask(
        args.input,
        args.output,
        Columns(args.column, args.corrected, args.edits),
        config=args.config,
        split=args.split,
        unit_size=args.unit_size,
        names_types=not args.no_types,
        options={
            "model": args.model,
            "device": args.device,
            "dtype": args.dtype,
            "threads": args.threads,
            "min_confidence": args.min_confidence,
            "batch_size": args.batch_size,
            "dictionary": [word for path in args.dictionary for word in config.words(path)],
            "target": args.target,
            "target_prefix": args.target_prefix,
        },
        remember=args.remember,
        engine=Engine(args.engine),
        workers=args.workers,
        address=args.address,
    )
    summary = correct_corpus(task, correct.say, is_quiet=args.quiet, hourly_cost=args.hourly_cost)
    return 1 if summary["unreadable_files"] or summary["files_cut_short"] else 0
