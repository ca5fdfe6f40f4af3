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


def status(callers: Callers, *, is_link: bool = False, **given: str) -> int:
    """That of the refusal of a request with these headers; 200 if it is answered."""
    headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()]
    refusal = callers.refuse(headers, computes=True, is_link=is_link)
    return refusal.status if refusal else 200


HERE = Callers.of_listener("127.0.0.1")


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        ("localhost:8081", None, 200),
        ("127.0.0.1:8081", None, 200),
        ("[::1]:8081", None, 200),
        ("LOCALHOST", None, 200),
        ("evil.example:8081", None, 403),
        ("localhost.evil.example", None, 403),
        ("localhost@evil.example", None, 400),
        ("127.0.0.1.nip.io", None, 403),
        ("", None, 400),
        ("[::1", None, 400),
        ("localhost:8081.evil.example", None, 400),
        ("localhost:abc", None, 400),
        ("localhost:", None, 400),
        ("localhost/evil", None, 400),
        ("localhost:8081", "http://localhost:8081", 200),  # its own page
        ("localhost:8081", "http://localhost:3000", 403),
        ("localhost:8081", "https://evil.example", 403),
        ("localhost:8081", "null", 403),
        ("evil.example", "http://evil.example", 403),
        ("localhost:8081", "moz-extension://a-b", 200),
        ("localhost:8081", "chrome-extension://abc", 200),
        ("localhost:8081", "blob:http://evil.example", 403),
        ("localhost:8081", "ftp://evil.example", 403),
        ("localhost:8081", "ftp://localhost:8081", 403),
        ("localhost:8081", "file://", 403),
        ("localhost:8081", "https ://evil", 400),
        ("localhost:8081", "evil.example", 400),
        ("localhost:8081", "", 400),
    ],
)
def test_on_loopback(host: str, origin: str | None, expected: int) -> None:
    given: dict[str, Any] = {"host": host} if origin is None else {"host": host, "origin": origin}
    assert status(HERE, **given) == expected
    if host == "localhost:8081":
        assert status(Callers.of_listener("127.0.0.1", ["*"], "*"), **given) == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none", "CROSS-SITE", "new-word", ""])
def test_what_browsers_mark_as_of_another_site(site: str) -> None:
    expected = 200 if site in ("same-origin", "none") else 403
    assert status(HERE, host="localhost", sec_fetch_site=site) == expected
    assert status(HERE, host="localhost", sec_fetch_site=site, origin="moz-extension://a-b") == 200
    assert status(Callers(origin="*"), host="localhost", sec_fetch_site=site) == 200
    page = HERE.refuse([(b"host", b"localhost"), (b"sec-fetch-site", site.encode())], computes=False)
    assert page is None, "a link to the page is followed"


def test_browsers_that_mark_nothing() -> None:
    anyone = Callers.of_listener("0.0.0.0")
    browser = "Mozilla/5.0 (X11; Linux x86_64)"
    assert status(anyone, host="10.0.0.1", referer="http://evil.example/a", user_agent=browser) == 403
    assert status(anyone, host="10.0.0.1", referer="http://10.0.0.1/a", user_agent=browser) == 200
    assert status(anyone, host="10.0.0.1", user_agent=browser, is_link=True) == 403
    assert status(anyone, host="10.0.0.1", user_agent=browser) == 200
    assert status(anyone, host="10.0.0.1", user_agent="python-requests/2", is_link=True) == 200


def test_headers_that_are_given_twice() -> None:
    twice = [(b"host", b"localhost"), (b"origin", b"http://localhost"), (b"origin", b"https://evil.example")]
    refusal = HERE.refuse(twice, computes=True)
    assert refusal and refusal.status == 400


def test_names_that_are_given() -> None:
    host = "Grammar.example:443"
    assert status(Callers.of_listener("0.0.0.0"), host=host) == 200
    assert status(Callers.of_listener("0.0.0.0", ["other.example"]), host=host) == 403
    assert status(Callers.of_listener("127.0.0.1", ["grammar.EXAMPLE"]), host=host) == 200


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
