"""What every request passes through: limits, errors, security headers, and one line of log.

    {"route": "/v2/check", "method": "POST", "status": 200, "ms": 21.4, "characters": 312, "sentences": 4, "edits": 2}

The log, the metrics and the answers to bad requests never hold a user's text, a query string, or the message of an
unexpected exception, which may quote the text.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from edit_gec.runtime.metrics import Metrics
from edit_gec.server.callers import Callers

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

log = logging.getLogger("edit_gec.server")
RETRY_AFTER_S = 2
MAX_DRAINED_BYTES = 64 << 20  # read from a body that is too long, so that the sender gets an answer instead of a reset
COMPUTING = ("/v1/", "/v2", "/metrics", "/openapi.json")  # all but the files of the page
CHECK = "/v2/check"
SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Limits:
    """Limits of a request and of the queue."""

    characters: int = 100_000  # of a text, markup included
    timeout_s: float = 60.0  # to answer
    body_timeout_s: float = 20.0  # to send the request's body
    per_client: int = 16  # requests of one address at the same time
    waiting: int = 4_000  # sentences in the queue of the model

    @property
    def body_bytes(self) -> int:
        """Bytes of the longest allowed text with every character in its longest form (%F0%9F%98%80)."""
        return 12 * self.characters + 16_384


def tidy_path(path: str) -> str:
    """The path of an endpoint without doubled and final slashes, which a base address with a final slash causes."""
    if not re.match(r"/+v[12](/|\Z)", path):
        return path
    return re.sub("/{2,}", "/", path).rstrip("/")


def error_response(path: str, status: int, message: str) -> Response:
    """An error in the form that the client expects: JSON below /v1/, elsewhere plain text as LanguageTool sends it."""
    headers = {"retry-after": str(RETRY_AFTER_S)} if status in (429, 503) else {}
    if path.startswith("/v1/"):
        return JSONResponse({"detail": message}, status, headers)
    return PlainTextResponse(f"Error: {message}", status, headers)


class RequestGuard:
    """ASGI middleware, one instance for each server."""

    def __init__(self, app: App, limits: Limits, metrics: Metrics, callers: Callers) -> None:
        self.app = app
        self.limits = limits
        self.callers = callers
        self.metrics = metrics
        self.clients: Counter[str] = Counter()  # requests in progress by address

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, with an error if the application raises one."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        scope = {**scope, "path": tidy_path(scope["path"])}
        begun = perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        client = (scope.get("client") or ("",))[0]
        self.clients[client] += 1
        is_busy = self.clients[client] > self.limits.per_client
        with self.metrics.in_flight.track_inprogress():
            try:
                error = await self._answer(scope, receive, send_with_headers, is_busy=is_busy)
                if error and not status:
                    await error(scope, receive, send_with_headers)
            finally:
                self.clients[client] -= 1
                if not self.clients[client]:
                    del self.clients[client]
                self._record(scope, status or 499, perf_counter() - begun)

    async def _answer(self, scope: Message, receive: Receive, send: Send, *, is_busy: bool) -> Response | None:
        """Let the application answer. An error is returned, to be sent unless the answer has begun."""
        path = scope["path"]
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            response = error_response(path, 400, "Content-Length and Transfer-Encoding: expected one of them")
            response.headers["connection"] = "close"  # a proxy in between may see another end of this request
            return response
        computes = path.startswith(COMPUTING)
        is_link = path == CHECK and scope["method"] == "GET"
        if refusal := self.callers.refuse(scope["headers"], computes=computes, is_link=is_link):
            return error_response(path, *refusal)
        if is_busy:
            return error_response(path, 429, f"more than {self.limits.per_client} requests at a time from one address")
        try:
            with anyio.fail_after(self.limits.timeout_s):
                await self.app(scope, self._limit_body(receive), send)
        except TimeoutError:
            return error_response(
                path, 503, f"not done within {self.limits.timeout_s:g} seconds; send less text at a time"
            )
        except asyncio.CancelledError:  # the server ends, and waits no longer
            return error_response(path, 503, "the server is ending; ask again")
        except Exception as error:
            log.error(json.dumps({"error": type(error).__name__, "at": _traceback_places(error)}))
            return error_response(path, 500, "internal error")
        return None

    def _limit_body(self, receive: Receive) -> Receive:
        """A `receive` that raises HTTPException if the body is too long or too slow."""
        most = self.limits.body_bytes
        deadline = anyio.current_time() + self.limits.body_timeout_s
        seen = 0
        is_complete = False

        async def receive_limited() -> Message:
            nonlocal seen, is_complete
            if is_complete:  # only the end of the connection can follow
                return await receive()
            try:
                with anyio.fail_after(deadline - anyio.current_time()):
                    message = await receive()
                    seen += len(message.get("body", b""))
                    if seen > most:
                        while message.get("more_body") and seen < MAX_DRAINED_BYTES:
                            message = await receive()
                            seen += len(message.get("body", b""))
                        raise HTTPException(413, f"the request has more than {most} bytes")
            except TimeoutError:
                raise HTTPException(408, "the request's body came too slowly") from None
            is_complete = not message.get("more_body")
            return message

        return receive_limited

    def _record(self, scope: Message, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")  # never the path itself, which may hold any text
        self.metrics.requests.labels(route, status).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        fields = scope.get("state", {}).get("log_fields", {})
        line = {"route": route, "method": scope["method"], "status": status, "ms": round(seconds * 1000, 1), **fields}
        log.info(json.dumps(line))


def _traceback_places(error: BaseException) -> list[str]:
    """Where an exception came from, innermost last, without any values."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return [f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def log_fields(request: Request, **fields: int) -> None:
    """Set the numbers in the log line of a request."""
    request.scope.setdefault("state", {})["log_fields"] = fields
