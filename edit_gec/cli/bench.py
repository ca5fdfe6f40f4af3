"""`edit-gec bench`: edit-gec and its alternatives side by side, in one run, in turn, on the same sentences.

    edit-gec bench --target t5-mini --file sentences.txt              the shipped pair and all peers that are installed
    edit-gec bench --size base --file sentences.txt                   base size, the steps of the shipped pair replayed
    edit-gec bench --compare OLD.json NEW.json                        what got slower between two results

The table goes to standard output. With --out DIR the result is written, too: DIR/MACHINE/NAME.json. The work is done in
`edit_gec.lab.performance`.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.catalog import DEFAULT_MODEL, DEFAULT_TARGET, find_model, find_pretrained
from edit_gec.cli.arguments import TimingOptions, UsageError, option, positive
from edit_gec.cli.console import out, say
from edit_gec.errors import InputError, ModelError

if TYPE_CHECKING:
    from edit_gec.lab.performance.setup import Setup
    from edit_gec.modeling.tokenizer import Tokens

SENTENCES = 32
LONGEST = 120  # most pieces of a sentence, so that every model reads it at once; a target may read less


@dataclass(frozen=True, kw_only=True)
class Arguments(TimingOptions):
    """The arguments of `edit-gec bench`."""

    size: str = option(
        "--size", group="what to measure", default="shipped", metavar="S", help="shipped, or base (random weights)"
    )
    only: Sequence[str] = option(
        "--only", action="append", default=[], metavar="SYSTEM", help="only this system (repeatable)"
    )
    batch: Sequence[int] = option(
        "--batch", nargs="+", type=positive, default=[1, 8, 32], metavar="N",
        help="sentences that are read together (default: 1 8 32)",
    )  # fmt: skip
    file: str | None = option(
        "--file", group="with what", metavar="FILE", help="one sentence per line, or M2 (default: built-in ones)"
    )
    sentences: int | None = option(
        "--sentences", type=positive, metavar="N", help="number of sentences, spread over lengths"
    )
    model: str = option("--model", default=DEFAULT_MODEL, metavar="NAME|PATH", help=f"EdiT5 (default: {DEFAULT_MODEL})")
    target: str | None = option(
        "--target", metavar="NAME|PATH|ID",
        help=f"T5 or language model that all systems run (default: {DEFAULT_TARGET})",
    )  # fmt: skip
    assistant: str = option("--assistant", default="", metavar="PATH", help="a small T5 that drafts tokens")
    repeats: int = option(
        "--repeats", type=positive, default=3, metavar="N", help="repetitions; medians are reported (default: 3)"
    )
    processor_time: bool = option(
        "--processor-time", action="store_true", help="count the processor's seconds (a busy machine; --threads 1)"
    )


def run(arguments: Arguments) -> int:
    """Measure, write, print; 0, or 1 if --compare found something slower."""
    from edit_gec.lab.performance import results

    if arguments.compare:
        table, is_slower = results.compare_files("bench", *arguments.compare)
        out(table)
        return int(is_slower)
    from edit_gec.lab.performance.side_by_side import Effort, measure_side_by_side

    setup, sentences = prepare(arguments)
    effort = Effort(arguments.size, arguments.only, arguments.batch, arguments.repeats)
    figures = measure_side_by_side(setup, sentences, effort, say)
    result = {**heading(arguments, sentences), **figures}
    for written in results.save(Path(arguments.out), f"bench-{arguments.size}", result) if arguments.out else ():
        say(f"wrote {written}")
    out(results.format_result(result))
    return 0


def prepare(arguments: Arguments) -> tuple[Setup, list[str]]:
    """What to measure with, and on. Raises InputError for what is not there."""
    model = find_model(arguments.model)
    target = find_target(arguments)
    import torch

    from edit_gec.lab.performance.setup import Setup
    from edit_gec.lab.performance.timing import use_processor_time
    from edit_gec.modeling.causal_files import is_causal
    from edit_gec.modeling.tokenizer import Tokens

    torch.set_num_threads(arguments.threads or os.cpu_count() or 1)
    setup = Setup(
        model=str(model),
        target=str(target or ""),
        assistant=arguments.assistant,
        device=arguments.device,
        dtype=arguments.dtype,
        threads=torch.get_num_threads(),
    )
    setup.check()
    if arguments.processor_time:
        if setup.threads > 1 or arguments.device != "cpu":
            raise UsageError("--processor-time is for --threads 1 on the CPU, and for what runs in this process")
        use_processor_time()
    count = arguments.sentences or SENTENCES
    if target and is_causal(target):
        return setup, choose_sentences(arguments, Tokens.load(model, 0), None, count)
    tokens = Tokens.load(target or model, 0)
    if setup.assistant and tokens.processor.serialized_model_proto() != (
        Tokens.load(setup.assistant, 0).processor.serialized_model_proto()
    ):
        raise InputError(f"{setup.assistant}: its vocabulary is not the target's, whose tokens it should draft")
    return setup, choose_sentences(arguments, tokens, target, count)


def find_target(arguments: Arguments) -> Path | None:
    """The folder of the T5, ours if none is named; None if there is none."""
    if arguments.target:
        return find_pretrained(arguments.target)
    try:
        return find_model(DEFAULT_TARGET)
    except ModelError:
        so = "T5s write what EdiT5 makes of it" if arguments.size == "base" else "what needs a T5 is left out"
        say(f"no {DEFAULT_TARGET} here and no --target: {so}")
        return None


def choose_sentences(arguments: Arguments, tokens: Tokens, target: Path | None, count: int) -> list[str]:
    """Sentences that every model reads at once, spread over lengths. Raises InputError when there are none."""
    from edit_gec.lab.performance import sentences
    from edit_gec.speculative.target import trained_length

    longest = min(LONGEST, trained_length(target)) if target else LONGEST
    found = sentences.read_sentences(arguments.file) if arguments.file else sentences.OWN
    pieces = {sentence: len(tokens.ids(sentence)) for sentence in found}
    short = [sentence for sentence in found if 0 < pieces[sentence] <= longest]
    if not short:
        raise InputError(f"{arguments.file}: no sentence of 1 to {longest} pieces")
    return sentences.spread_lengths(short, count, pieces.__getitem__)


def heading(arguments: Arguments, sentences: list[str]) -> dict[str, Any]:
    """The heading of every result."""
    from edit_gec.lab.performance.results import head
    from edit_gec.lab.performance.sentences import digest

    # Names of files, not where they lie on this machine.
    words = ["edit-gec", *(Path(word).name if os.path.isabs(word) else word for word in sys.argv[1:])]
    return {
        **head("bench", device=arguments.device),
        "command": shlex.join(words),
        "size": arguments.size,
        "device": arguments.device,
        "dtype": arguments.dtype,
        "threads": arguments.threads or os.cpu_count() or 1,
        "clock": "processor" if arguments.processor_time else "wall",
        "repeats": arguments.repeats,
        "text": digest(sentences),
        "sentences": len(sentences),
    }
