"""`edit-gec score` against ERRANT's own commands, and every way in which its input can be wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("errant")
import errant
from errant.commands import compare_m2, parallel_to_m2

from edit_gec.annotation import m2
from edit_gec.annotation.errant_edits import Extractor, load_extractor
from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.lab.evaluation import errant_score
from edit_gec.lab.evaluation.datasets import read_m2_set
from edit_gec.lab.evaluation.evaluate import score_hypothesis
from edit_gec.lab.evaluation.hypotheses import read_hypothesis
from edit_gec.lab.evaluation.signature import ScoreOptions

SAMPLES = Path(__file__).parents[3] / "data" / "samples" / "score"
SOURCE, HYP, REFS = SAMPLES / "source.txt", SAMPLES / "hyp.txt", [SAMPLES / "ref0.txt", SAMPLES / "ref1.txt"]


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return load_extractor(None)


@pytest.fixture(scope="module")
def command(extractor: Extractor) -> Callable[..., None]:
    """Runs one of ERRANT's commands with our pipeline, which is the only thing that is not its own."""

    def call(main: Callable[[], None], *words: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(errant, "load", lambda lang: extractor.errant)
            patch.setattr("sys.argv", ["errant", *map(str, words)])
            main()

    return call


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory, command: Callable[..., None]) -> tuple[Path, Path]:
    """The M2 files that errant_parallel makes of the samples: hypothesis, reference."""
    folder = tmp_path_factory.mktemp("errant")
    hyp, ref = folder / "hyp.m2", folder / "ref.m2"
    command(parallel_to_m2.main, "-orig", SOURCE, "-cor", HYP, "-out", hyp)
    command(parallel_to_m2.main, "-orig", SOURCE, "-cor", *REFS, "-out", ref)
    return hyp, ref


def run(capsys: pytest.CaptureFixture[str], *words: Any) -> Any:
    capsys.readouterr()
    assert main(["score", *map(str, words), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def tokens(path: Path) -> list[list[str]]:
    return [line.split() for line in m2.read_lines(path)]


def test_edits_equal_errant_parallel(theirs: tuple[Path, Path], extractor: Extractor) -> None:
    assert m2.format_m2(extractor.to_m2(tokens(SOURCE), [tokens(HYP)])) == theirs[0].read_text()
    assert m2.format_m2(extractor.to_m2(tokens(SOURCE), [tokens(r) for r in REFS])) == theirs[1].read_text()


def test_empty_lines_as_errant_has_them(
    tmp_path: Path, command: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty output deletes all; an empty source is left out by errant_parallel, and so by us."""
    source, hyp, ref, out = (tmp_path / name for name in ("source", "hyp", "ref", "hyp.m2"))
    source.write_text("He go home .\n\nFine .\n")
    hyp.write_text("\nSomething new\nFine .\n")
    ref.write_text("He goes home .\n\nFine !\n")
    command(parallel_to_m2.main, "-orig", source, "-cor", hyp, "-out", out)
    blocks = m2.read_m2(out)
    assert [s.tokens for s in blocks] == [["He", "go", "home", "."], ["Fine", "."]]
    (data,) = run(capsys, "--source", source, "--ref", ref, "--hyp", hyp)
    assert (data["scores"]["TP"], data["scores"]["FP"], data["scores"]["FN"]) == (0, 1, 2)
    assert blocks[0].annotators[0] == load_extractor(None).extract([["He", "go", "home", "."]], [[]])[0]


@pytest.mark.filterwarnings("ignore:unclosed file", "ignore::pytest.PytestUnraisableExceptionWarning")  # theirs
@pytest.mark.parametrize("mode", list(errant_score.MODES))
@pytest.mark.parametrize("level", [1, 2, 3])
def test_tables_equal_errant_compare(
    mode: str,
    level: int,
    theirs: tuple[Path, Path],
    command: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    capsys.readouterr()
    command(compare_m2.main, "-hyp", theirs[0], "-ref", theirs[1], f"-{mode}", "-cat", level)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    wanted = {r[0]: r[1:] for r in rows if len(r) == 7 and r[1].isdigit()}
    total = next(r for r in rows if len(r) == 6 and r[0].isdigit())
    ours = errant_score.score_edits(m2.read_m2(theirs[0]), m2.read_m2(theirs[1]), mode)
    found = {k: [*map(str, (n.tp, n.fp, n.fn)), *map(str, n.prf())] for k, n in ours.at_level(level).items()}
    assert found == wanted
    assert [*map(str, (ours.total.tp, ours.total.fp, ours.total.fn)), *map(str, ours.prf)] == total
    assert len(wanted) > 2


def test_every_way_in_gives_the_same_score(
    tmp_path: Path, theirs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run(capsys, "--source", SOURCE, "--ref", *REFS, "--hyp", HYP)[0]
    gold = run(capsys, "--m2", theirs[1], "--hyp", HYP, theirs[0])
    test = read_m2_set(theirs[1])
    ours = score_hypothesis(test, read_hypothesis(test, str(HYP)), ScoreOptions())
    assert lines["scores"] == gold[0]["scores"] == gold[1]["scores"] == ours.scores
    assert lines["scores"]["TP"] > 10
    split = lines["split"]
    assert split["hit"] == lines["scores"]["TP"]
    assert split["wrong"] + split["over"] == lines["scores"]["FP"]
    assert gold[1]["against_first"]["p"] == 1.0
    assert "ref:gold" in gold[0]["signature"] and "ref:auto" in lines["signature"]


def test_raw_text_goes_out_and_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    """A system that changes nothing has no edits; one that changes a word has that edit, whatever the tokens."""
    data = run(
        capsys,
        *["--source", SOURCE, "--ref", *REFS, "--system", "none", "--system", "cat {in} > {out}"],
        *["--system", "grep -v '\\. *$' {in} > /dev/null; sed \"s/don't/doesn't/\" {in} > {out}"],
    )
    assert data[0]["scores"]["FP"] == data[0]["scores"]["TP"] == data[1]["scores"]["FP"] == 0
    assert (data[2]["scores"]["TP"], data[2]["scores"]["FP"]) == (1, 0)
    assert "in:detokenised" in data[2]["signature"]


def test_running_text_is_scored_in_the_tokens_of_the_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `edit-gec correct --lines` writes is no other answer than its tokens; spaces are no edits."""
    files = {
        "source": "It is n't mine , said Ann .\nShe go home , too .\nAll is well ; really .\n",
        "reference": "It is n't mine , said Ann .\nShe goes home , too .\nAll is well ; really .\n",
        "running": "It isn't mine, said Ann.\nShe goes home, too.\nAll is well; really.\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    source, reference, running = (tmp_path / name for name in files)
    (found,) = run(capsys, "--source", source, "--ref", reference, "--hyp", running)
    assert (found["scores"]["TP"], found["scores"]["FP"], found["scores"]["FN"]) == (1, 0, 0)
    assert "|in:retokenised|" in found["signature"]
    (found,) = run(capsys, "--source", source, "--ref", reference, "--hyp", reference)
    assert "retokenised" not in found["signature"]


def test_gleu_and_false_alarms(tmp_path: Path, theirs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    gleu = run(capsys, "--source", SOURCE, "--ref", *REFS, "--hyp", SOURCE, HYP, REFS[0], "--metric", "gleu")
    values = [g["scores"]["GLEU"] for g in gleu]
    assert values == sorted(values) and values[0] < 60 < values[2] < 100
    assert run(capsys, "--m2", theirs[1], "--hyp", HYP, "--metric", "gleu")[0]["scores"]["GLEU"] == values[1]
    clean = tmp_path / "clean.txt"
    clean.write_text("It is fine.\nShe sings, he says.\n\nNothing is wrong here.\nAll good.\n")
    data = run(capsys, "--clean", clean, "--system", "sed s/fine/fone/ {in} > {out}", "--system", "none")
    assert data[0]["scores"] == {"changed per 100": 25.0, "changed": 1}
    assert data[1]["scores"]["changed"] == 0
    hyp = tmp_path / "hyp.txt"
    hyp.write_text("It is fine.\nShe  sings, he says.\n\nNothing is wrong here.\nAll good.\n")
    assert run(capsys, "--clean", clean, "--hyp", hyp)[0]["scores"]["changed"] == 1


def test_table_and_kept_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept"
    words = ["--source", SOURCE, "--ref", *REFS, "--hyp", HYP, "--system", "none", "--types", 2]
    assert main(["score", *map(str, words), "--write-hyp", str(kept)]) == 0
    table = capsys.readouterr().out
    assert "VERB:SVA" in table and "signature  ERRANT:F0.5|mode:cs|ref:auto|" in table and "hits" in table
    assert (kept / "source.txt.1.txt").read_text() == SOURCE.read_text()


def test_edit_gec_as_the_system(model_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A random model that edits most sentences: its edits are noise, but each has a confidence."""
    common = ["--source", SOURCE, "--ref", *REFS, "--system", "edit-gec", "--model", model_folder]
    (data,) = run(capsys, *common, "--curve")
    assert data["scores"]["FP"] > 0
    assert sum(b["edits"] for b in data["calibration"]["bins"]) == data["scores"]["TP"] + data["scores"]["FP"]
    assert len(data["curve"]) == 20 and data["curve"][0]["R"] == pytest.approx(data["scores"]["R"] / 100, abs=1e-4)
    assert f"|sys:edit-gec+{model_folder.name}:" in data["signature"] and "min_confidence=0" in data["signature"]
    (none,) = run(capsys, *common, "--min-confidence", 1)
    assert none["scores"]["FP"] < data["scores"]["FP"] and "min_confidence=1," in none["signature"]


def test_precision_of_a_system_without_edits_is_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    """ERRANT's convention, P = 100, stays in the JSON, beside the counts that explain it."""
    words = ["--source", SOURCE, "--ref", *REFS, "--system", "none"]
    assert main(["score", *map(str, words), "--types", "1"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert next(line for line in lines if line[:1] == ["none"])[1:5] == ["-", "0.00", "0.00", "0"]
    assert next(line for line in lines if line[:1] == ["M"])[4:] == ["-", "0.00", "0.00"]
    (data,) = run(capsys, *words)
    assert (data["scores"]["P"], data["scores"]["TP"] + data["scores"]["FP"]) == (100.0, 0)


def test_equal_rows_of_a_curve_are_explained(model_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--source", SOURCE, "--ref", *REFS, "--system", "edit-gec", "--model", model_folder, "--curve"]
    words += ["--min-confidence", 0.12]
    assert main(["score", *map(str, words)]) == 0
    found = re.search(r"Rows 0\.00 to (0\.\d\d) are equal: no proposed edit has a", capsys.readouterr().out)
    assert found and float(found[1]) >= 0.1
    (data,) = run(capsys, *words)
    first = [data["curve"][0][name] for name in "PRF"]
    assert {point["threshold"] for point in data["curve"] if [point[name] for name in "PRF"] == first} == {
        row / 20 for row in range(round(20 * float(found[1])) + 1)
    }


def test_signature_follows_what_changes_the_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--source", SOURCE, "--ref", *REFS]
    first = run(capsys, *common, "--hyp", HYP)[0]["signature"]
    assert run(capsys, *common, "--hyp", HYP)[0]["signature"] == first
    others = [
        run(capsys, *common, "--hyp", REFS[0])[0]["signature"],
        run(capsys, *common, "--hyp", HYP, "--metric", "ds")[0]["signature"],
        run(capsys, *common[:3], REFS[1], "--hyp", HYP)[0]["signature"],
    ]
    assert len({first, *others}) == 4


BAD: Sequence[tuple[str, list[Any], str]] = [
    ("short", ["--source", SOURCE, "--ref", REFS[0], "--hyp", "{f}"], "1 sentences, source.txt has 32"),
    ("short", ["--source", SOURCE, "--ref", "{f}", "--hyp", HYP], "1 lines, .* has 32; same set"),
    (
        "S a b\nA 1 x|||R|||c|||REQUIRED|||-NONE-|||0\n",
        ["--m2", "{f}", "--hyp", HYP],
        r"line 2 \(sentence 1\): expected",
    ),
    ("S a b\nA 1 3|||R|||c|||REQUIRED|||-NONE-|||0\n", ["--m2", "{f}", "--hyp", HYP], "outside the sentence of 2"),
    ("S a b\nS c\n", ["--m2", "{f}", "--hyp", HYP], "line 2 .* second S line"),
    ("plain text\n", ["--m2", "{f}", "--hyp", HYP], "line 1 .* found 'plain text'"),
    ("", ["--m2", "{f}", "--hyp", HYP], "no sentences"),
    (
        "S a b\nA 0 2|||R|||c|||REQUIRED|||-NONE-|||0\nA 1 2|||R|||d|||REQUIRED|||-NONE-|||0\n",
        ["--m2", "{f}", "--hyp", "{f}"],
        "edits 0 2 and 1 2 overlap",
    ),
    ("x", ["--m2", "{f}.none", "--hyp", HYP], "No such file"),
    ("x", ["--source", SOURCE, "--ref", REFS[0]], "give a system"),
    ("x", ["--source", SOURCE, "--hyp", HYP], "--source needs --ref"),
    ("x", ["--hyp", HYP], "give one test set"),
    (
        "x",
        ["--source", SOURCE, "--ref", REFS[0], "--system", "nobody"],
        "expected 'edit-gec'",
    ),
    ("x", ["--source", SOURCE, "--ref", REFS[0], "--system", "false {in} {out}"], "failed with status 1"),
    ("x", ["--source", SOURCE, "--ref", REFS[0], "--system", "true {in} {out}"], "wrote no {out} file"),
    ("x", ["--source", SOURCE, "--ref", REFS[0], "--system", "head -2 {in} > {out}"], "32 lines in, 2 out"),
    ("x", ["--source", SOURCE, "--ref", REFS[0], "--hyp", HYP, "--spacy-model", "en_none"], "'en_none' is not inst"),
    ("x", ["--benchmark", "wi", "--hyp", HYP], "EDIT_GEC_DATA; get it: .*bea2019st"),
    ("\n", ["--clean", "{f}", "--system", "none"], "no sentences in it"),
    ("x", ["--benchmark", "nope", "--hyp", HYP], "unknown: expected jfleg"),
]


@pytest.mark.parametrize(("content", "words", "message"), BAD)
def test_bad_input_is_one_line(
    content: str,
    words: list[Any],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("EDIT_GEC_DATA", raising=False)
    given = tmp_path / "given.txt"
    given.write_text(content)
    try:
        assert main(["score", *(str(w).replace("{f}", str(given)) for w in words)]) == 2
    except SystemExit as wrong_usage:
        assert wrong_usage.code == 2
    (talk,) = capsys.readouterr().err.splitlines()
    assert re.search(message, talk)


def test_wrong_encoding_names_the_line(tmp_path: Path) -> None:
    given = tmp_path / "latin1.txt"
    given.write_bytes("fine\ncaf\u00e9\n".encode("latin-1"))
    with pytest.raises(InputError, match="line 2: not UTF-8; convert it first"):
        m2.read_lines(given)
