"""Lines, characters and changes of documents in every unit; the options and words of the editor's user."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law, nasty

pytest.importorskip("pygls")
from lsprotocol import types
from pygls.workspace import PositionCodec

from edit_gec.config.projects import Projects
from edit_gec.config.settings import Settings
from edit_gec.config.user_words import WatchedLineFile
from edit_gec.errors import InputError
from edit_gec.lsp.documents import Document, Mark
from edit_gec.lsp.options import Options
from edit_gec.lsp.positions import LineIndex
from edit_gec.lsp.user_dictionary import UserDictionary
from edit_gec.text.edits import Edit


@law
@given(text=nasty, encoding=st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_positions_there_and_back(text: str, encoding: str) -> None:
    lines = LineIndex(text, encoding)
    for at in range(len(text) + 1):
        line, character = lines.position(at)
        if not (0 < at < len(text) and text[at - 1 : at + 1] == "\r\n"):  # inside a line's end is at its beginning
            assert lines.offset(line, character) == at
        assert lines.offset(line, 10_000) == lines.ends[line]
    assert lines.offset(10_000, 0) == len(text)
    assert "".join(text[a:b] for a, b in zip(lines.starts, [*lines.starts[1:], len(text)], strict=True)) == text


@law
@given(
    texts=st.lists(nasty, min_size=1, max_size=4),
    encoding=st.sampled_from(list(types.PositionEncodingKind)),
    data=st.data(),
)
def test_documents_follow_their_changes(
    texts: list[str], encoding: types.PositionEncodingKind, data: st.DataObject
) -> None:
    """Whole or in part; what is marked and was not touched holds the same text as before."""
    text = texts[0] + "She go home."
    document = Document("file:///a.md", text, 1, "markdown", position_codec=PositionCodec(encoding))
    document.marks = (Mark(len(texts[0]) + 4, len(texts[0]) + 6, "goes", Edit(4, 6, "go", "goes", 1.0), "key"),)
    for new in texts[1:]:
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        lines = LineIndex(text, encoding.value)
        if "\r\n" in (text[start - 1 : start + 1], text[end - 1 : end + 1]):  # no editor puts a cursor there
            start = end = len(text)
        whole = data.draw(st.booleans())
        where = types.Range(types.Position(*lines.position(start)), types.Position(*lines.position(end)))
        text = text[:start] + new + text[end:]
        if whole:
            document.apply_change(types.TextDocumentContentChangeWholeDocument(text))
        else:
            document.apply_change(types.TextDocumentContentChangePartial(where, new))
        assert document.source == text
        assert all(text[mark.start : mark.end] == "go" for mark in document.marks)


@pytest.mark.parametrize(
    ("given_options", "complaint"),
    [
        ({"minConfidence": 2}, "minConfidence must be a number from 0 to 1, not 2"),
        ({"fixAllConfidence": True}, "fixAllConfidence must be a number"),
        ({"strictness": "loud"}, "strictness must be one of sure, low, default, high"),
        ({"strictness": "high", "minConfidence": 0.5}, "expected one, both say"),
        ({"severity": "loud"}, "severity must be one of error, warning, information, hint"),
        ({"comments": 1}, "comments must be true or false"),
        ({"dictionary": "kubectl"}, "dictionary must be a list of words"),
    ],
)
def test_wrong_options_are_one_line(given_options: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Options().with_settings(given_options)
    assert Options().with_settings(None) == Options() == Options().with_settings({"somebody": "else's"})


def test_words_go_to_the_user_or_to_a_project_that_has_a_file_for_them(tmp_path: Path) -> None:
    memory = UserDictionary(Projects(own=WatchedLineFile(tmp_path / "own.txt")))
    (tmp_path / "edit-gec.toml").write_text('dictionary = "words.txt"\n')
    (tmp_path / "words.txt").write_text("Grafana\n")
    path = str(tmp_path / "a.md")
    memory.add_word("Kubectl", None)
    memory.add_word("Zürich", memory.projects.find_settings(path))
    assert (tmp_path / "words.txt").read_text(encoding="utf-8") == "Grafana\nZürich\n"
    assert set(memory.projects.find_settings(path).dictionary) == {"Kubectl", "Grafana", "Zürich"}
    with pytest.raises(InputError, match=r"set dictionary = 'words\.txt'"):
        memory.add_word("x", Settings())
