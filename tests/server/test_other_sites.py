"""Pages of other sites in a real browser: nothing that they can send to the local server is computed or answered."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("playwright")
from playwright import sync_api as playwright
from support import live_server
from support.live_server import serving

from edit_gec.config.projects import Projects
from edit_gec.config.user_words import WatchedLineFile
from edit_gec.corrector import Corrector
from edit_gec.runtime.async_corrector import AsyncCorrector
from edit_gec.server import middleware

CHROMIUM = "/usr/bin/chromium"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.exists(CHROMIUM), reason="Debian's chromium is not installed"),
]
ROUTES = (
    "/v2/check", "/v2/words", "/v2/words/add", "/v2/words/delete", "/v2/languages", "/v2/info", "/v2/healthcheck",
    "/v2/maxtextlength", "/v1/info", "/v1/correct", "/v1/correct/stream", "/metrics", "/openapi.json",
)  # fmt: skip
# Everything that a page can send, to every route; each with a text of its own, by which it would be recognised.
ATTACK = """async ([server, routes]) => {
  const wait = (element, url, key) => new Promise((done) => {
    element.onload = element.onerror = done;
    setTimeout(done, 1500);
    element[key] = url;
    document.body.append(element);
  });
  const form = (url, method, enctype) => new Promise((done) => {
    const frame = Object.assign(document.createElement("iframe"), { name: "f" + Math.random(), onload: done });
    const sent = Object.assign(document.createElement("form"), { action: url, method, enctype, target: frame.name });
    for (const [name, value] of [["language", "en"], ["text", "She go by form."], ["word", "evilword"]])
      sent.append(Object.assign(document.createElement("input"), { name, value }));
    document.body.append(frame, sent);
    sent.submit();
    setTimeout(done, 1500);
  });
  const json = JSON.stringify({ text: "She go by fetch.", word: "evilword" });
  const fields = new URLSearchParams({ language: "en", text: "She go by fields.", word: "evilword" });
  let read = 0;
  const ask = async (url, options) => {
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(3000), ...options });
      read += answer.type !== "opaque" && answer.ok;
    } catch {}
  };
  for (const route of routes) {
    const url = `${server}${route}?language=en&word=evilword&text=She+go+by+`;
    await Promise.all([
      wait(document.createElement("img"), url + "image", "src"),
      wait(document.createElement("script"), url + "script", "src"),
      wait(Object.assign(document.createElement("link"), { rel: "stylesheet" }), url + "link", "href"),
      wait(Object.assign(document.createElement("link"), { rel: "prefetch" }), url + "prefetch", "href"),
      wait(document.createElement("iframe"), url + "frame", "src"),
      wait(document.createElement("object"), url + "object", "data"),
      wait(document.createElement("audio"), url + "audio", "src"),
      wait(Object.assign(document.createElement("img"), { referrerPolicy: "no-referrer" }), url + "silence", "src"),
      form(url + "get", "get", "application/x-www-form-urlencoded"),
      form(url + "post", "post", "application/x-www-form-urlencoded"),
      form(url + "plain", "post", "text/plain"),
      form(url + "parts", "post", "multipart/form-data"),
      ask(url + "fetch", { mode: "no-cors" }),
      ask(url + "fetch", { mode: "cors", credentials: "include" }),
      ask(url + "fetch", { mode: "no-cors", method: "POST", body: fields, referrerPolicy: "no-referrer" }),
      ask(url + "fetch", { method: "POST", body: json, headers: { "content-type": "application/json" } }),
      ask(url + "fetch", { mode: "no-cors", method: "POST", body: json }),
    ]);
    navigator.sendBeacon(url + "beacon", fields);
    await new Promise((done) => {
      const socket = new WebSocket((url + "socket").replace("http", "ws"));
      socket.onopen = () => { read += 1; done(); };
      socket.onerror = socket.onclose = done;
      setTimeout(done, 1500);
    });
  }
  return read;
}"""

# What our own page asks.
OURS = """async () => {
  const body = JSON.stringify({ text: "She go to school." });
  const headers = { "content-type": "application/json" };
  const asked = [fetch("v1/info"), fetch("v1/correct", { method: "POST", body, headers })];
  return (await Promise.all(asked)).map((answer) => answer.status);
}"""


class EmptyPage(BaseHTTPRequestHandler):
    """A page of another site."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another site</title><body>")

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def other_site() -> Iterator[int]:
    """The port of a web server for pages of other sites."""
    with ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize("name", ["evil.example", "localhost"])  # of another site; of the same site, another port
def test_nothing_is_computed_for_other_sites(
    make_model: Any, tokens: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    texts: list[str] = []
    lines: list[dict[str, Any]] = []
    sentences: Any = AsyncCorrector.sentences

    def watch(*given: Any, **more: Any) -> Any:
        texts.append(given[1])
        return sentences(*given, **more)

    monkeypatch.setattr(AsyncCorrector, "sentences", watch)
    monkeypatch.setattr(middleware.log, "info", lambda line: lines.append(json.loads(line)))
    folder = tmp_path / "model"
    folder.mkdir()
    corrector = Corrector.load(live_server.save(make_model, tokens, folder), threads=1)
    words = WatchedLineFile(tmp_path / "words.txt")
    projects = Projects(own=words)
    rules = "--host-resolver-rules=MAP evil.example 127.0.0.1"
    with (
        serving(corrector, middleware.Limits(per_client=100), projects=projects) as server,
        other_site() as port,
        playwright.sync_playwright() as started,
    ):
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", rules])
        page = browser.new_page()
        page.goto(f"http://{name}:{port}/")
        read = page.evaluate(ATTACK, [server.replace("127.0.0.1", "localhost"), ROUTES])
        page.wait_for_timeout(500)
        sent = list(lines)
        page.goto(server)  # a link to the page itself works, and so does the page
        ours = page.evaluate(OURS)
        browser.close()
    statuses = Counter(line["status"] for line in sent)
    (tmp_path / "counts.json").write_text(json.dumps([len(sent), dict(statuses)]))
    assert len(sent) > 12 * len(ROUTES), "the browser sends them"
    assert set(statuses) <= {403, 405}, [line for line in sent if line["status"] not in (403, 405)]
    assert read == 0
    assert "evilword" not in words.read()
    assert ours == [200, 200] and texts == ["She go to school."]
