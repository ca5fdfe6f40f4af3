"""`edit-gec export`: a model's network as ONNX graphs, in an `onnx` folder next to its weights.

    edit-gec export models/edit5-mini
    edit-gec export models/smollm2

What the graphs take and give is in backends/graphs.py and backends/causal_graphs.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from edit_gec.cli.arguments import option
from edit_gec.cli.console import out


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The arguments of `edit-gec export`."""

    model: str = option(
        metavar="NAME|PATH",
        help="an EdiT5 or a language model; the graphs are written to onnx/ in its folder",
    )


def run(arguments: Arguments) -> int:
    """Write the graphs and print their paths. Raises InputError, ModelError."""
    from edit_gec.backends.export import export
    from edit_gec.catalog import find_model

    for path in export(find_model(arguments.model)):
        out(f"{path}\n")
    return 0
