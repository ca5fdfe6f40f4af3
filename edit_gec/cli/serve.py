"""`edit-gec serve`: a LanguageTool-compatible server, our own JSON endpoint and a page to write on.

    $ edit-gec serve
    edit-gec: http://127.0.0.1:8081/ serves edit5-mini; Ctrl-C ends it
    $ curl -d language=en -d text='She go home.' http://127.0.0.1:8081/v2/check

How it works is in server/, how to put it behind a proxy and to connect editors in server/README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import socket
import sys
from typing import TYPE_CHECKING

from edit_gec.cli import correct
from edit_gec.errors import InputError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from edit_gec.corrector import Corrector

GRACE_S = 20  # for requests that are being answered when the server is told to stop


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)")
    add("--port", type=_number, default=8081, metavar="N", help="port, 0 for a free one (default: 8081)")
    add("--allow-origin", metavar="ORIGIN", help="let web pages from here use the server, * for all (default: none)")
    for option, default, summary in (
        ("--max-text-length", 100_000, "characters of a text"),
        ("--max-requests", 16, "requests at a time from one address"),
        ("--timeout", 60, "seconds to answer a request"),
        ("--batch-size", 16, "sentences of all clients at a time"),
    ):
        add(option, type=positive, default=default, metavar="N", help=f"{summary} (default: {default})")
    add("--model", default="edit5-mini", metavar="NAME|PATH", help="model to correct with (default: edit5-mini)")
    add("--target", metavar="NAME|PATH", help="T5 that verifies every sentence (default: none)")
    add("--target-prefix", metavar="TEXT", help='what the T5 wants before each sentence, "grammar: " for instance')
    add("--device", default="cpu", metavar="D", help="cpu, cuda, cuda:1 (default: cpu)")
    add("--threads", type=positive, metavar="N", help="CPU threads of the model (default: all cores)")
    add("--quiet", action="store_true", help="no line of log for each request")


def run(args: argparse.Namespace) -> int:
    """Serve until a signal ends it; requests that are being answered are finished. Raises InputError."""
    from edit_gec.corrector import Corrector
    from edit_gec.server.app import create_app
    from edit_gec.server.middleware import Limits

    with _listen(args.host, args.port) as listener:  # before the model is loaded: a used port is told at once
        corrector = Corrector.load(
            args.model,
            device=args.device,
            threads=args.threads,
            batch_size=args.batch_size,
            target=args.target,
            target_prefix=args.target_prefix,
        )
        warm_up(corrector)
        limits = Limits(characters=args.max_text_length, timeout_s=args.timeout, per_client=args.max_requests)
        app = create_app(corrector, limits, allow_origin=args.allow_origin)
        log = logging.getLogger("edit_gec.server")
        log.setLevel(logging.ERROR if args.quiet else logging.INFO)
        log.addHandler(logging.StreamHandler(sys.stderr))
        return _serve(app, listener, args)


def _serve(app: FastAPI, listener: socket.socket, args: argparse.Namespace) -> int:
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,  # its access log would hold query strings, and those texts
        access_log=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=GRACE_S,
        limit_concurrency=1000,
        backlog=1024,
    )
    listener.listen(config.backlog)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    correct.say(f"edit-gec: http://{shown}:{port}/ serves {args.model}; Ctrl-C ends it")
    uvicorn.Server(config).run(sockets=[listener])
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """A bound socket. Raises InputError."""
    if port > 65_535:
        raise InputError(f"port {port}: ports go up to 65535; see --port")
    with contextlib.ExitStack() as undo:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            listener = undo.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
        except OSError as error:
            raise InputError(f"cannot listen on {host} port {port}: {error.strerror}; see --host and --port") from None
        undo.pop_all()
    return listener


def warm_up(corrector: Corrector) -> None:
    """Load all that the first request would wait for; what is not installed is told now."""
    from edit_gec.annotation.explain import explain
    from edit_gec.text.edits import Edit

    corrector.correct("She go home.")
    explain("She go home.", [Edit(4, 6, "go", "goes", 1.0)])


def _number(value: str) -> int:
    if not (value.isascii() and value.isdecimal()):
        raise argparse.ArgumentTypeError(f"must be a whole number, not {value!r}")
    return int(value)


def positive(value: str) -> int:
    """A whole number from 1, for argparse."""
    if not _number(value):
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(value)
