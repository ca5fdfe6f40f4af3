"""`edit-gec serve`: a LanguageTool-compatible server, our own JSON endpoint and a page to write on.

    $ edit-gec serve
    edit-gec: http://127.0.0.1:8081/ serves edit5-mini; Ctrl-C ends it
    $ curl -d language=en -d text='She go home.' http://127.0.0.1:8081/v2/check

The implementation is in server/; server/README.md is about proxies and clients.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from edit_gec.catalog import DEFAULT_MODEL
from edit_gec.cli.arguments import SETTINGS, FrontOptions, check_target, option, port, positive
from edit_gec.cli.console import ending_at_interrupt, say
from edit_gec.cli.extras import needing
from edit_gec.errors import InputError

if TYPE_CHECKING:
    from fastapi import FastAPI

GRACE_S = 20  # from the signal to the end of the process
REQUESTS_S = 15  # of these, for requests in progress; then the batch and the step in progress end


EPILOG = f"Settings of the working folder apply: {SETTINGS[0].lower()}{SETTINGS[1:]}"


@dataclass(frozen=True, kw_only=True)
class Arguments(FrontOptions):
    """The arguments of `edit-gec serve`."""

    host: str = option(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)"
    )
    port: int = option("--port", type=port, default=8081, metavar="N", help="port, 0 for a free one (default: 8081)")
    allow_origin: str | None = option(
        "--allow-origin", metavar="ORIGIN",
        help="let web pages of this origin use the server, * for all (default: none)",
    )  # fmt: skip
    allow_host: Sequence[str] = option(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="host name that clients may use, * for any (default: any; on loopback only this machine's names)",
    )  # fmt: skip
    upstream: str | None = option(
        "--upstream", metavar="URL",
        help="LanguageTool server whose matches are merged with ours in /v2/check; it gets the texts",
    )  # fmt: skip
    max_text_length: int = option(
        "--max-text-length", type=positive, default=100_000, metavar="N",
        help="most characters of a text (default: 100000)",
    )  # fmt: skip
    max_requests: int = option(
        "--max-requests", type=positive, default=16, metavar="N",
        help="most simultaneous requests from one address (default: 16)",
    )  # fmt: skip
    timeout: int = option(
        "--timeout", type=positive, default=60, metavar="N", help="seconds to answer a request (default: 60)"
    )
    quiet: bool = option("--quiet", action="store_true", help="do not log requests")
    own: ClassVar[Mapping[str, Any]] = {"batch_size": 16}


def run(arguments: Arguments) -> int:
    """Serve until a signal; requests in progress are finished. Raises InputError, UsageError."""
    from edit_gec.cli.loading import find_projects, load_corrector, warm_up
    from edit_gec.server.app import create_app
    from edit_gec.server.callers import Callers
    from edit_gec.server.middleware import Limits

    check_target(arguments)
    upstream = None
    if arguments.upstream is not None:
        with needing("--upstream", "serve"):
            from edit_gec.server.upstream import Upstream
        upstream = Upstream(arguments.upstream)
    projects = find_projects(arguments)
    settings = replace(projects.find_settings(""), dictionary=(), dialect=None)  # these are looked up for every request
    with open_listener(arguments.host, arguments.port) as listener:  # first: a used port is told at once
        with ending_at_interrupt():
            corrector = load_corrector(arguments, settings)
        warm_up(corrector)
        limits = Limits(
            characters=arguments.max_text_length, timeout_s=arguments.timeout, per_client=arguments.max_requests
        )
        callers = Callers.of_listener(listener.getsockname()[0], arguments.allow_host, arguments.allow_origin)
        app = create_app(corrector, limits, callers, projects=projects, upstream=upstream)
        log = logging.getLogger("edit_gec.server")
        log.setLevel(logging.ERROR if arguments.quiet else logging.INFO)
        log.addHandler(logging.StreamHandler(sys.stderr))
        serve(app, listener, settings.model or DEFAULT_MODEL)
    return 0


def serve(app: FastAPI, listener: socket.socket, model: str) -> None:
    """Say where, and answer requests until a signal comes."""
    import uvicorn

    from edit_gec.server.protocol import PatientProtocol

    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",  # it has no WebSockets, and would log each attempt
        log_config=None,  # its access log would hold query strings, and those texts
        access_log=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=REQUESTS_S,
        limit_concurrency=1000,
        backlog=1024,
    )
    listener.listen(config.backlog)
    host, number = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    say(f"edit-gec: http://{shown}:{number}/ serves {model}; Ctrl-C ends it")
    uvicorn.Server(config).run(sockets=[listener])


def open_listener(host: str, port: int) -> socket.socket:
    """A socket bound to an address. Raises InputError where that is not possible."""
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
