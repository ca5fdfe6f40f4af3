"""A LanguageTool server beside ours: both are heard, and whatever it does, it costs none of our matches."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import product
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.live_server import serving
from support.upstream_server import Answer, Fields, answering, make_match, matches_of

from edit_gec.corrector import Corrector
from edit_gec.errors import InputError
from edit_gec.server.matches import find_confidence, is_match, merge_matches
from edit_gec.server.upstream import Upstream, parse_url

TEXT = "She go to school 🏠 and I recieved your letter, which I like alot."
GERMAN = "Das Haus, das wir gesehen haben, ist nicht das auf der Karte."


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector.load("edit5-mini", threads=1)


@contextlib.contextmanager
def both(corrector: Corrector, answer: Answer, **limits: Any) -> Iterator[tuple[httpx.Client, list[Fields]]]:
    """A client of our server beside one that answers so, and what that one was asked."""
    with (
        answering(answer) as (url, asked),
        serving(corrector, upstream=Upstream(url, **limits)) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        yield client, asked


def check(client: httpx.Client, text: str = TEXT, language: str = "en-US", **fields: str) -> dict[str, Any]:
    answer = client.post("/v2/check", data={"text": text, "language": language, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def places(answer: dict[str, Any]) -> list[tuple[int, int, str]]:
    return [
        (each["offset"], each["length"], each["replacements"][0]["value"] if each["replacements"] else "")
        for each in answer["matches"]
    ]


@pytest.fixture(scope="module")
def ours(corrector: Corrector) -> list[tuple[int, int, str]]:
    with serving(corrector) as address, httpx.Client(base_url=address, timeout=30) as client:
        found = places(check(client))
    assert len(found) >= 3
    return found


# --- the law of merging ------------------------------------------------------------------------------------------

spans = st.builds(
    make_match,
    st.integers(0, 20),
    st.integers(0, 6),
    st.just("x"),
    confidence=st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9, None, "much"]),
)
advice = st.builds(make_match, st.integers(0, 20), st.integers(1, 9))


@given(ours=st.lists(spans, max_size=6), theirs=st.lists(spans | advice, max_size=6))
def test_only_a_surer_match_of_the_other_side_displaces_one(ours: list[Any], theirs: list[Any]) -> None:
    kept = merge_matches(ours, theirs)
    assert [each["offset"] for each in kept] == sorted(each["offset"] for each in kept)
    by_side = [[each for each in side if any(each is other for other in kept)] for side in (ours, theirs)]
    assert sum(map(len, by_side)) == len(kept)

    def meet(one: Any, other: Any) -> bool:
        ends = [each["offset"] + max(1, each["length"]) for each in (one, other)]
        return bool(one["replacements"] and other["replacements"]) and (
            one["offset"] < ends[1] and other["offset"] < ends[0]
        )

    assert not any(meet(one, other) for one, other in product(*by_side))
    for number, side in enumerate((ours, theirs)):
        for lost in side:
            if not any(lost is each for each in kept):
                rivals = [each for each in by_side[1 - number] if meet(lost, each)]
                surest = max(map(find_confidence, rivals))
                assert surest > find_confidence(lost) or (surest == find_confidence(lost) and number == 1)


@pytest.mark.parametrize(
    "change",
    [
        {"offset": -1}, {"length": -1}, {"offset": 19, "length": 2}, {"offset": True}, {"offset": 1.5},
        {"length": None}, {"message": None}, {"rule": "R"}, {"replacements": None}, {"replacements": ["x"]},
        {"replacements": [{"value": 1}]},
    ],
)  # fmt: skip
def test_what_is_no_match(change: dict[str, Any]) -> None:
    assert is_match(make_match(3, 2, "x"), 20) and not is_match({**make_match(3, 2, "x"), **change}, 20)
    assert not is_match("a match", 20)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8010", "ftp://host", "http://", "http://a b", "http://host?x=1"])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(InputError, match="upstream"):
        parse_url(url)


# --- both at work ------------------------------------------------------------------------------------------------


def test_what_one_alone_says_passes_and_of_both_the_surer_stays(corrector: Corrector, ours: list[Any]) -> None:
    first, second = ours[:2]
    theirs = [
        make_match(first[0], first[1], "unsure", confidence=0.01),
        make_match(second[0], second[1], "sure", confidence=1.0),
        make_match(TEXT.index("to"), 2, "alone"),
        make_match(0, len(TEXT), rule={"issueType": "style"}),
    ]
    with both(corrector, lambda fields, _: {"matches": theirs}) as (client, asked):
        answer = check(client, level="picky", format="plain")
        assert answer["warnings"] == {"incompleteResults": False}
        assert set(places(answer)) >= {first, (second[0], second[1], "sure"), (TEXT.index("to"), 2, "alone")}
        assert (0, len(TEXT), "") in places(answer) and not any("unsure" in each for each in places(answer))
        check(client, language="auto", preferredVariants="en-GB")
        assert {name: asked[0][name] for name in ("text", "language", "level")} == {
            "text": TEXT, "language": "en-US", "level": "picky",
        }  # fmt: skip
        assert asked[1]["language"] == "en-GB" and "preferredVariants" not in asked[1]
        assert check(client, format="markdown")["matches"] and len(asked) == 2, "it cannot know our formats"


def test_other_languages_are_those_of_the_other_server(corrector: Corrector) -> None:
    def answer(fields: Fields, _: BaseHTTPRequestHandler) -> Any:
        return {"matches": [make_match(0, 3, "Ein")], "language": {"code": "de-DE"}, "software": {"name": "theirs"}}

    with both(corrector, answer) as (client, asked):
        for language in ("de-DE", "auto"):
            found = check(client, GERMAN, language)
            assert found["software"] == {"name": "theirs"} and places(found) == [(0, 3, "Ein")]
            assert asked[-1]["language"] == language
        listed = client.get("/v2/languages").json()
    assert listed[0] == {"name": "German", "code": "de", "longCode": "de-DE"}
    assert [each["longCode"] for each in listed].count("en-US") == 1 and len(listed) > 3


def trickle(_: Fields, handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        for _number in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)


def flood(_: Fields, handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        for _number in range(1000):
            handler.wfile.write(b" " * 100_000)


def compress(_: Fields, handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("content-encoding", "gzip")
    handler.end_headers()
    handler.wfile.write(b"\x1f\x8b")


def redirect(_: Fields, handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(307)
    handler.send_header("location", "http://127.0.0.1:9/elsewhere")
    handler.end_headers()


@pytest.mark.parametrize(
    "answer",
    [
        trickle, flood, compress, redirect,
        lambda fields, handler: handler.send_error(500),
        lambda fields, handler: handler.connection.shutdown(socket.SHUT_RDWR),
        lambda fields, handler: {"matches": [make_match(0, 10_000, "x")]},
        lambda fields, handler: ["no", "answer"],
        lambda fields, handler: {"matches": {}},
    ],
    ids=["trickle", "flood", "gzip", "redirect", "500", "gone", "outside", "list", "no matches"],
)  # fmt: skip
def test_whatever_it_does_ours_arrive_in_time(corrector: Corrector, ours: list[Any], answer: Answer) -> None:
    with both(corrector, answer, timeout_s=1.5, max_bytes=1_000_000) as (client, asked):
        begun = time.monotonic()
        found = check(client)
        took_s = time.monotonic() - begun
        assert places(found) == ours and found["warnings"] == {"incompleteResults": True}
        assert took_s < 8, "a trickle would take 10 s"
        assert places(check(client)) == ours and len(asked) == 1, "it rests"
        assert client.post("/v2/check", data={"text": GERMAN, "language": "de"}).status_code == 503
        assert check(client, GERMAN, "auto")["matches"] == []


def test_nobody_is_there(corrector: Corrector, ours: list[Any]) -> None:
    upstream = Upstream("http://127.0.0.1:9")
    with serving(corrector, upstream=upstream) as address, httpx.Client(base_url=address, timeout=30) as client:
        assert places(check(client)) == ours
        assert [each["code"] for each in client.get("/v2/languages").json()] == ["en"] * 7


def test_a_server_that_is_its_own_upstream_answers(corrector: Corrector, ours: list[Any]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    itself = {"upstream": Upstream(f"http://127.0.0.1:{port}/v2/"), "port": port}
    with serving(corrector, **itself) as address, httpx.Client(base_url=address, timeout=30) as client:
        answer = check(client)
    assert places(answer) == ours and not answer["warnings"]["incompleteResults"]


def test_a_real_engine_of_languagetools_rules(corrector: Corrector, ours: list[Any]) -> None:
    engines = pytest.importorskip("lt_py")
    data = pytest.importorskip("lingotweaker_data_en")
    engine = engines.Engine("en-US", data_dir=str(data.data_dir()))
    theirs = matches_of(engine, TEXT)
    assert {TEXT.index("recieved") + 1, TEXT.index("alot") + 1} <= {each["offset"] for each in theirs}  # behind a house
    with both(corrector, lambda fields, _: {"matches": matches_of(engine, fields["text"])}) as (client, _):
        merged = places(check(client))
        assert set(merged) <= {*ours, *places({"matches": theirs})}
        assert {place[:1] for place in ours} <= {place[:1] for place in merged}
        style = "The reason why is because it is very unique in my personal opinion 🏠."
        found = {each["offset"] for each in check(client, style)["matches"]}
        assert {each["offset"] for each in matches_of(engine, style)} <= found
