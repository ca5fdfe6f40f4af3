"""`edit-gec profile`: where every millisecond goes, in the shape of the case study.

    edit-gec profile                                              base size, random weights, the case study's sentence
    edit-gec profile --system t5 edit5 --repeats 50 --threads 1
    edit-gec profile --model edit5-mini --file sentences.txt      what the shipped model does with these sentences
    edit-gec profile --backend onnx --file sentences.txt          the same by ONNX Runtime, with its operators

    edit-gec profile --out measured                               also the stages; result, plots and traces as files
    edit-gec profile --compare OLD.json NEW.json                  what changed, stage by stage

Prints the case study's table. With --out it writes DIR/MACHINE/NAME.json, plots next to it and a Chrome trace of each
system to DIR/traces/. The work is done in `edit_gec.lab.performance`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.catalog import DEFAULT_MODEL, find_model
from edit_gec.cli.arguments import TimingOptions, UsageError, option, positive
from edit_gec.cli.console import out, say
from edit_gec.config.load_settings import DTYPES, PRECISIONS

if TYPE_CHECKING:
    from edit_gec.lab.performance.sentences import Text
    from edit_gec.lab.performance.setup import Setup

PRESETS = ("edit5-base", "t5-base")
BACKENDS = ("torch", "compiled", *(f"onnx{f'-{precision}' * (precision != 'auto')}" for precision in PRECISIONS))


@dataclass(frozen=True, kw_only=True)
class Arguments(TimingOptions):
    """The arguments of `edit-gec profile`."""

    system: Sequence[str] = option(
        "--system", nargs="+", choices=("t5", "edit5-sequential", "edit5", "verified"), default=[],
        help="systems to measure (default: all that the models allow)",
    )  # fmt: skip
    preset: str | None = option(
        "--preset", either="models", metavar="A,B",
        help="models of these shapes, with random weights (default: edit5-base,t5-base)",
    )  # fmt: skip
    model: Sequence[str] = option(
        "--model", either="models", nargs="+", metavar="NAME|PATH", default=[], help="an EdiT5, a T5, or one of each"
    )
    text: str | None = option("--text", either="texts", help="the sentence (default: the case study's)")
    file: str | None = option(
        "--file", either="texts", help="one sentence per line; with random weights, as in --text, a tab and its output"
    )
    backend: str = option(
        "--backend", default="torch", choices=BACKENDS,
        help="what runs the model: torch, its compiler, or onnx in that precision (default: torch)",
    )  # fmt: skip
    repeats: int = option("--repeats", type=positive, default=20, metavar="N", help="measured rounds (default: 20)")


def run(arguments: Arguments) -> int:
    """Measure, write the files, print the table."""
    if arguments.compare:
        from edit_gec.lab.performance import results

        out(results.compare_files("profile", *arguments.compare)[0])
        return 0
    from edit_gec.lab.performance.stage_profile import Profiling
    from edit_gec.lab.performance.stage_table import format_operators, format_stages, format_table

    texts = read_texts(arguments)
    names = tuple(arguments.model) or (tuple(arguments.preset.split(",")) if arguments.preset else PRESETS)
    if arguments.backend.startswith("onnx"):
        names = tuple(arguments.model) or (DEFAULT_MODEL,)
        profiling = Profiling(make_onnx_setup(arguments, names[0]), texts, ("edit5",), names, repeats=arguments.repeats)
    else:
        setup = make_torch_setup(arguments, names)
        profiling = Profiling(setup, texts, tuple(arguments.system), names, repeats=arguments.repeats)
    profile, written = profiling.run(Path(arguments.out) if arguments.out else None)
    stages = f"\n{format_stages(profile)}" if arguments.out else ""
    out(format_table(profile) + stages + format_operators(profile))
    for path in written:
        say(f"wrote {path}")
    return 0


def make_torch_setup(arguments: Arguments, names: Sequence[str]) -> Setup:
    """What torch profiles: models, or presets with random weights. Raises InputError for other names."""
    import torch

    from edit_gec.lab.performance.setup import Setup

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    make_setup = Setup.of_models if arguments.model else Setup.of_presets
    mode = "compiled" if arguments.backend == "compiled" else "eager"
    how = {"device": arguments.device, "dtype": arguments.dtype, "mode": mode, "threads": torch.get_num_threads()}
    return make_setup(names, **how)


def make_onnx_setup(arguments: Arguments, name: str) -> Setup:
    """What ONNX Runtime profiles, without torch: one EdiT5. Raises UsageError for what torch knows."""
    from edit_gec.backends.choose import choose_int8
    from edit_gec.lab.performance.setup import ONNX, Setup

    plain = (arguments.device, arguments.dtype) == ("cpu", DTYPES[0])
    if arguments.system or arguments.preset or len(arguments.model) > 1 or not plain:
        raise UsageError("--backend onnx: takes one --model; systems, presets, --device and --dtype are torch's")
    folder = find_model(name)
    precision = arguments.backend.removeprefix("onnx").removeprefix("-") or PRECISIONS[0]
    precision = "int8" if choose_int8(folder, precision) else "float32"
    return Setup(model=str(folder), dtype=precision, mode=ONNX, threads=arguments.threads or 1)


def read_texts(arguments: Arguments) -> list[Text]:
    """The requested sentences. Raises InputError when there are none."""
    from edit_gec.lab.performance import sentences

    if arguments.file is not None:
        return sentences.read_texts(arguments.file)
    if arguments.text is not None:
        if not arguments.text.strip():
            raise UsageError("--text: no sentence to profile")
        return [sentences.parse_text(arguments.text)]
    return [sentences.CASE_STUDY]
