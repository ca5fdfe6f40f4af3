"""A small server of LanguageTool's protocol: what it answers is up to the test. With the package lingotweaker installed
it can be that engine, whose wheel has no server of its own."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

Fields = dict[str, str]
Answer = Callable[[Fields, BaseHTTPRequestHandler], Any]  # a value for JSON; None: the handler has answered itself
LANGUAGES = [
    {"name": "German", "code": "de", "longCode": "de-DE"},
    {"name": "English (US)", "code": "en", "longCode": "en-US"},
]


def make_match(offset: int, length: int, *values: str, **more: Any) -> dict[str, Any]:
    """A match with these replacements, as LanguageTool writes it."""
    return {
        "message": "theirs",
        "shortMessage": "",
        "replacements": [{"value": value} for value in values],
        "offset": offset,
        "length": length,
        "context": {"text": "", "offset": 0, "length": 0},
        "sentence": "",
        "type": {"typeName": "Other"},
        "rule": {"id": "THEIRS", "issueType": "grammar", "category": {"id": "GRAMMAR", "name": "Grammar"}},
        **more,
    }


@contextlib.contextmanager
def answering(answer: Answer) -> Iterator[tuple[str, list[Fields]]]:
    """The address of a server that runs until the block ends, and the requests that it has got."""
    requests: list[Fields] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(LANGUAGES)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            fields = dict(parse_qsl(body, keep_blank_values=True))
            requests.append(fields)
            found = answer(fields, self)
            if found is not None:
                self._send(found)

        def _send(self, value: Any) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def matches_of(engine: Any, text: str) -> list[dict[str, Any]]:
    """What an engine of lingotweaker finds, with offsets in UTF-16 units for its bytes."""
    data = text.encode()

    def units(end: int) -> int:
        return len(data[:end].decode().encode("utf-16-le")) // 2

    found = []
    for match in engine.check(text):
        start, end = units(match["offset"]), units(match["offset"] + match["length"])
        rule = {
            "id": match["rule_id"],
            "issueType": match["issue_type"],
            "category": {"id": match["category_id"], "name": match["category_name"]},
        }
        found.append(make_match(start, end - start, *match["suggestions"], message=match["message"], rule=rule))
    return found
