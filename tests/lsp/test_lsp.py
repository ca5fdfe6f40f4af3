"""`edit-gec lsp` as an editor has it: a process over stdio, a real client, a real (tiny, untrained) model."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Union

import pytest

pytest.importorskip("pygls")
pytest.importorskip("pytest_lsp")
from itertools import pairwise

from conftest import PROSE as PROSE_FILE
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features
from support import live_server
from support.live_server import PROSE

from edit_gec.annotation.explain import explain
from edit_gec.backends.export import export
from edit_gec.cli.main import main
from edit_gec.config.projects import Projects
from edit_gec.config.user_words import WatchedLineFile
from edit_gec.corrector import Corrector
from edit_gec.lsp.documents import Document, encoding_name
from edit_gec.lsp.options import Options
from edit_gec.lsp.positions import LineIndex
from edit_gec.lsp.server import Server
from edit_gec.lsp.user_dictionary import UserDictionary
from edit_gec.server import languagetool
from edit_gec.text.edits import Edit, apply
from edit_gec.text.render import describe, rule_id
from edit_gec.text.sarif import sarif

PATIENCE_S = 120
# On a slow machine a check takes longer than PUBLISH_S; no editor can tell what it finds first from all that it finds.
SERVER = """
import sys
from edit_gec.cli.main import main
from edit_gec.lsp import server
server.PUBLISH_S = 1e6
sys.exit(main())
"""
PROFILES = {"visual_studio_code": "utf-16", "neovim": "utf-8", "emacs": "utf-32"}


class Editor:
    """An editor of one kind, with a language server of its own and one open document."""

    def __init__(self, profile: str, model: Path, root: Path, *options: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.client = LanguageClient(converter_factory=_converter)
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.news = asyncio.Event()
        self.history: list[types.PublishDiagnosticsParams] = []
        features = {
            **DEFAULT_CLIENT_FEATURES,
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: lambda params: self._published(params),
        }
        register_lsp_features(self.client, features)
        self.uri, self.version, self.text = (root / "notes.md").as_uri(), 0, ""
        command = [sys.executable, "-c", SERVER, "lsp", "--model", str(model), "--threads", "1", *options]
        self(self.client.start_io(*command, cwd=root, env={"XDG_CONFIG_HOME": str(root / "home"), **_environment()}))
        without_hints = {"hints": False}  # a random model has many, and they would stand between the corrections
        params = types.InitializeParams(
            client_capabilities(profile), root_uri=root.as_uri(), initialization_options=without_hints
        )
        self.answer: types.InitializeResult = self(self.client.initialize_session(params))
        self.encoding = encoding_name(self.answer.capabilities.position_encoding)

    def __call__(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, PATIENCE_S))

    def _published(self, params: types.PublishDiagnosticsParams) -> None:
        self.published[params.uri] = params
        self.history.append(params)
        self.news.set()

    def close(self) -> None:
        self(self.client.shutdown_session())
        self(self.client.stop())  # type: ignore[no-untyped-call]
        self.loop.close()

    def open(self, text: str, language: str = "markdown", name: str = "notes.md") -> list[types.Diagnostic]:
        self.uri, self.text = self.uri.rpartition("/")[0] + "/" + name, text
        self.version += 1
        item = types.TextDocumentItem(self.uri, language, self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return self.diagnostics()

    def shut(self) -> None:
        document = types.TextDocumentIdentifier(self.uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))
        self.published.pop(self.uri, None)

    def change(self, start: int, end: int, new: str) -> None:
        part = types.TextDocumentContentChangePartial(range=self.range(start, end), text=new)
        self.text = self.text[:start] + new + self.text[end:]
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [part]))

    def configure(self, settings: dict[str, Any], *, checked: bool = True) -> None:
        """Set what the editor's user would, and wait for the diagnostics that come of it."""
        self.published.pop(self.uri, None)
        self.client.set_configuration(settings, section="edit-gec")
        given = types.DidChangeConfigurationParams({"edit-gec": settings})
        self.client.workspace_did_change_configuration(given)
        if checked:
            self.diagnostics()

    def diagnostics(self) -> list[types.Diagnostic]:
        """Those of the present version, as soon as they come."""

        async def wait() -> list[types.Diagnostic]:
            while True:
                found = self.published.get(self.uri)
                if found and found.version == self.version:
                    return [*found.diagnostics]
                self.news.clear()
                await self.news.wait()

        return self(wait())  # type: ignore[no-any-return]

    def republished(self, command: types.Command | None) -> list[types.Diagnostic]:
        """The diagnostics after a command."""
        assert command is not None
        self.published.clear()
        params = types.ExecuteCommandParams(command=command.command, arguments=command.arguments)
        self(self.client.workspace_execute_command_async(params))
        return self.diagnostics()

    def actions(self, where: types.Range, only: list[Any] | None = None) -> list[types.CodeAction]:
        document = types.TextDocumentIdentifier(self.uri)
        params = types.CodeActionParams(document, where, types.CodeActionContext(diagnostics=[], only=only))
        return self(self.client.text_document_code_action_async(params))  # type: ignore[no-any-return]

    def hover(self, at: types.Position) -> types.Hover | None:
        params = types.HoverParams(types.TextDocumentIdentifier(self.uri), at)
        return self(self.client.text_document_hover_async(params))  # type: ignore[no-any-return]

    def range(self, start: int, end: int) -> types.Range:
        lines = LineIndex(self.text, self.encoding)
        return types.Range(types.Position(*lines.position(start)), types.Position(*lines.position(end)))

    def span(self, where: types.Range) -> tuple[int, int]:
        lines = LineIndex(self.text, self.encoding)
        return (
            lines.offset(where.start.line, where.start.character),
            lines.offset(where.end.line, where.end.character),
        )

    def applied(self, edit: types.WorkspaceEdit | None) -> str:
        """The text with an action's edits, as this editor would make them."""
        assert edit is not None
        if edit.document_changes:
            (change,) = edit.document_changes
            assert isinstance(change, types.TextDocumentEdit) and change.text_document.version == self.version
            edits = [each for each in change.edits if isinstance(each, types.TextEdit)]
        else:
            edits = [*(edit.changes or {})[self.uri]]
        text = self.text
        for each in reversed(edits):
            start, end = self.span(each.range)
            text = text[:start] + each.new_text + text[end:]
        return text


def _converter() -> Any:
    """lsprotocol's, which takes an action that has a command for a command."""
    converter = default_converter()  # type: ignore[no-untyped-call]

    def structure(given: Any, _: Any) -> Any:
        kind = types.Command if isinstance(given.get("command"), str) else types.CodeAction
        return converter.structure(given, kind)

    converter.register_structure_hook(Union[types.Command, types.CodeAction], structure)  # noqa: UP007
    return converter


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME", "OMP_NUM_THREADS") if name in os.environ} | {
        "PYTHONPATH": str(Path(__file__).parents[2])
    }


@pytest.fixture(scope="module")
def folder(make_model: Any, tokens: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = live_server.save(make_model, tokens, tmp_path_factory.mktemp("lively"))
    export(folder)  # so that the processes of the editors need no torch
    return folder


@pytest.fixture(scope="module")
def corrector(folder: Path) -> Corrector:
    return Corrector.load(folder, threads=1)


@pytest.fixture(scope="module")
def editors(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Editor]]:
    with ExitStack() as closing:
        editors = {}
        for profile in PROFILES:
            editors[profile] = Editor(profile, folder, tmp_path_factory.mktemp(profile))
            assert editors[profile].encoding == PROFILES[profile]
            closing.callback(editors[profile].close)
        yield editors


@pytest.fixture(params=PROFILES)
def editor(editors: dict[str, Editor], request: pytest.FixtureRequest) -> Iterator[Editor]:
    editor = editors[request.param]
    yield editor
    editor.shut()


def named(corrector: Corrector, text: str) -> list[Edit]:
    return explain(text, corrector.correct(text).edits)


def shown(edits: list[Edit]) -> list[tuple[str, str]]:
    return [(rule_id(edit), describe(edit)) for edit in edits]


def heard(found: list[types.Diagnostic]) -> list[tuple[Any, str]]:
    return [(each.code, each.message) for each in found]


def test_the_same_as_the_corrector_in_the_units_of_the_editor(editor: Editor, corrector: Corrector) -> None:
    found, edits = editor.open(PROSE), named(corrector, PROSE)
    assert heard(found) == shown(edits) and len(found) >= 4
    for each, edit in zip(found, edits, strict=True):
        start, end = editor.span(each.range)
        assert start <= edit.start <= edit.end <= end and start < end
        assert each.source == "edit-gec" and each.severity == types.DiagnosticSeverity.Information


def test_rules_and_messages_are_those_of_http_and_sarif(editors: dict[str, Editor], corrector: Corrector) -> None:
    editor, edits = editors["neovim"], named(corrector, PROSE)
    found = heard(editor.open(PROSE))
    matches = languagetool.build_matches(languagetool.parse_request({"text": PROSE, "language": "en"}), edits, [])
    results = sarif("1", [("a.md", PROSE, edits, [])])["runs"][0]["results"]
    assert [match["rule"]["id"] for match in matches] == [rule for rule, _ in found]
    assert all(  # HTTP says why, too
        match["message"].startswith(message) for match, (_, message) in zip(matches, found, strict=True)
    )
    assert [(result["ruleId"], result["message"]["text"]) for result in results] == found
    editor.shut()


def test_quick_fixes_one_by_one_make_the_correction(editor: Editor, corrector: Corrector) -> None:
    found = editor.open(PROSE)
    for each in reversed(found):
        fixes = [a for a in editor.actions(each.range, [types.CodeActionKind.QuickFix]) if a.edit]
        (fix,) = [a for a in fixes if a.diagnostics and a.diagnostics[0].range == each.range]
        assert fix.is_preferred and fix.kind == types.CodeActionKind.QuickFix
        start, end = editor.span(each.range)
        corrected = editor.applied(fix.edit)
        editor.change(start, end, corrected[start : len(corrected) - (len(editor.text) - end)])
        assert editor.text == corrected
    assert editor.text == corrector.correct(PROSE).corrected


def test_fix_all_corrects_what_is_sure_enough(editor: Editor, corrector: Corrector) -> None:
    editor.open(PROSE)
    document = editor.range(0, 0)
    edits = corrector.correct(PROSE).edits
    for least in sorted({edit.confidence for edit in edits}):
        editor.configure({"fixAllConfidence": least})
        for only in (["source.fixAll"], ["source"], ["source.fixAll.edit-gec"]):
            (action,) = editor.actions(document, only)
            sure = [edit for edit in edits if edit.confidence >= least]
            assert action.kind == "source.fixAll.edit-gec" and editor.applied(action.edit) == apply(PROSE, sure)
    editor.configure({"fixAllConfidence": 1})
    assert not editor.actions(document, ["source.fixAll"])
    assert not editor.actions(document, ["refactor"])


def test_fixes_and_hovers_fit_while_somebody_types(editor: Editor) -> None:
    """Before anything is checked again, what is known has moved along with the text."""
    last = editor.open(PROSE)[-1]
    start, end = editor.span(last.range)
    word = PROSE[start:end]
    editor.change(0, 0, "🏠 New\r\nlines. ")
    editor.change(5, 6, "")
    start, end = start + len(editor.text) - len(PROSE), end + len(editor.text) - len(PROSE)
    assert editor.text[start:end] == word
    place = editor.range(start, end)
    (fix,) = [a for a in editor.actions(place, ["quickfix"]) if a.edit and a.diagnostics[0].range == place]  # type: ignore[index]
    assert fix.diagnostics and fix.diagnostics[0].message == last.message
    assert editor.applied(fix.edit).startswith(editor.text[:start])
    hover = editor.hover(place.start)
    assert hover is not None and hover.range == place
    editor.change(start, end, word + "xyz")  # what is touched is gone
    assert not [a for a in editor.actions(editor.range(start, start + 1), ["quickfix"]) if a.edit]


def test_typing_ends_with_what_a_fresh_look_finds(editor: Editor, corrector: Corrector) -> None:
    editor.open(PROSE)
    editor.history.clear()
    for place, new in ((3, " 🏠"), (0, "It go .\r\n\r\n"), (len(PROSE), " We was here , too"), (9, "\n"), (2, "")) * 4:
        editor.change(place, place + 1, new)
    assert heard(editor.diagnostics()) == shown(named(corrector, editor.text))
    assert [params.version for params in editor.history] == sorted(params.version or 0 for params in editor.history)
    assert len(editor.history) < 20, "a change cancels the check before it"


def test_hovers_say_what_and_how_sure(editor: Editor, corrector: Corrector) -> None:
    found = editor.open(PROSE)
    for each, edit in zip(found, named(corrector, PROSE), strict=True):
        hover = editor.hover(each.range.start)
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        for part in (str(edit.type), f"{edit.confidence:.0%} sure", "proposed by edit5"):
            assert part in hover.contents.value
        paragraphs = hover.contents.value.split("\n\n")
        assert len(paragraphs) == (3 if edit.reason else 2)
        assert edit.reason is None or paragraphs[1].replace("\\", "") == edit.reason
        assert hover.contents.kind == types.MarkupKind.Markdown
    ranges = [each.range for each in found]
    free = next(n for n in range(len(PROSE)) if not any(a <= n <= b for a, b in map(editor.span, ranges)))
    assert editor.hover(editor.range(free, free).start) is None


def sentences() -> Iterator[str]:
    """Pairs of sentences to look for the right edits in: with a random model nobody knows what they are."""
    prose = [each for each in re.split(r"(?<=\.)\s+", PROSE_FILE.read_text()) if each.endswith(".")]
    yield from map(" ".join, pairwise(prose))


def one_word(edits: Sequence[Edit]) -> bool:
    """Is there an edit of one word's spelling that no other touches?"""
    return any(
        re.fullmatch(r"[A-Za-z]+", edit.original)
        and edit.kind == "spelling"
        and all(other is edit or other.end + 25 < edit.start or edit.end + 25 < other.start for other in edits)
        for edit in edits
    )


@pytest.mark.slow
def test_ignored_corrections_and_words_are_remembered(folder: Path, tmp_path: Path, corrector: Corrector) -> None:
    words = tmp_path / "words.txt"
    (tmp_path / "pyproject.toml").write_text("[tool.edit-gec]\ndictionary = 'words.txt'\nmin-confidence = 0.0\n")
    words.write_text("kubectl\n")
    editor = Editor("visual_studio_code", folder, tmp_path)
    text = next(text for text in sentences() if one_word(corrector.correct(text).edits))
    found = editor.open(text)
    fixes = {n: editor.actions(each.range, ["quickfix"]) for n, each in enumerate(found)}
    place = next(n for n, actions in fixes.items() if [bool(each.command) for each in actions] == [False, *[True] * 3])
    _, ignore, own, project = (action.command for action in fixes[place])
    others = [each for each in heard(found) if each != heard(found)[place]]
    assert heard(editor.republished(ignore)) == others
    assert own and own.arguments and project
    word = own.arguments[0]
    editor.republished(own)
    kept = heard(editor.republished(project))
    assert set(kept) <= set(others)
    assert words.read_text() == f"kubectl\n{word}\n"
    home = tmp_path / "home" / "edit-gec"
    assert (home / "dictionary.txt").read_text() == f"{word}\n"
    assert str(word) not in (home / "ignored.txt").read_text()
    editor.close()
    again = Editor("emacs", folder, tmp_path)
    added = shown(named(corrector, "Here it is."))
    assert set(heard(again.open("Here it is.\n\n" + text))) <= {*kept, *added}
    again.close()


@pytest.mark.slow
def test_settings_of_the_editor_and_of_the_project(folder: Path, tmp_path: Path) -> None:
    sure = Corrector.load(folder, threads=1, min_confidence=0.3)
    project = tmp_path / "pyproject.toml"
    project.write_text("[tool.edit-gec]\nmin-confidence = 0.3\n")
    editor = Editor("visual_studio_code", folder, tmp_path)
    assert heard(editor.open(PROSE)) == shown(named(sure, PROSE))
    editor.configure({"minConfidence": 0.0, "severity": "hint"})
    found = editor.published[editor.uri].diagnostics
    assert len(found) > len(sure.correct(PROSE).edits)
    assert {each.severity for each in found} == {types.DiagnosticSeverity.Hint}
    editor.configure({"severity": "loud"}, checked=False)
    project.write_text("[tool.edit-gec]\nwords = 3\n")
    editor.change(0, 0, "So ")
    assert editor.diagnostics()
    complaints = [message.message for message in editor.client.messages]
    assert [each.split(":")[0] for each in complaints] == ["edit-gec"] * 2
    assert "edit-gec.severity must be one of" in complaints[0] and "no setting 'words'" in complaints[1]
    editor.close()


def test_a_long_document_is_shown_paragraph_by_paragraph(
    folder: Path, tmp_path: Path, corrector: Corrector, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n\n".join(f"{PROSE} Number {n}." for n in range(6))
    shows: list[list[types.Diagnostic]] = []
    monkeypatch.setattr("edit_gec.lsp.server.PUBLISH_S", 0.0)
    monkeypatch.setattr(Server, "text_document_publish_diagnostics", lambda _, params: shows.append(params.diagnostics))

    async def session() -> None:
        server = Server(
            lambda: corrector,
            UserDictionary(Projects(own=WatchedLineFile(tmp_path / "dictionary.txt"))),
            Options(hints=False),
        )
        server.load_corrector()
        document = Document((tmp_path / "a.md").as_uri(), text, 1, "markdown")
        server.schedule(document, 0)
        await server.checks[document.uri]
        assert server.corrector is not None
        await server.corrector.result().close()

    asyncio.run(session())
    counts = [len(each) for each in shows]
    assert len(counts) == 6 and counts == sorted(set(counts))
    assert heard([*shows[-1]]) == shown(named(corrector, text))


@pytest.mark.parametrize(
    ("language", "name", "text", "checked"),
    [
        ("python", "a.py", "x = 1  # She go home becuase of it.\ny = 'She go home.'\n", 1),
        ("latex", "a.tex", "\\label{go}\nShe go home becuase of it.\n% She go. cite\n", 1),
        ("mail", "a.eml", "To: She go home\n\nShe go home becuase of it.\n> She go home.\n", 1),
        ("subtitles", "a.srt", "00:01.000 --> 00:02.000\nShe go home\nbecuase of it.\n", 1),
        ("restructuredtext", "a.rst", "She go home becuase of it.\n\n::\n\n    She go cite.\n", 1),
        ("gitcommit", "COMMIT_EDITMSG", "She go home becuase of it.\n# She go home becuase of it.\n", 1),
        ("json", "a.json", '{"She go home": "becuase of it"}', 0),
        ("no-such-language", "a.xyz", "She go home becuase of it.", 0),
        ("plaintext", "a.txt", "Das Haus, das wir gesehen haben, ist nicht das auf der Karte.", 0),
    ],
)
def test_only_prose_is_checked(editors: dict[str, Editor], language: str, name: str, text: str, checked: int) -> None:
    editor = editors["visual_studio_code"]
    found = editor.open(text, language, name)
    assert bool(found) == bool(checked)
    for each in found:
        start, end = editor.span(each.range)
        assert "'" not in text[start:end] and "cite" not in text[start:end] and "#" not in text[start:end]
    editor.shut()
    assert editor.published.get(editor.uri) is None


@pytest.mark.parametrize(("goodbye", "status"), [(True, 0), (False, 1)])
def test_the_editor_leaves(goodbye: bool, status: int) -> None:
    said: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        *([{"id": 2, "method": "shutdown"}] if goodbye else []),
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **each}).encode() for each in said]
    stream = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    left = subprocess.run([sys.executable, "-m", "edit_gec", "lsp"], input=stream, capture_output=True, timeout=120)
    assert left.returncode == status


def test_what_the_command_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lsp", "--model", "no-such-model"]) == 2
    assert capsys.readouterr().err.startswith("edit-gec: model 'no-such-model': neither")
    with pytest.raises(SystemExit):
        main(["lsp", "--fix-all-confidence", "2"])
