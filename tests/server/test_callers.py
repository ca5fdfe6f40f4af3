"""Who is answered: names of the server, pages of the web, and connections that say nothing."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
import httpx
from support import live_server
from support.live_server import serving

from edit_gec.corrector import Corrector
from edit_gec.server.callers import Callers
from edit_gec.server.protocol import PatientProtocol

ASKED = {"language": "en", "text": "She go home."}


@pytest.fixture(scope="module")
def corrector(make_model: Any, tokens: Any, tmp_path_factory: pytest.TempPathFactory) -> Corrector:
    folder: Path = live_server.save(make_model, tokens, tmp_path_factory.mktemp("lively"))
    return Corrector.load(folder, threads=1)


@pytest.mark.parametrize(
    ("host", "origin", "refused"),
    [
        ("localhost:8081", None, False),
        ("127.0.0.1:8081", None, False),
        ("[::1]:8081", None, False),
        ("LOCALHOST", None, False),
        ("evil.example:8081", None, True),
        ("localhost.evil.example", None, True),
        ("localhost@evil.example", None, True),
        ("127.0.0.1.nip.io", None, True),
        ("", None, True),
        ("[::1", None, True),
        ("localhost:8081", "http://localhost:8081", False),  # its own page
        ("localhost:8081", "http://localhost:3000", True),
        ("localhost:8081", "https://evil.example", True),
        ("localhost:8081", "null", True),
        ("evil.example", "http://evil.example", True),
        ("localhost:8081", "moz-extension://a-b", False),
        ("localhost:8081", "chrome-extension://abc", False),
    ],
)
def test_on_loopback(host: str, origin: str | None, refused: bool) -> None:
    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin else [])]
    assert bool(Callers.of_listener("127.0.0.1").reason_to_refuse(headers)) is refused
    assert Callers.of_listener("127.0.0.1", ["*"], "*").reason_to_refuse(headers) is None


def test_names_that_are_given() -> None:
    headers = [(b"host", b"Grammar.example:443")]
    assert Callers.of_listener("0.0.0.0").reason_to_refuse(headers) is None
    assert Callers.of_listener("0.0.0.0", ["other.example"]).reason_to_refuse(headers)
    assert Callers.of_listener("127.0.0.1", ["grammar.EXAMPLE"]).reason_to_refuse(headers) is None


def test_a_page_of_the_web_gets_nothing(corrector: Corrector) -> None:
    with serving(corrector) as address:
        for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
            for path in ("/v2/check", "/v1/correct", "/"):
                answer = httpx.post(address + path, data=ASKED, headers=headers, timeout=60)
                assert answer.status_code == 403 and "matches" not in answer.text
        assert httpx.post(f"{address}/v2/check", data=ASKED, headers={"origin": address}, timeout=60).status_code == 200
        assert httpx.post(f"{address}/v2/check", data=ASKED, timeout=60).status_code == 200


def test_silent_connections_are_cut_off(corrector: Corrector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a byte, with half a head that grows slowly, and with half a head behind a whole request."""
    monkeypatch.setattr(PatientProtocol, "head_timeout_s", 0.5)
    with serving(corrector) as address:
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        whole = b"GET /v2/healthcheck HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for first, drip in ((b"", b""), (b"GET / HTTP/1.1\r\n", b"X"), (whole + b"GET / HT", b"")):
            with socket.create_connection(place, timeout=10) as connection:
                connection.sendall(first)
                found, ends = b"", time.monotonic() + 10
                connection.settimeout(0.1)
                while time.monotonic() < ends:
                    try:
                        data = connection.recv(4096)
                    except TimeoutError:
                        connection.sendall(drip)
                        continue
                    except ConnectionError:
                        break
                    found += data
                    if not data:
                        break
                assert time.monotonic() < ends
                assert (b"200 OK" in found) == (first.startswith(whole))
        assert httpx.get(f"{address}/v2/healthcheck").text == "OK"
