"""Corpora: formats in and out, units, sentences corrected once, how a job is described and goes on."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.corpus_cli import PROSE, corpus, parts, read, rows, set_aside, summary, write_jsonl
from support.correctors import verified_by
from support.strategies import brief, nasty, thorough
from support.tiny_t5 import pairs, trained_target

from edit_gec.corpus import lines
from edit_gec.corpus.edit_column import revert_edits
from edit_gec.corpus.partition import make_plan
from edit_gec.corpus.records import Columns, Format, Unit
from edit_gec.corrector import Corrector
from edit_gec.errors import InputError
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.runtime.dedup import DeduplicatingCorrector
from edit_gec.speculative.verifier import Verifier
from edit_gec.text.correction import Correction
from edit_gec.text.edits import Edit, apply
from edit_gec.text.sentences import split

COLUMNS = Columns()
NAMES = ("offset", "length", "original", "replacement", "type", "confidence", "provenance")


# ---------------------------------------------------------------- every format


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> tuple[Path, Path]:
    """Rows in every format, and what the command made of them, several units each."""
    import datasets

    source, output = tmp_path_factory.mktemp("in"), tmp_path_factory.mktemp("made") / "out"
    values = rows(60)
    write_jsonl(source / "json/a.jsonl", values)
    (source / "zip").mkdir()
    (source / "zip/b.jsonl.gz").write_bytes(gzip.compress((source / "json/a.jsonl").read_bytes()))
    (source / "c.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(row["text"] for row in values).encode())
    with (source / "d.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["id", "text", "note"], *([row["id"], row["text"], 'a "b",\nc'] for row in values)])
    table = pyarrow.table(
        {
            "text": pyarrow.array([row["text"] for row in values]).dictionary_encode(),
            "when": pyarrow.array([n * 10**9 for n in range(60)], pyarrow.timestamp("ns")),
            "deep": [{"a": [n, None]} for n in range(60)],
        }
    )
    pyarrow.parquet.write_table(table, source / "e.parquet", row_group_size=25)
    features = datasets.Features(
        {"text": datasets.Value("large_string"), "label": datasets.ClassLabel(names=["x", "y"])}
    )
    saved = datasets.Dataset.from_dict({"text": [row["text"] for row in values], "label": [0, 1] * 30}, features)
    datasets.DatasetDict({"train": saved, "test": saved.select([5, 3])}).save_to_disk(str(source / "saved"))
    corpus(source, output, "--model", model_folder, "--no-types", "--unit-size", 1500, "--hourly-cost", 2)
    return source, output


@pytest.mark.slow
def test_rows_come_out_as_they_were_with_reversible_edits(formats: tuple[Path, Path], model_folder: Path) -> None:
    _, output = formats
    found = list(read(output))
    assert len(found) == 6 * 60 + 2 and not set_aside(output)
    corrector = Corrector.load(model_folder, threads=1)
    wanted = {c.text: c for c in corrector.correct_batch(sorted({row["text"] for row in found}))}
    for row in found:
        correction = wanted[row["text"]]
        assert row["corrected"] == correction.corrected and revert_edits(row["corrected"], row["edits"]) == row["text"]
        assert [tuple(edit[name] for name in NAMES) for edit in row["edits"]] == [
            (e.start, e.end - e.start, e.original, e.replacement, None, e.confidence, e.provenance)
            for e in correction.edits
        ]
    assert sum(bool(row["edits"]) for row in found) > 100


@pytest.mark.slow
def test_texts_are_read_as_their_format(tmp_path: Path, model_folder: Path) -> None:
    texts = [f"x = 1  # {row['text']}\ny = {row['text']!r}\n" for row in rows(20)]
    write_jsonl(tmp_path / "a.jsonl", [{"text": text} for text in texts])
    options = ("--model", model_folder, "--no-types", "--workers", 1, "--quiet")
    corpus(tmp_path / "a.jsonl", tmp_path / "out", "--read-as", "python", *options)
    corrector = Corrector.load(model_folder, threads=1)
    wanted = corrector.correct_batch(texts, formats=["python"] * len(texts))
    assert [row["corrected"] for row in read(tmp_path / "out")] == [each.corrected for each in wanted]
    assert any(each.edits for each in wanted)
    assert "format 'klingon': expected one of" in corpus(
        tmp_path / "a.jsonl", tmp_path / "other", "--read-as", "klingon", *options, status=2
    )


@pytest.mark.slow
def test_texts_of_several_lines_stay_one_row_of_csv(tmp_path: Path, model_folder: Path) -> None:
    texts = ["Dear Ann,\nsee you soon.", "one\r\ntwo", "a\rb", "plain"]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "text"], *([n, text] for n, text in enumerate(texts))])
    corpus(tmp_path / "a.csv", tmp_path / "out", "--model", model_folder, "--no-types", "--workers", 1, "--quiet")
    (part,) = parts(tmp_path / "out")
    with part.open(newline="", encoding="utf-8") as file:
        header, *found = csv.reader(file)
    assert header == ["id", "text", "corrected", "edits"] and [row[1] for row in found] == texts
    for _, text, corrected, edits in found:
        assert revert_edits(corrected, json.loads(edits)) == text


@pytest.mark.slow
def test_what_is_not_corrected_is_copied(formats: tuple[Path, Path]) -> None:
    source, output = formats
    names = [path.relative_to(output).as_posix() for path in parts(output)]
    kinds = Counter(name.rpartition("-")[0] for name in names)
    assert set(kinds) == {"json/a", "zip/b", "c.txt", "d", "e", "saved/train", "saved/test"}
    assert all(count > 1 for kind, count in kinds.items() if kind not in ("zip/b", "saved/test"))
    lines_in = (source / "json/a.jsonl").read_text().splitlines()
    lines_out = "".join(path.read_text() for path in sorted((output / "json").iterdir())).splitlines()
    assert all(new.startswith(old[:-1] + ", ") for old, new in zip(lines_in, lines_out, strict=True))
    csv_out = b"".join(path.read_bytes().partition(b"\n")[2] for path in sorted(output.glob("d-*")))
    csv_in = list(csv.reader(io.StringIO((source / "d.csv").read_text(), newline="")))
    assert [row[:3] for row in csv.reader(io.StringIO(csv_out.decode(), newline=""))] == csv_in[1:]
    table = pyarrow.concat_tables(map(pyarrow.parquet.read_table, sorted(output.glob("e-*"))))
    assert (
        table.drop_columns(["corrected", "edits"]).to_pylist()
        == pyarrow.parquet.read_table(source / "e.parquet").to_pylist()
    )
    assert table.schema.field("when").type == pyarrow.timestamp("ns")


@pytest.mark.slow
def test_data_sets_read_what_was_written(formats: tuple[Path, Path], tmp_path: Path) -> None:
    """Features are kept, and the job's own folder is not taken for data."""
    import datasets

    _, output = formats
    saved = datasets.load_dataset("parquet", data_dir=str(output / "saved"), cache_dir=str(tmp_path))
    assert {name: len(data) for name, data in saved.items()} == {"train": 60, "test": 2}
    assert saved["train"].features["label"].names == ["x", "y"] and saved["train"].features["edits"].feature["offset"]
    lines_only = datasets.load_dataset(str(output / "json"), cache_dir=str(tmp_path))
    assert len(lines_only["train"]) == 60


@pytest.mark.slow
def test_the_summary(formats: tuple[Path, Path], model_folder: Path) -> None:
    source, output = formats
    found, counts = list(read(output)), summary(output)
    assert (counts["rows"], counts["written"], counts["set_aside"]) == (362, 362, {})
    assert counts["edits"] == sum(len(row["edits"]) for row in found) == sum(counts["types"].values())
    assert "unknown" not in counts["types"]  # kinds stand for types that nobody asked for
    assert counts["edited_rows"] == sum(bool(row["edits"]) for row in found)
    assert counts["characters"] == sum(len(row["text"]) for row in found)
    assert counts["sentences_inferred"] < counts["sentences"] / 5  # the same texts in six files
    assert counts["cost_per_million_sentences"] == pytest.approx(2 * counts["hours_per_million_sentences"], abs=0.01)
    again = ("--model", model_folder, "--no-types")
    assert "unit_size was 1500, now 2000000" in corpus(source, output, *again, status=2)
    assert "362 rows written" in corpus(source, output, *again, "--unit-size", 1500)
    (source / "c.txt").write_text("other")
    assert "c.txt: changed since this job began" in corpus(source, output, *again, "--unit-size", 1500, status=2)


@pytest.mark.slow
def test_a_data_set_that_is_streamed_with_types_and_the_shipped_model(tmp_path: Path) -> None:
    """`hub:` reads a local folder as it reads the hub; types are ERRANT's."""
    values = [{"body": f"She go home on day {n}. I like teh garden."} for n in range(6)]
    write_jsonl(tmp_path / "set" / "train.jsonl", values)
    said = corpus(f"hub:{tmp_path / 'set'}", tmp_path / "out", "--column", "body", "--corrected", "better")
    found = list(read(tmp_path / "out"))
    assert [row["body"] for row in found] == [row["body"] for row in values]
    assert {edit["type"] for row in found for edit in row["edits"]} >= {"R:SPELL"}
    assert "R:SPELL 6" in said and summary(tmp_path / "out")["types"]["R:SPELL"] == 6
    assert all("the garden" in row["better"] for row in found)


# ---------------------------------------------------------------- units


def units(kind: str, path: Path, size: int) -> list[Unit]:
    cuts = lines.cut(Format(kind), str(path), size, COLUMNS)
    return [
        Unit(n, Format(kind), str(path), f"{n}", start, stop, group, weight)
        for n, (start, stop, weight, group) in enumerate(cuts)
    ]


fields = st.text("ab\n\r\",'; é\x00", max_size=8)


@thorough
@given(st.lists(st.tuples(fields, fields), max_size=12), st.sampled_from(["\n", "\r\n"]), st.integers(1, 60))
def test_csv_is_cut_between_rows(tmp_path_factory: pytest.TempPathFactory, values: Any, end: str, size: int) -> None:
    """However small the units: each row of csv.reader once, in order."""
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([("text", "b"), *values])
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(written.getvalue().encode())
    found = [chunk for unit in units("csv", path, size) for chunk in lines.read(unit, COLUMNS)]
    assert [text for chunk in found for text in chunk.texts] == [first for first, _ in values]
    assert (
        b"".join(row for chunk in found for row in chunk.rows) == written.getvalue().encode().partition(end.encode())[2]
    )
    assert not any(chunk.bad for chunk in found)


@thorough
@given(st.binary(max_size=300), st.integers(1, 60), st.sampled_from(["text", "jsonl", "csv"]))
def test_no_byte_is_lost_whatever_the_file_holds(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int, kind: str
) -> None:
    """Units tile the file, and one by one they give what the file gives as a whole: good rows and bad."""
    head = {"csv": b"text,n\n", "text": b"a", "jsonl": b'{"text": "a"}\n'}[kind]
    path = tmp_path_factory.mktemp("any") / "a"
    path.write_bytes(head + data)
    cuts = units(kind, path, size)
    assert all(before.stop == after.start for before, after in pairwise(cuts))
    assert not cuts or cuts[-1].stop == len(head + data)
    whole = [Unit(0, Format(kind), str(path), "0", cuts[0].start, len(head + data))] if cuts else []

    def everything(some: list[Unit]) -> list[Any]:
        chunks = [chunk for unit in some for chunk in lines.read(unit, COLUMNS)]
        return [[c.rows for c in chunks if c.rows], [c.texts for c in chunks], [b[1:] for c in chunks for b in c.bad]]

    for one, other in zip(everything(whole), everything(cuts), strict=True):
        assert flat(one) == flat(other)


def flat(value: Any) -> list[Any]:
    return [item for each in value for item in (each if isinstance(each, list) else [each])]


def test_a_quote_that_is_never_closed_costs_one_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,n\nShe go,1\n"He go,2\nWe goes,3\n"They, goes",4\nIt go\n')
    chunks = [chunk for unit in units("csv", path, 10**6) for chunk in lines.read(unit, COLUMNS)]
    (chunk,) = chunks
    assert chunk.texts == ["She go", "We goes", "They, goes"]
    assert [(bad.row, bad.reason.partition(":")[0]) for bad in chunk.bad] == [
        (1, "not CSV"),
        (4, "wrong number of fields"),
    ]


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_ROW_BYTES", 100)
    for kind, head in (("jsonl", b""), ("csv", b"text\n"), ("text", b"")):
        path = tmp_path / f"a.{kind}"
        good = b'{"text": "a"}\n' if kind == "jsonl" else b"a\n"
        path.write_bytes(head + good + b"x" * 5000 + b"\n" + good)
        found = [chunk for unit in units(kind, path, 10) for chunk in lines.read(unit, COLUMNS)]
        assert [text for chunk in found for text in chunk.texts] == ["a", "a"]
        assert [bad.reason for chunk in found for bad in chunk.bad] == ["too long: 5,001 bytes, at most 100 are read"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.json", b'[{"text": "a"}]', "a JSON array"),
        ("a.csv", b"", "no header"),
        ("a.csv", b"words\nShe go\n", "no column 'text' among words"),
        ("a.csv", b"text,edits\nShe go,\n", "has a column 'edits' already"),
        ("a.txt", "She go".encode("utf-16"), "UTF-16"),
        ("a.jsonl.gz", b"{}", "Not a gzipped file"),
        ("a.parquet", b"PAR1", "not readable as Parquet"),
        ("a.doc", b"She go", "not known"),
        ("a.txt", b"", "no rows to correct"),
    ],
)
def test_inputs_that_cannot_be(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=reason):
        make_plan(str(tmp_path / name), COLUMNS, 1000)


def test_parts_with_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "a.JSONL").write_text('{"text": "a"}\n')
    (tmp_path / "b.txt").write_text("a\n")
    (tmp_path / "b.txt.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(InputError, match=r"both become b\.txt-000000\.jsonl"):
        make_plan(str(tmp_path), COLUMNS, 1000)


def test_a_column_that_no_row_has(tmp_path: Path, model_folder: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", rows(3))
    said = corpus(source, tmp_path / "out", "--column", "txet", "--model", model_folder, "--no-types", status=2)
    assert "3 rows set aside: no column 'txet'" in said and "a million sentences" not in said


def test_an_output_folder_of_somebody_else(tmp_path: Path, model_folder: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", rows(1))
    said = corpus(source, tmp_path, "--model", model_folder, "--no-types", status=2)
    assert "not empty, and not a job of edit-gec" in said


# ---------------------------------------------------------------- sentences once


@pytest.fixture(scope="module")
def corrector(model_folder: Path) -> Corrector:
    return Corrector.load(model_folder, threads=1)


@brief
@given(st.lists(nasty | st.sampled_from(PROSE), max_size=6), st.integers(1, 5))
def test_once_is_correct_batch(corrector: Corrector, texts: list[str], remember: int) -> None:
    once = DeduplicatingCorrector(corrector, remember)
    expected = [shape(correction) for correction in corrector.correct_batch(texts)]
    for _ in range(2):
        assert [shape(correction) for correction in once.correct(texts)] == expected
    assert [shape(correction) for correction in once.correct(texts[::-1] * 2)] == expected[::-1] * 2
    assert once.known.size <= remember


def test_once_with_a_target(model_folder: Path, tokens: Tokens) -> None:
    corrector = Corrector.load(model_folder, threads=1, backend="torch")
    corrector = verified_by(corrector, Verifier(trained_target(tokens)))
    texts = [f"{one} {other}" for (one, _), (other, _) in zip(pairs(12, seed=8), pairs(12, seed=9), strict=True)]
    wanted = corrector.correct_batch(texts)
    asked = corrector.predictor.summary()
    assert asked is not None
    once = DeduplicatingCorrector(corrector)
    once.take_counts()
    for _ in range(2):
        assert [shape(correction) for correction in once.correct(texts)] == [shape(each) for each in wanted]
    assert any(correction.edits for correction in wanted)
    assert any(correction.refused for correction in wanted)
    counts = once.take_counts()
    assert counts["verified"] == asked["sentences"] > 0


def shape(correction: Correction) -> list[object]:
    """Edits and refusals without the last digits of their confidence, which may depend on the batch."""
    both = (correction.edits, correction.refused)
    return [[(edit.start, edit.end, edit.replacement, edit.provenance) for edit in edits] for edits in both]


def test_a_sentence_is_read_once(corrector: Corrector) -> None:
    first, second, *_ = (line for line in PROSE if corrector.correct(line).edits and len(split(line)) == 1)
    once = DeduplicatingCorrector(corrector)
    corrections = once.correct([f"{first} {second}"] * 50 + [f"{first} {second} {first} {second}"])
    assert once.take_counts() == {"sentences": 104, "inferred": 2}
    assert corrections[0].edits and len({correction.corrected for correction in corrections[:50]}) == 1
    once.correct([f"{second} {first}"])
    assert once.take_counts() == {"sentences": 2, "inferred": 0}


@thorough
@given(st.text("ab c", max_size=20), st.data())
def test_edits_go_back(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6, unique=True)))
    spans = zip(places[::2], places[1::2], strict=False)
    edits = [Edit(a, b, text[a:b], data.draw(st.text("xyz", max_size=3)), 1.0) for a, b in spans]
    columns = [
        {"offset": e.start, "length": e.end - e.start, "original": e.original, "replacement": e.replacement}
        for e in edits
    ]
    assert revert_edits(apply(text, edits), columns) == text


@pytest.mark.slow
def test_settings_hold_for_corpora(tmp_path: Path, model_folder: Path) -> None:
    """Words, kinds and patterns are left alone, and a job goes on only with the same ones."""
    write_jsonl(tmp_path / "in" / "a.jsonl", [{"text": row["text"]} for row in rows(20)])
    options = ("--model", model_folder, "--no-types", "--workers", 1, "--quiet")
    corpus(tmp_path / "in", tmp_path / "all", *options)
    edits = [edit for row in read(tmp_path / "all") for edit in row["edits"]]
    word = next(found[0] for edit in edits if (found := re.search(r"[A-Za-z]{2,}", edit["original"])))
    (tmp_path / "in" / "edit-gec.toml").write_text(f"dictionary = ['{word}']\nignore-regex = ['[A-Z]']\n")
    corpus(tmp_path / "in", tmp_path / "some", *options, "--ignore", "punctuation,insertion")
    left = list(read(tmp_path / "some"))
    assert all(revert_edits(row["corrected"], row["edits"]) == row["text"] for row in left)
    kept = [edit for row in left for edit in row["edits"]]
    assert kept and all(edit in edits for edit in kept) and len(kept) < len(edits)
    for edit in kept:
        assert edit["original"].strip() and not re.search("[A-Z]", edit["original"])
        assert word.casefold() not in re.findall(r"\w+", edit["original"].casefold())
    assert "ignore was" in corpus(tmp_path / "in", tmp_path / "some", *options, status=2)
