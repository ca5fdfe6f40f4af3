"""Speculation beside its theory: every drafter leaves the tokens as they are, and the formulas fit where they must."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.tiny_causal import save_folder
from support.tiny_t5 import pairs, trained_target

from edit_gec.lab.performance.setup import Pair, Setup
from edit_gec.modeling.checkpoint import save_t5
from edit_gec.modeling.tokenizer import FILE

if TYPE_CHECKING:
    from edit_gec.modeling.tokenizer import Tokens

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / "profiles" / "verification" / "speculation.py"))
pytestmark = pytest.mark.slow
SHARED = {"edit5, shared", "edit5, distilled"}
SENTENCES = [source for source, _ in pairs(3, 11)]


@pytest.fixture(scope="module")
def given(tokens: Tokens, model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Setup:
    folder = tmp_path_factory.mktemp("target")
    save_t5(trained_target(tokens).model, folder)
    (folder / FILE).write_bytes(tokens.processor.serialized_model_proto())
    target = str(folder)
    return Setup(model=str(model_folder), target=target, assistant=target, max_length=48)


@pytest.fixture(scope="module")
def result(given: Setup) -> dict[str, Any]:
    figures = SCRIPT["measure_speculation"](
        Pair(given), SENTENCES, learn=[right for _, right in pairs(40, 3)], repeats=1
    )
    return dict(figures)


def rows(result: dict[str, Any], drafter: str, temperature: int = 0) -> list[dict[str, Any]]:
    return [r for r in result["rows"] if (r["drafter"], r["temperature"]) == (drafter, temperature)]


def test_no_drafter_changes_a_token(result: dict[str, Any]) -> None:
    assert {r["drafter"] for r in result["rows"]} == set(SCRIPT["DRAFTERS"]) - SHARED
    assert set(result["skipped"]) == SHARED, "the target has an encoder of its own"
    for row in result["rows"]:
        sampled = row["drafter"] == "small t5" and row["temperature"] == 1
        assert row["same_tokens"] is (None if sampled else True), row


def test_plain_decoding_takes_a_pass_for_each_token(result: dict[str, Any]) -> None:
    for temperature in (0, 1):
        plain = result["plain"][str(temperature)]
        assert plain["passes_mean"] * len(SENTENCES) == pytest.approx(plain["tokens"])
        for row in result["rows"]:
            if row["temperature"] == temperature and row["same_tokens"]:
                assert row["tokens_per_pass"] * row["passes_mean"] == pytest.approx(plain["passes_mean"])


def test_a_drafter_that_is_the_target_is_always_right(result: dict[str, Any]) -> None:
    for row in rows(result, "small t5"):
        assert row["alpha"] == 1.0 and row["accepted_of_proposed"] == 1.0
        # what is proposed behind the last </s> is cut, so the last pass may write fewer
        assert row["expected_tokens_per_pass"] == pytest.approx(row["proposed_mean"] + 1)
        assert row["tokens_per_pass"] == pytest.approx(row["expected_tokens_per_pass"], rel=0.15)


def test_nothing_passes_less_often_than_a_perfect_draft(result: dict[str, Any]) -> None:
    (perfect,) = rows(result, SCRIPT["PERFECT"])
    assert (perfect["passes_mean"], perfect["alpha"]) == (1, 1)
    assert all(0 < row["share_verifying"] <= 1 and row["passes_mean"] >= 1 for row in result["rows"])


def test_copies_are_found_again(result: dict[str, Any]) -> None:
    greedy = result["plain"]["0"]["passes_mean"]
    for name in ("copy", "copy, SAD"):
        passes = [row["passes_mean"] for row in rows(result, name)]  # of growing gamma
        assert passes == sorted(passes, reverse=True) and passes[-1] < greedy / 2
    assert rows(result, "copy")[-1]["passes_mean"] <= rows(result, "copy, SAD")[-1]["passes_mean"]


def test_tables(result: dict[str, Any]) -> None:
    made = SCRIPT["format_speculation"](json.loads(json.dumps(result)))
    for name in set(SCRIPT["DRAFTERS"]) - set(result["skipped"]):
        assert f"| {name} | 0 |" in made and f"| {name} | 1 |" in made
    assert "NO" not in made and "| none | 0 |" in made and "| passes a sentence, T = 0 |" in made


def test_the_command_leaves_out_what_is_not_there(
    given: Setup, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.txt").write_text(SENTENCES[0], encoding="utf-8")
    path = tmp_path / "speculation.json"
    options = ["--model", given.model, "--target", given.target, "--repeats", "1"]
    assert SCRIPT["main"]([str(tmp_path / "text.txt"), str(path), *options]) == 0
    out = capfd.readouterr().out
    assert "left out: small t5: no small T5 (--assistant FOLDER)" in out and "| copy | 0 |" in out
    skipped = json.loads(path.read_text(encoding="utf-8"))["skipped"]
    assert set(skipped) == SHARED | {"unigram", "bigram", "small t5"}


def test_a_language_model_is_measured_alike(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its drafters are those of texts and n-grams."""
    save_folder(tmp_path, max_position_embeddings=600)
    names = SCRIPT["list_drafters"].__globals__
    monkeypatch.setitem(names, "WHOLE", (24,))
    monkeypatch.setitem(names, "STEPWISE", (1, 3))
    setup = Setup(model=str(model_folder), target=str(tmp_path), prompt="{source}\n", max_length=48)
    figures = SCRIPT["measure_speculation"](Pair(setup), ["She go home.", "x" * 90], learn=["She goes."], repeats=1)
    assert {r["drafter"] for r in figures["rows"]} == {
        "copy, SAD", "copy", "edit5 draft", "unigram", "bigram", "perfect draft",
    }  # fmt: skip
    assert all(row["same_tokens"] is True for row in figures["rows"])
    assert figures["plain"]["0"]["encoder_s"] > 0 and set(figures["pass_s"]) == set(SCRIPT["WIDTHS"])
