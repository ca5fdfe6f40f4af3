"""What stands before every route: limits, one place for errors, security headers, one line of log for each request.

    {"route": "/v2/check", "method": "POST", "status": 200, "ms": 21.4, "characters": 312, "sentences": 4, "edits": 2}

The log, the metrics and the answers to bad requests never hold a user's text, nor a query string, nor the message of
an unexpected exception, which may quote it.
"""

from __future__ import annotations

import json
import logging
import os
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

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

log = logging.getLogger("edit_gec.server")
RETRY_AFTER_S = 2
DRAINED_BYTES = 64 << 20  # of a body that is too long, so that its sender reads our answer and no reset connection
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Limits:
    """What a request may ask. All are on by default."""

    characters: int = 100_000  # of a text, markup included
    timeout_s: float = 60.0  # to answer
    body_timeout_s: float = 20.0  # to send the request's body
    per_client: int = 16  # requests of one address at a time
    waiting: int = 4_000  # sentences in the queue of the model

    @property
    def body_bytes(self) -> int:
        """The longest text that is allowed, each character written in the longest way (%F0%9F%98%80)."""
        return 12 * self.characters + 16_384


def refusal(path: str, status: int, message: str) -> Response:
    """An error as the client expects it: plain text as LanguageTool has it, JSON below /v1/."""
    headers = {"retry-after": str(RETRY_AFTER_S)} if status in (429, 503) else {}
    if path.startswith("/v1/"):
        return JSONResponse({"detail": message}, status, headers)
    return PlainTextResponse(f"Error: {message}", status, headers)


class Guard:
    """ASGI middleware with one instance for each server."""

    def __init__(self, app: App, limits: Limits, metrics: Metrics) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics
        self.clients: Counter[str] = Counter()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        begun, status = perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in HEADERS.items())]
            await send(message)

        client = (scope.get("client") or ("",))[0]
        self.clients[client] += 1
        with self.metrics.in_flight.track_inprogress():
            try:
                refused = await self._answer(
                    scope, receive, sending, busy=self.clients[client] > self.limits.per_client
                )
                if refused and not status:
                    await refused(scope, receive, sending)
            finally:
                self.clients[client] -= 1
                if not self.clients[client]:
                    del self.clients[client]
                self._record(scope, status or 499, perf_counter() - begun)

    async def _answer(self, scope: Message, receive: Receive, send: Send, *, busy: bool) -> Response | None:
        """Let the application answer; what is returned is to be sent if it has not begun to."""
        path = scope["path"]
        if busy:
            return refusal(path, 429, f"more than {self.limits.per_client} requests at a time from one address")
        try:
            with anyio.fail_after(self.limits.timeout_s):
                await self.app(scope, self._limited(scope, receive), send)
        except TimeoutError:
            return refusal(path, 503, f"not done within {self.limits.timeout_s:g} seconds; send less text at a time")
        except Exception as error:
            log.error(json.dumps({"error": type(error).__name__, "at": _places(error)}))
            return refusal(path, 500, "internal error")
        return None

    def _limited(self, scope: Message, receive: Receive) -> Receive:
        """`receive` that ends with HTTPException when a body is too long or comes too slowly."""
        most, seen = self.limits.body_bytes, 0
        deadline = anyio.current_time() + self.limits.body_timeout_s
        complete = False

        async def receiving() -> Message:
            nonlocal seen, complete
            if complete:  # all that can come is the end of the connection
                return await receive()
            try:
                with anyio.fail_after(deadline - anyio.current_time()):
                    message = await receive()
                    seen += len(message.get("body", b""))
                    if seen > most:
                        while message.get("more_body") and seen < DRAINED_BYTES:
                            message = await receive()
                            seen += len(message.get("body", b""))
                        raise HTTPException(413, f"the request has more than {most} bytes")
            except TimeoutError:
                raise HTTPException(408, "the request's body came too slowly") from None
            complete = not message.get("more_body")
            return message

        return receiving

    def _record(self, scope: Message, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")  # never the path itself: anybody may write anything there
        self.metrics.requests.labels(route, status).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        facts = scope.get("state", {}).get("facts", {})
        line = {"route": route, "method": scope["method"], "status": status, "ms": round(seconds * 1000, 1), **facts}
        log.info(json.dumps(line))


def _places(error: BaseException) -> list[str]:
    """Where an exception came from, innermost last, without any values."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return [f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def note(request: Request, **facts: int) -> None:
    """Numbers for the log line of a request."""
    request.scope.setdefault("state", {})["facts"] = facts
