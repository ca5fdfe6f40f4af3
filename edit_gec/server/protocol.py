"""HTTP connections with a time limit for the head of a request.

uvicorn has no such limit, and a few hundred silent connections would lock all other clients out.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_TIMEOUT_S = 10.0  # for the head of a request


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """uvicorn's protocol with a time limit for heads. `cycle` is the current or last request."""

    head_timeout_s = HEAD_TIMEOUT_S

    def connection_made(self, transport: Any) -> None:
        """Wait for the first head."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Take bytes. The first bytes of another request start its time limit."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is before and before is not None and before.response_complete:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limit."""
        self._timer.cancel()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        timer: asyncio.TimerHandle | None = getattr(self, "_timer", None)
        if timer is not None and not timer.cancelled() and timer.when() > asyncio.get_running_loop().time():
            return  # further bytes must not extend the limit
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.head_timeout_s, self._cut_off, self.cycle)

    def _cut_off(self, last: Any) -> None:
        if self.cycle is last and (last is None or last.response_complete):
            self.transport.close()
