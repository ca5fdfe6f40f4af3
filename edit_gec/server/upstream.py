"""A LanguageTool server that is asked as well: `edit-gec serve --upstream http://127.0.0.1:8010`.

    POST /v2/check  ->  our matches of English        ┐
                    ->  POST URL/v2/check, meanwhile  ┴  merge_matches (matches.py)  ->  the answer

The other server has TIMEOUT_S and MAX_BYTES. An answer that is late, too long or malformed costs its own matches, never
ours, and for REST_S nothing more is asked.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import anyio
import anyio.to_thread
import httpx

from edit_gec.errors import InputError
from edit_gec.server.matches import OURS, UpstreamError, parse_answer

TIMEOUT_S = 10.0  # for a whole answer
REST_S = 10.0  # after one that failed
MAX_BYTES = 16 << 20  # of an answer: about 15,000 matches
log = logging.getLogger("edit_gec.server")


class Upstream:
    """The other server. Use it in an `async with` block, in one event loop."""

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S, max_bytes: int = MAX_BYTES) -> None:
        self.url = parse_url(url)
        self.timeout_s = timeout_s
        self.max_bytes = max_bytes
        self.asks_again = 0.0  # when, on the monotonic clock
        # No proxy of the environment: texts go to this address and nowhere else. Nor are redirections followed.
        headers = {"accept-encoding": "identity", "via": f"1.1 {OURS}"}
        self.client = httpx.AsyncClient(timeout=timeout_s, headers=headers, trust_env=False)

    async def __aenter__(self) -> Upstream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.client.aclose()

    async def check(self, fields: Mapping[str, str], length: int) -> dict[str, Any] | None:
        """Its answer to these fields of /v2/check for a text of `length` UTF-16 units; None where there is none."""
        if time.monotonic() < self.asks_again:
            return None
        try:
            with anyio.fail_after(self.timeout_s):
                body = await self._fetch("POST", "/v2/check", fields)
                return await anyio.to_thread.run_sync(parse_answer, body, length)
        except (UpstreamError, httpx.HTTPError, TimeoutError) as error:
            self.asks_again = time.monotonic() + REST_S
            reason = str(error) if isinstance(error, UpstreamError) else type(error).__name__  # none quotes a text
            log.warning(json.dumps({"upstream": reason}))
            return None

    async def languages(self) -> list[dict[str, Any]]:
        """The languages that it lists; none where it does not answer."""
        try:
            with anyio.fail_after(self.timeout_s):
                listed = json.loads(await self._fetch("GET", "/v2/languages", {}))
        except (UpstreamError, httpx.HTTPError, TimeoutError, ValueError, RecursionError):
            return []
        wanted = ("name", "code", "longCode")
        found = listed if isinstance(listed, list) else []
        return [each for each in found if isinstance(each, dict) and all(isinstance(each.get(n), str) for n in wanted)]

    async def _fetch(self, method: str, path: str, fields: Mapping[str, str]) -> bytes:
        """The body of an answer. Raises UpstreamError, httpx.HTTPError."""
        body = b""
        async with self.client.stream(method, self.url + path, data=dict(fields) or None) as answer:
            if answer.status_code != 200:
                raise UpstreamError(f"status {answer.status_code}")
            if "content-encoding" in answer.headers:
                raise UpstreamError("a compressed answer")
            async for part in answer.aiter_raw():
                body += part
                if len(body) > self.max_bytes:
                    raise UpstreamError(f"an answer of more than {self.max_bytes} bytes")
        return body


def parse_url(url: str) -> str:
    """The address of a server without a final slash or /v2. Raises InputError unless it is one of HTTP.

    >>> parse_url("http://127.0.0.1:8010/v2/")
    'http://127.0.0.1:8010'
    """
    if not re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", url):
        raise InputError(f"upstream {url!r}: expected the address of a server, such as http://127.0.0.1:8010")
    try:
        return str(httpx.URL(url.rstrip("/").removesuffix("/v2").rstrip("/")))
    except httpx.InvalidURL as error:
        raise InputError(f"upstream {url!r}: {error}") from None
