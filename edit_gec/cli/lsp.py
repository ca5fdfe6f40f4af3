"""`edit-gec lsp`: a language server on standard input and output, for editors.

    $ edit-gec lsp       # an editor starts it and talks to it; how to set that up is in lsp/README.md

Standard output belongs to the protocol: whatever else would print there goes to standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from edit_gec import config
from edit_gec.cli.serve import positive
from edit_gec.errors import InputError

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add = parser.add_argument
    add("--stdio", action="store_true", help="talk over standard input and output, as it always does")
    add("--min-confidence", type=_share, metavar="P", help="leave out edits below this confidence, 0 to 1")
    add("--fix-all-confidence", type=_share, default=0.9, metavar="P", help="what fix-all corrects (default: 0.9)")
    add("--model", metavar="NAME|PATH", help="model to correct with (default: edit5-mini)")
    add("--target", metavar="NAME|PATH", help="T5 that verifies every sentence (default: none)")
    add("--target-prefix", metavar="TEXT", help='what the T5 wants before each sentence, "grammar: " for instance')
    add("--device", default="cpu", metavar="D", help="cpu, cuda, cuda:1 (default: cpu)")
    add("--threads", type=positive, metavar="N", help="CPU threads of the model (default: half of the cores)")


def run(args: argparse.Namespace) -> int:
    """Serve one editor until it leaves: 1, as the protocol wants, where it did not say goodbye. Raises InputError."""
    import pygments  # noqa: F401  # told now, where it is missing

    from edit_gec.catalog import find_model
    from edit_gec.lsp.handlers import register
    from edit_gec.lsp.options import Options
    from edit_gec.lsp.server import Server
    from edit_gec.lsp.user_dictionary import UserDictionary, config_folder

    args.model = args.model or config.nearest([]).model or "edit5-mini"
    for name in filter(None, (args.model, args.target)):
        find_model(name)  # before the editor is told that all is well
    if sys.stdin is None or sys.stdout is None:
        raise InputError("standard input and output are closed; an editor must start edit-gec lsp")
    options = Options(min_confidence=args.min_confidence, fix_all_confidence=args.fix_all_confidence)
    server = Server(partial(_load, args), UserDictionary(config_folder()), options)
    register(server)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as protocol:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server.start_io(sys.stdin.buffer, protocol)
    return 0 if server.has_shut_down else 1


def _load(args: argparse.Namespace) -> Corrector:
    """The corrector, and all that the first check would wait for."""
    from edit_gec.cli.serve import warm_up
    from edit_gec.corrector import Corrector

    corrector = Corrector.load(
        args.model,
        device=args.device,
        threads=args.threads or max(1, (os.cpu_count() or 1) // 2),
        target=args.target,
        target_prefix=args.target_prefix,
    )
    warm_up(corrector)
    return corrector


def _share(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {value!r}")
    return number
