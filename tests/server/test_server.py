"""The server, run as it is run: uvicorn on a loopback port, real clients, a real (tiny, untrained) model."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.strategies import law, valid
from support.tiny_t5 import random_target

pytest.importorskip("fastapi")
pytest.importorskip("language_tool_python")
pytest.importorskip("schemathesis")
import httpx
import language_tool_python
from support import live_server
from support.correctors import verified_by
from support.live_server import LIMITS, PROSE, serving
from support.steps import exhaust

from edit_gec.cli.main import main
from edit_gec.cli.serve import open_listener
from edit_gec.corrector import Corrector
from edit_gec.editing import alternatives
from edit_gec.errors import InputError
from edit_gec.runtime.metrics import Metrics
from edit_gec.runtime.type_cache import ErrorType, ErrorTypeCache
from edit_gec.server.app import PAGE_FOLDER
from edit_gec.server.callers import Callers
from edit_gec.server.middleware import Limits, RequestGuard
from edit_gec.speculative.verifier import Verifier
from edit_gec.text.edits import Edit

# The package imports its command line, and that pkg_resources, which setuptools no longer has.
pylanguagetool = runpy.run_path(str(Path(str(find_spec("pylanguagetool").origin)).with_name("api.py")))  # type: ignore[union-attr]
few = settings(law, max_examples=12)


@pytest.fixture(scope="module")
def folder(make_model: Any, tokens: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return live_server.save(make_model, tokens, tmp_path_factory.mktemp("lively"))


@pytest.fixture(scope="module")
def corrector(folder: Path) -> Corrector:
    return Corrector.load(folder, threads=1, batch_size=8)


@pytest.fixture(scope="module")
def server(corrector: Corrector) -> Iterator[str]:
    with serving(corrector) as address:
        yield address


@pytest.fixture(scope="module")
def client(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, timeout=30) as client:
        yield client


def changes(edits: Any) -> list[tuple[int, int, str]]:
    return [(edit["start"], edit["end"], edit["replacement"]) for edit in edits]


# --- our own endpoint --------------------------------------------------------------------------------------------


def test_another_language_is_named_and_left_alone(client: httpx.Client) -> None:
    text = "Je ne sais pas pour vous, mais le chat est dans la maison."
    answer = client.post("/v1/correct", json={"text": text}).json()
    assert (answer["corrected"], answer["edits"], answer["language"]["name"]) == (text, [], "French")
    (last,) = client.post("/v1/correct/stream", json={"text": text}).text.splitlines()
    assert json.loads(last)["language"] == {"code": "fr", "name": "French"}
    assert client.post("/v1/correct", json={"text": "She go home."}).json()["language"] is None


@few
@given(text=valid, markup=...)
def test_the_same_as_the_corrector(client: httpx.Client, corrector: Corrector, text: str, markup: bool) -> None:
    answer = client.post("/v1/correct", json={"text": text, "markup": markup}).json()
    assume(answer["language"] is None)  # "ééç" may be taken for another one, and is left alone
    expected = corrector.correct(text, markup=markup)
    assert answer["corrected"] == expected.corrected
    assert changes(answer["edits"]) == [(e.start, e.end, e.replacement) for e in expected.edits]
    lines = client.post("/v1/correct/stream", json={"text": text, "markup": markup}).text.split("\n")
    *sentences, last = [json.loads(line) for line in lines if line]
    assert [change for each in sentences for change in changes(each["edits"])] == changes(answer["edits"])
    assert last["timing"]["sentences"] == last["timing"]["cached"] == len(sentences)


@pytest.fixture
def bold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alternatives of a random model, which holds none of them likely."""
    monkeypatch.setattr(alternatives, "LEAST_SHARE", 1e-9)


@pytest.mark.usefixtures("bold")
@few
@given(text=valid)
def test_alternatives_and_hints_where_they_are_asked_for(client: httpx.Client, corrector: Corrector, text: str) -> None:
    text = f"{PROSE} {text}"
    expected = corrector.suggest(corrector.correct(text))
    for _ in range(2):  # found, then remembered
        answer = client.post("/v1/correct", json={"text": text, "suggest": True}).json()
        assert [tuple(edit["alternatives"]) for edit in answer["edits"]] == [e.alternatives for e in expected.edits]
        assert changes(answer["hints"]) == [(e.start, e.end, e.replacement) for e in expected.hints]
        assert answer["corrected"] == expected.corrected
    lines = client.post("/v1/correct/stream", json={"text": text, "suggest": True}).text.rstrip("\n").split("\n")
    sentences = [json.loads(line) for line in lines][:-1]
    for name in ("edits", "hints"):
        assert [edit for sentence in sentences for edit in sentence[name]] == answer[name]
    plain = client.post("/v1/correct", json={"text": text}).json()
    assert not plain["hints"] and not any(edit["alternatives"] for edit in plain["edits"])


@pytest.mark.usefixtures("bold")
def test_languagetool_has_several_replacements(client: httpx.Client, corrector: Corrector) -> None:
    view = corrector.suggest(corrector.correct(PROSE, markup=False), markup=False)
    matches = client.post("/v2/check", data={"text": PROSE, "language": "en"}).json()["matches"]
    assert [len(match["replacements"]) for match in matches] == [1 + len(edit.alternatives) for edit in view.edits]
    assert any(len(match["replacements"]) > 1 for match in matches)


SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "prose.txt"
FORMATS = ("rst", "commit", "mail", "subtitles", "python", "gitcommit", "code/a.rs", "plain")


@few
@given(text=valid, format=st.sampled_from(FORMATS))
def test_a_text_is_read_as_its_format(client: httpx.Client, corrector: Corrector, text: str, format: str) -> None:
    source = f"Go: {PROSE}\n// {PROSE}\n# {PROSE}\n{text}"
    answer = client.post("/v1/correct", json={"text": source, "format": format}).json()
    expected = corrector.correct(source, format=format)
    assert answer["corrected"] == expected.corrected
    plain = client.post("/v1/correct", json={"text": source, "format": format, "markup": False}).json()
    assert plain["corrected"] == corrector.correct(source, markup=False).corrected
    matches = client.post("/v2/check", data={"text": source, "language": "en", "format": format}).json()["matches"]
    assert bool(matches) == bool(expected.edits)


def test_a_format_that_is_not_understood(client: httpx.Client) -> None:
    for path in ("/v1/correct", "/v1/correct/stream"):
        answer = client.post(path, json={"text": "a", "format": "klingon"})
        assert answer.status_code == 400 and "format 'klingon': expected one of markdown" in answer.json()["detail"]
    answer = client.post("/v2/check", data={"text": "a", "language": "en", "format": "csv"})
    assert answer.status_code == 400 and answer.text.startswith("Error: format 'csv': expected one of markdown")


@pytest.mark.usefixtures("bold")
def test_hints_are_named_as_edits_are(client: httpx.Client, corrector: Corrector) -> None:
    text = f"{PROSE} {' '.join(SAMPLES.read_text(encoding='utf-8').split()[:400])}"
    asked = {"text": text, "suggest": True, "explain": True}
    answer = client.post("/v1/correct", json=asked).json()
    assert answer["hints"] and all(hint["type"] and hint["message"] for hint in answer["hints"])
    assert changes(answer["edits"]) == changes(client.post("/v1/correct", json={"text": text}).json()["edits"])
    lines = client.post("/v1/correct/stream", json=asked).text.rstrip("\n").split("\n")
    assert [hint for line in lines for hint in json.loads(line).get("hints", ())] == answer["hints"]
    assert json.loads(lines[-1])["timing"]["suggest_ms"] > 0


def test_edits_are_named_and_time_is_accounted_for(client: httpx.Client) -> None:
    answer = client.post("/v1/correct", json={"text": PROSE + " Never seen before.", "explain": True}).json()
    assert answer["edits"] and all(edit["type"] and edit["message"] for edit in answer["edits"])
    assert answer["edits"][-1]["start_utf16"] == answer["edits"][-1]["start"] + 1  # behind the emoji
    timing = answer["timing"]
    assert timing["encoder_ms"] > 0 and timing["steps"] > 0 and timing["steps_ms"] > 0 and timing["explain_ms"] > 0
    parts = sum(timing[f"{part}_ms"] for part in ("prepare", "queue", "encoder", "steps", "other", "verify", "explain"))
    assert timing["total_ms"] <= parts * 1.01 + 0.1
    again = client.post("/v1/correct", json={"text": PROSE, "explain": True}).json()
    assert again["timing"]["cached"] == again["timing"]["sentences"] and again["timing"]["encoder_ms"] == 0


def test_what_is_no_sentence_has_no_names_and_takes_no_time() -> None:
    jobs = [(source, (Edit(0, 1, "(", "", 0.9),)) for source in ("(*`<" * 24_000, "(a " * 1000)]
    jobs.append(("She go home.", (Edit(4, 6, "go", "goes", 0.9),)))
    begun = time.monotonic()
    named = exhaust(ErrorTypeCache().name(jobs))
    assert named[:2] == [[ErrorType()], [ErrorType()]] and named[2][0][0] == "R:VERB:SVA"
    assert time.monotonic() - begun < 20  # the parser may have to be loaded


@pytest.mark.parametrize("text", ["x" * 3000, "a,b;(" * 600, "1+" * 1500, "\u4e2d" * 3000])
def test_what_has_no_space_is_not_read(client: httpx.Client, corrector: Corrector, text: str) -> None:
    """The model reads it at a piece for each character, and would be busy for long; the words around it are read."""
    for before, after in (("", ""), (PROSE + " ", " " + PROSE)):
        answer = client.post("/v1/correct", json={"text": (before + text + after)[:3000], "explain": True}).json()
        assert answer["corrected"] == corrector.correct((before + text + after)[:3000]).corrected
        assert answer["timing"]["encoder_ms"] == 0 or before
        assert bool(answer["edits"]) == bool(before)


def test_a_threshold_of_the_request(client: httpx.Client, corrector: Corrector, folder: Path) -> None:
    sure = Corrector.load(folder, threads=1, min_confidence=0.3)
    assert sure.correct(PROSE).corrected != corrector.correct(PROSE).corrected
    answer = client.post("/v1/correct", json={"text": PROSE, "min_confidence": 0.3}).json()
    assert answer["corrected"] == sure.correct(PROSE).corrected


def test_a_target_verifies(folder: Path, tokens: Any) -> None:
    text = " ".join([PROSE, "It rain.", "We was here.", "They goes to school."])
    for seed in range(40):  # the first random target that says something else and comes to an end
        verifier = Verifier(random_target(tokens, seed, max_length=64))
        verified = verified_by(Corrector.load(folder, threads=1), verifier)
        if verified.correct(text).edits:
            break
    for asked in ({}, {"min_confidence": 0.01}):
        expected = verified.with_thresholds(**asked).correct(text)
        with serving(verified) as address:
            answer = httpx.post(f"{address}/v1/correct", json={"text": text, **asked}, timeout=30).json()
        assert answer["corrected"] == expected.corrected
        assert answer["edits"] or asked
        assert [e["provenance"] for e in answer["edits"]] == [e.provenance for e in expected.edits]
        assert changes(answer["refused"]) == [(e.start, e.end, e.replacement) for e in expected.refused]
        assert answer["refused"] and {e["provenance"] for e in answer["refused"]} == {"target refused"}
        assert {"target only", "target changed", "agree"} >= {e["provenance"] for e in answer["edits"]}
        assert answer["timing"]["verify_ms"] > 0


def test_nothing_is_mixed_up_between_clients(client: httpx.Client, corrector: Corrector) -> None:
    texts = [f"Client {n} go to the house number {n} and buy {n} apple . " * (1 + n % 3) for n in range(12)]

    def ask(text: str) -> Any:
        for _ in range(100):
            answer = client.post("/v1/correct", json={"text": text})
            if answer.status_code != 429:
                return answer.json()
            time.sleep(0.05)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, texts))
    assert [answer["corrected"] for answer in answers] == [corrector.correct(text).corrected for text in texts]


# --- LanguageTool's clients --------------------------------------------------------------------------------------


def test_language_tool_python(server: str, corrector: Corrector) -> None:
    with language_tool_python.LanguageTool("en-US", remote_server=server) as tool:
        found = tool.check(PROSE)
        assert found and all(match.rule_id.startswith("EDIT_GEC_") and match.message for match in found)
        corrected = language_tool_python.utils.correct(PROSE, found)
        assert corrected == tool.correct(PROSE) == corrector.correct(PROSE, markup=False).corrected
        tool.disabled_rules = {match.rule_id for match in found}
        assert tool.check(PROSE) == []


def test_pylanguagetool(server: str) -> None:
    url = f"{server}/v2/"
    assert {"name": "English (GB)", "code": "en", "longCode": "en-GB"} in pylanguagetool["get_languages"](url)
    answer = pylanguagetool["check"](PROSE, url, "auto", preferred_variants="en-GB", picky=True)
    assert answer["language"]["detectedLanguage"]["code"] == "en-GB" and answer["software"]["name"] == "edit-gec"
    units = PROSE.encode("utf-16-le")
    for match in answer["matches"]:
        context = match["context"]["text"].encode("utf-16-le")[2 * match["context"]["offset"] :]
        here = units[2 * match["offset"] : 2 * (match["offset"] + match["length"])]
        assert context.startswith(here) or b"\n" in here
    with pytest.raises(Exception, match="only English"):
        pylanguagetool["check"](PROSE, url, "de")


@pytest.mark.parametrize("extra", [{}, {"motherTongue": "de-DE", "enabledRules": "", "mode": "all"}])
def test_clients_that_send_only_data(client: httpx.Client, extra: dict[str, str]) -> None:
    """As LTeX, VS Code and Obsidian do: annotations, answers in offsets of text and markup."""
    parts = [
        {"text": "It "},
        {"markup": "**"},
        {"text": "rain"},
        {"markup": "**"},
        {"text": " all the day in 😀 town.\n"},
    ]
    parts += [{"markup": "```\nx = 1\n```\n", "interpretAs": "\n\n"}, {"text": "She go to the house two time a week."}]
    fields = {"language": "en-US", "level": "picky", "data": json.dumps({"annotation": parts}), **extra}
    answer = client.post("/v2/check", data=fields).json()
    document = "".join(part.get("text", part.get("markup", "")) for part in parts).encode("utf-16-le")
    fenced = document.index("```".encode("utf-16-le")) // 2
    assert answer["matches"]
    for match in answer["matches"]:
        assert match["sentence"] and isinstance(match["shortMessage"], str)
        start, end = match["offset"], match["offset"] + match["length"]
        assert b"*\0*\0" not in document[2 * start : 2 * end] and (end <= fenced or start >= fenced + 14)


def test_get_and_small_routes(client: httpx.Client) -> None:
    posted = client.post("/v2/check", data={"text": PROSE, "language": "en"}).json()
    assert client.get("/v2/check", params={"text": PROSE, "language": "en"}).json() == posted
    silent = client.post("/v2/check", data={"text": PROSE, "language": "en", "mode": "textLevelOnly"}).json()
    assert posted["matches"] and not silent["matches"]
    german = "Gestern sind wir zum ersten Mal im neuen Haus gewesen, und es war sehr schön."
    assert client.post("/v2/check", data={"text": german, "language": "auto"}).json()["matches"] == []
    assert client.get("/v2/healthcheck").text == "OK"
    assert client.get("/v2/maxtextlength").text == "3000"
    assert client.get("/v2/info").json()["software"]["name"] == "edit-gec"
    assert client.get("/metrics").text.count('edit_gec_requests_total{route="/v2/healthcheck",status="200"} 1.0') == 1


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind", "status", "says"),
    [
        (b"text=a", "", 400, "missing 'language'"),
        (b"language=en&text=%FF%FE", "", 400, "not UTF-8"),
        (b"language=en&text=\xff\xfe", "", 400, "not UTF-8"),
        (b"language=en&data=%00", "", 400, "not valid JSON"),
        (b"&".join([b"a=b"] * 1000), "", 400, "more than 100 fields"),
        (b"language=en&text=" + b"a" * 3001, "", 413, "the limit is 3000"),
        (
            b'language=en&data={"annotation":[{"markup":"","interpretAs":"' + b"a" * 3001 + b'"}]}',
            "",
            413,
            "limit is 3000",
        ),
        (b"language=en&text=" + b"a" * 10_000_000, "", 413, "bytes"),
        (b"language=xx&text=a", "", 400, "only English"),
        (b'{"text": "a"}', "application/json", 400, "missing 'language'"),
    ],
)
def test_bad_checks(client: httpx.Client, body: bytes, kind: str, status: int, says: str) -> None:
    answer = client.post("/v2/check", content=body, headers={"content-type": kind} if kind else {})
    assert answer.status_code == status and answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("Error: ") and says in answer.text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b"[]", 422),
        (b'"\xff"', 400),
        (b'{"text": "\\ud800 secret"}', 422),
        (b'{"text": 3}', 422),
        (b'{"text": "secret", "min_confidence": 1.5}', 422),
        (b'{"text": "secret", "min_confidence": NaN}', 422),
        (b'{"text": "secret", "min_confidence": true}', 422),
        (b'{"text": "secret", "min_confidence": "0.5"}', 422),
        (b'{"text": "secret", "explain": "yes"}', 422),
        (b'{"text": "secret", "other": 1}', 422),
        (b'{"text": "secret", "%s": 1}' % (b"o" * 20_000), 422),
        (b'{"text": "secret"%s}' % b"".join(b', "%d": 1' % n for n in range(3000)), 422),
        (b'{"text": "secret", "format": "%s"}' % (b"x" * 20_000), 400),
        (b'{"text": "' + b"a" * 3001 + b'"}', 413),
        (b'{"text": "' + b"a" * 10_000_000 + b'"}', 413),
        (b"[" * 30_000, 400),
    ],
)
@pytest.mark.parametrize("path", ["/v1/correct", "/v1/correct/stream"])
def test_bad_texts(client: httpx.Client, path: str, body: bytes, status: int) -> None:
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status and answer.json()["detail"]
    assert "secret" not in answer.text and len(answer.content) < 1000


def test_two_lengths_of_one_request_end_the_connection(client: httpx.Client) -> None:
    """Content-Length and chunks: who stands in between may take what follows for another request."""
    body = b'7\r\n{"text"\r\n7\r\n:"She"}\r\n0\r\n\r\n'
    head = (
        b"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    after = b"GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=20) as connection:
        connection.sendall(b"POST /v1/correct HTTP/1.1\r\n" + head + body + after)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1") == 1 and b"connection: close" in answer


def test_a_slow_client_is_told_so_and_holds_up_nobody(server: str, client: httpx.Client) -> None:
    with socket.create_connection(("127.0.0.1", int(server.rpartition(":")[2])), 10) as slow:
        slow.sendall(b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\ntext=")
        assert client.get("/v2/healthcheck").text == "OK"
        assert slow.recv(100).startswith(b"HTTP/1.1 408 ")


def test_many_requests_of_one_address(server: str) -> None:
    bodies = [b"text="] * LIMITS.per_client
    slow = [socket.create_connection(("127.0.0.1", int(server.rpartition(":")[2])), 10) for _ in bodies]
    try:
        for connection, body in zip(slow, bodies, strict=True):
            connection.sendall(b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n" + body)
        for _ in range(20):  # until the server has seen them all, however busy the machine is
            time.sleep(0.3)
            answer = httpx.post(f"{server}/v2/check", data={"language": "en", "text": "a"}, timeout=30)
            if answer.status_code != 200:
                break
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")
    finally:
        for connection in slow:
            connection.close()


def test_a_full_queue_and_a_time_limit(corrector: Corrector) -> None:
    text = "".join(f"It rain all day and night in town {n}. " for n in range(60))
    with serving(corrector, Limits(waiting=20)) as address, ThreadPoolExecutor(6) as pool:

        def check(text: str) -> httpx.Response:
            return httpx.post(f"{address}/v2/check", data={"language": "en", "text": text}, timeout=30)

        def stream(text: str) -> httpx.Response:
            return httpx.post(f"{address}/v1/correct/stream", json={"text": text}, timeout=30)

        for ask, kind in ((check, "text/plain; charset=utf-8"), (stream, "application/json")):
            texts = [text.replace("rain", f"{word} {ask.__name__}") for word in ("snow", "pour", "hail", "blow", "fog")]
            refused = [answer for answer in pool.map(ask, texts) if answer.status_code == 503]
            assert refused and refused[0].headers["retry-after"] == "2" and refused[0].headers["content-type"] == kind
    with serving(corrector, Limits(timeout_s=0.02)) as address:
        answer = httpx.post(f"{address}/v2/check", data={"language": "en", "text": text.replace("rain", "storm")})
        assert answer.status_code == 503 and "0.02 seconds" in answer.text


def test_who_hangs_up_costs_nothing(server: str, client: httpx.Client) -> None:
    text = "".join(f"It pour all night and day in {n} towns. " for n in range(70))
    with contextlib.suppress(httpx.ReadTimeout):
        httpx.post(f"{server}/v1/correct", json={"text": text}, timeout=0.03)
    end = time.monotonic() + 10
    idle = ("edit_gec_sentences_waiting 0.0", "edit_gec_requests_in_flight 1.0")  # one asks for the metrics
    while not all(line in client.get("/metrics").text for line in idle) and time.monotonic() < end:
        time.sleep(0.02)
    text = client.get("/metrics").text
    assert all(line in text for line in idle)


def test_an_error_of_ours_shows_no_text(
    corrector: Corrector, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise ValueError("of some secret text")

    monkeypatch.setattr(corrector.edit5.tokens.__class__, "encode", breaks)
    with caplog.at_level(logging.INFO), serving(corrector) as address:
        answer = httpx.post(f"{address}/v2/check", data={"language": "en", "text": "A secret text."})
        assert (answer.status_code, answer.text) == (500, "Error: internal error")
        assert httpx.get(f"{address}/v2/check?text=secret&language=xx").status_code == 400
        assert httpx.get(f"{address}/secret").status_code == 404
    lines = [record.getMessage() for record in caplog.records if record.name == "edit_gec.server"]
    lines = lines[next(n for n, line in enumerate(lines) if "error" in line) :]  # a request of before may end late
    assert json.loads(lines[0])["error"] == "ValueError" and "test_server.py" in json.loads(lines[0])["at"][-1]
    assert [json.loads(line)["route"] for line in lines[1:]] == ["/v2/check", "/v2/check", "other"]
    assert "secret" not in "".join(lines)


def test_cross_origin(client: httpx.Client, corrector: Corrector) -> None:
    headers = {"origin": "https://example.org"}
    assert "access-control-allow-origin" not in client.get("/v2/languages", headers=headers).headers
    with serving(corrector, origin="https://example.org") as address:
        for path in ("/v2/languages", "/v2/check"):
            answer = httpx.get(address + path, headers=headers)
            assert answer.headers["access-control-allow-origin"] == "https://example.org"
        asks = {**headers, "access-control-request-method": "POST", "access-control-request-headers": "content-type"}
        assert httpx.options(f"{address}/v1/correct", headers=asks).status_code == 200
        asks["access-control-request-private-network"] = "true"  # Chrome, from the web to this machine
        answer = httpx.options(f"{address}/v2/check", headers=asks)
        assert (answer.status_code, answer.headers["access-control-allow-private-network"]) == (200, "true")


def test_a_base_address_may_end_with_a_slash(client: httpx.Client) -> None:
    fields = {"text": PROSE, "language": "en"}
    found = client.post("/v2/check", data=fields).json()["matches"]
    for path in ("/v2/check/", "/v2//check", "/v2//check//"):
        answer = client.post(path, data=fields)
        assert (answer.status_code, answer.json()["matches"]) == (200, found)
    assert client.post("/v1//correct/", json={"text": PROSE}).status_code == 200
    assert client.get("/v2/").text == client.get("/v2//healthcheck/").text == "OK"
    assert client.get("/metrics/").status_code == 404


def test_another_language_is_left_alone_and_named(client: httpx.Client) -> None:
    german = "Gestern sind wir zum ersten Mal im neuen Haus gewesen, und es war sehr schön."
    answer = client.post("/v2/check", data={"text": german, "language": "auto"}).json()
    assert answer["language"]["detectedLanguage"]["code"] == "de" and not answer["matches"]


# --- the page, the document, the command -------------------------------------------------------------------------


def test_the_page_asks_nobody_else(client: httpx.Client) -> None:
    for path in ("/", "/docs", *(f"/{file.name}" for file in PAGE_FOLDER.iterdir() if file.suffix != ".html")):
        answer = client.get(path)
        assert answer.status_code == 200 and "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"https?:|//\w", answer.text)  # no address of anybody
    for path in ("/page/index.html", "/../pyproject.toml", "/%2e%2e/app.py", "//etc/passwd", "/page.css/"):
        assert client.get(path).status_code == 404


def test_whatever_is_asked_is_answered_as_documented(server: str) -> None:
    import schemathesis
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    document = schemathesis.openapi.from_url(f"{server}/openapi.json")
    for operation in document.get_all_operations():

        @few
        @given(case=operation.ok().as_strategy())  # type: ignore[union-attr]
        def conforms(case: Any) -> None:
            case.call_and_validate(excluded_checks=[positive_data_acceptance])  # `text` or `data`, not both

        conforms()


def test_the_command_ends_gracefully(folder: Path) -> None:
    command = [sys.executable, "-m", "edit_gec", "serve", "--port", "0", "--threads", "1", "--model", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        address = process.stderr.readline().split()[1]
        text = "".join(f"It snow all day and night in town {n}. " for n in range(150))
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(httpx.post, f"{address}v1/correct", json={"text": text}, timeout=30)
            while "requests_in_flight 2.0" not in httpx.get(f"{address}metrics").text:
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            assert answer.result().status_code == 200
        log = process.stderr.read()
        assert process.wait(20) == -signal.SIGTERM
    assert '"route": "/v1/correct"' in log and "snow" not in log and "Traceback" not in log


def test_a_request_that_the_end_of_the_server_cuts_off_is_answered() -> None:
    """uvicorn cancels it when the grace is over, and would log a traceback."""
    sent: list[Any] = []

    async def hang(*_: Any) -> None:
        await asyncio.sleep(100)

    async def send(message: Any) -> None:
        sent.append(message)

    async def cut_off() -> None:
        guard = RequestGuard(hang, LIMITS, Metrics(), Callers())
        scope = {"type": "http", "path": "/v1/correct", "method": "POST", "headers": [(b"host", b"localhost")]}
        task = asyncio.create_task(guard(scope, hang, send))  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
        task.cancel()
        await task

    asyncio.run(cut_off())
    assert sent[0]["status"] == 503 and b"the server is ending" in sent[1]["body"]


def test_what_the_command_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--threads", "--timeout", "--max-requests", "--max-text-length"):
        with pytest.raises(SystemExit, match="2"):
            main(["serve", option, "0"])
        assert f"{option}: must be a whole number from 1, not '0'" in capsys.readouterr().err
    with contextlib.closing(open_listener("127.0.0.1", 0)) as used:
        used.listen()
        with pytest.raises(InputError, match="in use"):
            open_listener("127.0.0.1", used.getsockname()[1])
