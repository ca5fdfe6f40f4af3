"""Documents: what is prose in each format, the kinds of edits, and the counts of a system."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.documents import compare_folders, format_table, read_documents, score_documents, to_data
from edit_gec.lab.evaluation.edit_kinds import AlarmKind, TextEdit, classify_edit, find_edits
from edit_gec.lab.evaluation.prose_mask import FORMATS, mask_markup
from edit_gec.lab.evaluation.systems import ScoredSystem

SAMPLES = Path(__file__).parents[3] / "data" / "samples" / "documents"
DOCUMENTS = {document.path: document for document in read_documents(SAMPLES)}
SED = "sed s/teh/the/ {in} > {out}"

# What is prose in each sample, and what is not.
PROSE = {
    "guide.md": ["Every tool in the shed", "Return it clean", "the rules", "hammer |", "Lending a tool\n\nEvery"],
    "page.html": ["Opening hours", "Monday", "to see more."],
    "guide.rst": ["Put the tool on the shelf", "A broken tool goes", "for the other way, or call"],
    "notes.adoc": ["Ask for help before", "Order a part", "to list them", "the safety rules"],
    "plan.org": ["Paint the door", "The door needs two coats of", "the shop"],
    "report.tex": ["What we lent", "We lent 40 tools in March", "The rate was", "higher"],
    "garden.typ": ["What grows where", "Beans stand behind the", "they need a wall", "The beds in June"],
    "tour.mdx": ["A tour of the shed", "The map of", "Children must not", "Ask at the desk for a key."],
    "letter.txt": ["Dear neighbours", "The saw is still missing."],
}
MARKUP = {
    "guide.md": ["title: Lending", "lend 17", "# teh hammer", "`shed`", "](letter.txt)", "| --- |", "@example.org"],
    "page.html": ["<h1>", "color: gray", "&amp;", "shed hours</code>", "shed hours --all", "const hours"],
    "guide.rst": ["================", "_returning", "::\n\n    shed", "shed return 17", "give_back(17)", "`lending`"],
    "notes.adoc": [":toc:", "[source,sh]", "shed order motor", "`shed parts`", "xref:safety.adoc["],
    "plan.org": ["#+TITLE", "TODO", "=RAL 6005=", "paint teh door", "[[https://example.org/paint][", "#+end_src"],
    "report.tex": ["\\documentclass{article}", "\\section{", "\\cite{book}", "$n = 40$", "% teh rest", "r = n / d"],
    "garden.typ": ["#set text", "// the font", "<beds>", "@map", "`bed-7`", "$n = 12$", "the-map.png", "plant the"],
    "tour.mdx": ["title: A", "import { Map }", "<Place name", "{tools.length}", ":::note", "<Map zoom", "tour --all"],
    "letter.txt": ["inventory_list", "`shed find saw`"],
}  # fmt: skip


def test_the_samples_have_every_format() -> None:
    assert {document.format for document in DOCUMENTS.values()} == set(FORMATS) - {"subtitles", "commit"}
    assert set(PROSE) == set(MARKUP) == set(DOCUMENTS)


@pytest.mark.parametrize("path", PROSE)
def test_what_is_prose(path: str) -> None:
    document = DOCUMENTS[path]
    for phrase in PROSE[path]:
        start = document.text.index(phrase)
        letters = [i for i in range(start, start + len(phrase)) if document.text[i].isalpha()]
        assert not any(document.mask[i] for i in letters), phrase
    for phrase in MARKUP[path]:
        start = document.text.index(phrase)
        signs = [i for i in range(start, start + len(phrase)) if not document.text[i].isspace()]
        assert all(document.mask[i] for i in signs), phrase


@settings(deadline=None)
@given(st.text(alphabet="ab \n`*_[](){}<>#=-|:.\\$%~+/@\"'\t", max_size=80), st.sampled_from(FORMATS))
@example("..", "rst")
@example("::", "rst")
def test_every_text_has_a_mask(text: str, name: str) -> None:
    assert len(mask_markup(text, name)) == len(text)


@pytest.mark.parametrize("name", FORMATS)
def test_plain_words_are_prose_in_every_format(name: str) -> None:
    assert not any(mask_markup("The saw is missing, and nobody knows where it is.\n", name))


# --- edits ---------------------------------------------------------------------------------------------------------

TEXTS = st.lists(st.sampled_from(["the", "teh", "don't", " ", "  ", "\n", ".", ",", "::", "_", "é", "🙂"]), max_size=25)


@given(TEXTS, TEXTS)
def test_edits_rebuild_the_new_text(old: list[str], new: list[str]) -> None:
    before, after = "".join(old), "".join(new)
    rebuilt, done = "", 0
    for start, end, replacement in find_edits(before, after):
        assert start >= done
        rebuilt += before[done:start] + replacement
        done = end
    assert rebuilt + before[done:] == after


def kinds(before: str, after: str, name: str = "markdown") -> list[str]:
    mask = mask_markup(before, name)
    return [classify_edit(before, mask, name, edit).value for edit in find_edits(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("It is done\n", "It is done.\n", "end mark"),
        ("Run this:\n", "Run this.\n", "end mark"),
        ("- see (the list)\n", "- see (the list).\n", "end mark"),
        ("Well it is late.", "Well, it is late.", "comma"),
        ("One; two.", "One, two.", "other mark"),
        ("on monday", "on Monday", "capital"),
        ("i dont know", "i don't know", "apostrophe"),
        ("the dogs bone", "the dog's bone", "apostrophe"),
        ('He said "yes"', "He said “yes”", "apostrophe"),
        ("teh end", "the end", "spelling"),
        ("alot of tea", "a lot of tea", "spelling"),
        ("a well known man", "a well-known man", "spelling"),
        ("He go home", "He goes home", "word"),
        ("He walk home", "He walks home", "word"),
        ("the a dog", "a dog", "word"),
        ("Two  spaces", "Two spaces", "spacing"),
        ("Use `teh` now", "Use `the` now", "structure"),
        ("Use `x` now", "Use x now", "structure"),
        ("one\ntwo", "one two", "structure"),
        ("    - deep", "- deep", "structure"),
        ("*so*", "so", "structure"),
    ],
)
def test_kinds(before: str, after: str, expected: str) -> None:
    assert set(kinds(before, after)) == {expected}


def test_a_word_and_the_mark_behind_it_are_two_edits() -> None:
    assert list(find_edits("by teh,", "by the.")) == [TextEdit(3, 6, "the"), TextEdit(6, 7, ".")]
    assert kinds("It is teh", "It is the.") == ["spelling", "end mark"]


# --- scores --------------------------------------------------------------------------------------------------------


def test_a_system_that_does_nothing() -> None:
    score = score_documents(SAMPLES, ScoredSystem("none"))
    assert not score.edits and set(score.rates().values()) == {0.0} and "damaged" not in format_table([score])


def test_damage_is_counted_and_shown() -> None:
    score = score_documents(SAMPLES, ScoredSystem(SED))
    damaged = [(e.document.path, e.line, e.kind) for e in score.edits]
    assert damaged == [
        ("guide.md", 10, AlarmKind.STRUCTURE),
        ("plan.org", 5, AlarmKind.STRUCTURE),
        ("report.tex", 5, AlarmKind.STRUCTURE),
    ]
    assert score.rates("markdown")["structure"] == pytest.approx(1000 / DOCUMENTS["guide.md"].words)
    assert score.rates("html")["all"] == 0
    shown = format_table([score])
    assert 'damaged: plan.org:5: shed task add "paint [-teh-]{+the+} door"\n' in shown
    (row,) = to_data([score])
    assert row["files"] == 9 and len(row["edits"]) == 3 and row["edits"][0]["kind"] == "structure"
    assert row["signature"].startswith("DOCUMENTS|per:1000 words|set:documents:")


def test_corrected_copies(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(SAMPLES, copy)
    letter = (copy / "letter.txt").read_text()
    (copy / "letter.txt").write_text(letter.replace("thank you", "Thank you").replace("Ada", "Ada."))
    (copy / "page.html").unlink()
    score = compare_folders(SAMPLES, copy)
    assert [e.kind for e in score.edits] == [AlarmKind.CAPITAL, AlarmKind.END_MARK] and score.not_read == 0


def test_a_model_that_edits_everywhere_damages_no_format_that_is_read(model_folder: Path) -> None:
    score = score_documents(SAMPLES, ScoredSystem("edit-gec", str(model_folder)))
    assert {"guide.md", "plan.org"} <= {e.document.path for e in score.edits}
    damaged = [f"{e.document.path}: {e.shown}" for e in score.edits if e.kind is AlarmKind.STRUCTURE]
    assert not damaged
    assert score.not_read + len(score.documents) == len(DOCUMENTS)
    assert "|sys:edit-gec+" in score.signature


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score", "--documents", str(SAMPLES), "--system", SED, "--hyp", str(SAMPLES)]
    assert main([*words, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [len(row["edits"]) for row in rows] == [0, 3]
    assert main(words) == 0
    assert capsys.readouterr().out.count("\nall") == 2
    assert main(["score", "--documents", str(tmp_path), "--system", "none"]) == 2
    assert "no documents in it" in capsys.readouterr().err


def test_a_system_that_is_unknown() -> None:
    with pytest.raises(InputError, match="expected 'edit-gec'"):
        score_documents(SAMPLES, ScoredSystem("harper"))
