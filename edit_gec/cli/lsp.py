"""`edit-gec lsp`: a language server on standard input and output, for editors.

    $ edit-gec lsp       # an editor starts it and talks to it; how to set that up is in lsp/README.md

Standard output belongs to the protocol: whatever else would print there goes to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from edit_gec.catalog import find_model
from edit_gec.cli.arguments import SETTINGS, FrontOptions, check_target, confidence, option
from edit_gec.config.settings import Settings
from edit_gec.errors import InputError

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector


EPILOG = SETTINGS


@dataclass(frozen=True, kw_only=True)
class Arguments(FrontOptions):
    """The arguments of `edit-gec lsp`."""

    stdio: bool = option("--stdio", action="store_true", help="communicate over standard input and output (always on)")
    fix_all_confidence: float = option(
        "--fix-all-confidence", type=confidence, default=0.9, metavar="P",
        help="lowest confidence of an edit that fix-all makes (default: 0.9)",
    )  # fmt: skip
    own: ClassVar[Mapping[str, Any]] = {"threads": max(1, (os.cpu_count() or 1) // 2)}


def run(arguments: Arguments) -> int:
    """Serve one editor until it exits; 1 if it exits without a shutdown request. Raises InputError."""
    import pygments  # noqa: F401  # told now, where it is missing

    from edit_gec.cli.loading import corrector_arguments, find_projects
    from edit_gec.lsp.handlers import register
    from edit_gec.lsp.options import Options
    from edit_gec.lsp.server import Server
    from edit_gec.lsp.user_dictionary import UserDictionary

    check_target(arguments)
    projects = find_projects(arguments)
    shared = projects.find_settings("")  # all else is that of each document's project, and of the editor
    settings = Settings(model=shared.model, run=shared.run, strictness=arguments.strictness)
    given = corrector_arguments(arguments, settings)
    for name in filter(None, (given["model"], given["target"])):
        find_model(name)  # before the editor is told that all is well
    if sys.stdin is None or sys.stdout is None:
        raise InputError("standard input and output are closed; an editor must start edit-gec lsp")
    options = Options(
        min_confidence=arguments.min_confidence,
        strictness=arguments.strictness,
        fix_all_confidence=arguments.fix_all_confidence,
    )
    server = Server(lambda: load(arguments, settings), UserDictionary(projects), options)
    register(server)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as protocol:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server.start_io(sys.stdin.buffer, protocol)
    return 0 if server.has_shut_down else 1


def load(options: FrontOptions, settings: Settings) -> Corrector:
    """The corrector, and all that the first check would wait for."""
    from edit_gec.cli.loading import load_corrector, warm_up

    corrector = load_corrector(options, settings)
    warm_up(corrector)
    return corrector
