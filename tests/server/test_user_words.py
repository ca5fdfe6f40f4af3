"""The user's words and the settings of a server, asked for over HTTP; who may change words and who may not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
import httpx
from support import live_server
from support.live_server import PROSE, serving

from edit_gec.config.projects import Projects
from edit_gec.config.settings import Settings
from edit_gec.config.user_words import WatchedLineFile
from edit_gec.corrector import Corrector


@dataclass
class Server:
    client: httpx.Client
    projects: Projects

    @property
    def words(self) -> Path:
        return self.projects.own.path


@pytest.fixture(scope="module")
def corrector(make_model: Any, tokens: Any, tmp_path_factory: pytest.TempPathFactory) -> Corrector:
    folder = live_server.save(make_model, tokens, tmp_path_factory.mktemp("lively"))
    return Corrector.load(folder, threads=1, batch_size=8)


@pytest.fixture
def server(corrector: Corrector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    projects = Projects(own=WatchedLineFile(tmp_path / "user" / "dictionary.txt"))
    with serving(corrector, projects=projects) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield Server(client, projects)


def test_words_are_added_listed_and_deleted(server: Server) -> None:
    client = server.client
    assert client.get("/v2/words").json() == {"words": []}
    for word in ("kubectl", "Zürich", "x"):
        assert client.post("/v2/words/add", data={"word": word, "username": "u", "apiKey": "k"}).json() == {
            "added": True
        }
    assert client.post("/v2/words/add?word=x").json() == {"added": False}
    assert server.words.read_text() == "kubectl\nZürich\nx\n"
    assert client.get("/v2/words", params={"offset": 1, "limit": 1}).json() == {"words": ["Zürich"]}
    assert client.post("/v2/words/delete", data={"word": "x"}).json() == {"deleted": True}
    assert client.post("/v2/words/delete", data={"word": "x"}).json() == {"deleted": False}
    assert server.words.read_text() == "kubectl\nZürich\n"


@pytest.mark.parametrize("word", ["", "  ", "two words", "a" * 101, "a\nb", "\x00", "..", "-", "#comment", "<b>x"])
def test_what_is_no_word_is_refused(server: Server, word: str) -> None:
    answer = server.client.post("/v2/words/add", data={"word": word})
    assert answer.status_code == 400 and "expected one word" in answer.text
    assert not server.words.exists()


def test_numbers_are_checked(server: Server) -> None:
    answer = server.client.get("/v2/words", params={"limit": "-1"})
    assert answer.status_code == 400 and "'limit' must be a whole number from 0" in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://{host}"}, 200),
        ({"origin": "chrome-extension://abcdef"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "evil.example"}, 403),
        ({"host": "evil.example", "origin": "http://evil.example"}, 403),
        ({"host": "localhost:8081"}, 200),
    ],
)
def test_no_page_of_the_web_changes_words(server: Server, headers: dict[str, str], status: int) -> None:
    host = server.client.base_url.netloc.decode()
    given = {name: value.replace("{host}", host) for name, value in headers.items()}
    for method, path in (("POST", "/v2/words/add"), ("POST", "/v2/words/delete"), ("GET", "/v2/words")):
        assert server.client.request(method, path, params={"word": "a"}, headers=given).status_code == status
    assert server.words.exists() == (status == 200)


@pytest.mark.parametrize("projects", [None, Projects(isolated=True)])
def test_a_server_without_the_users_words(corrector: Corrector, projects: Projects | None) -> None:
    with serving(corrector, projects=projects) as address:
        answer = httpx.post(f"{address}/v2/words/add", data={"word": "a"})
    assert answer.status_code == 403 and "without the user's words" in answer.text


def originals(server: Server, text: str = PROSE) -> list[str]:
    edits = server.client.post("/v1/correct", json={"text": text}).json()["edits"]
    lines = server.client.post("/v1/correct/stream", json={"text": text}).text.splitlines()[:-1]
    streamed = [edit for line in lines for edit in httpx.Response(200, text=line).json()["edits"]]
    assert [edit["original"] for edit in streamed] == [edit["original"] for edit in edits]
    return [edit["original"] for edit in edits]


def test_a_word_that_is_added_is_left_alone_at_once(server: Server) -> None:
    before = originals(server)
    word = next(found[0] for each in before if (found := re.search(r"[A-Za-z]+", each)))
    assert server.client.post("/v2/words/add", data={"word": word}).json() == {"added": True}
    after = originals(server)
    assert after == [each for each in before if word.casefold() not in re.findall(r"\w+", each.casefold())]
    server.client.post("/v2/words/delete", data={"word": word})
    assert originals(server) == before


def test_settings_of_the_working_folder_hold(server: Server, tmp_path: Path) -> None:
    kinds = {edit["kind"] for edit in server.client.post("/v1/correct", json={"text": PROSE}).json()["edits"]}
    (tmp_path / "edit-gec.toml").write_text(f"ignore = {sorted(kinds)[:1]}")
    left = {edit["kind"] for edit in server.client.post("/v1/correct", json={"text": PROSE}).json()["edits"]}
    assert left == kinds - {min(kinds)}
    fields = {"text": PROSE, "language": "en"}
    assert len(server.client.post("/v2/check", data=fields).json()["matches"]) == len(originals(server))


def test_the_language_of_a_request_is_its_dialect_unless_the_server_has_one(server: Server) -> None:
    text = "We favour the colour."

    def respelt(language: str) -> set[str]:
        matches = server.client.post("/v2/check", data={"text": text, "language": language}).json()["matches"]
        return {each["value"] for match in matches for each in match["replacements"]} & {"favor", "color"}

    assert respelt("en-US") == {"favor", "color"}
    assert respelt("en-GB") == respelt("en") == respelt("en-CA") == respelt("en-AU") == set()
    answer = server.client.post("/v1/correct", json={"text": text, "dialect": "en-US"}).json()
    assert {edit["replacement"] for edit in answer["edits"]} >= {"favor", "color"}
    server.projects.asked = Settings(dialect="en-GB")
    assert respelt("en-US") == set()


def test_what_the_server_has(server: Server, corrector: Corrector) -> None:
    offer = server.client.get("/v1/info").json()
    assert offer == {
        "model": corrector.folder.name, "strictness": ["default"], "dialect": None, "words": True,
        "characters": live_server.LIMITS.characters,
    }  # fmt: skip
    server.projects.asked = Settings(dialect="en-GB")
    assert server.client.get("/v1/info").json()["dialect"] == "en-GB"
    with serving(corrector) as address:
        assert httpx.get(f"{address}/v1/info").json()["words"] is False
