"""The breaker: tags and pieces are drawn as often as they are probable, and nothing else of a sentence changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from conftest import PROSE
from torch import nn

from edit_gec.catalog import find_model
from edit_gec.cli.main import main
from edit_gec.lab.training.synthetic.breaker import Breaker, SampledEdiT5, add_noise

MODEL = find_model("edit5-mini")
LINES = PROSE.read_text(encoding="utf-8").splitlines()


def test_the_largest_is_drawn_from_the_softmax() -> None:
    logits = torch.tensor([0.0, 1.0, 2.0, -torch.inf])
    drawn = (
        add_noise(logits.expand(20_000, 4), torch.Generator().manual_seed(1)).argmax(-1).bincount(minlength=4) / 20_000
    )
    assert drawn.tolist() == pytest.approx(logits.softmax(-1).tolist(), abs=0.015)


@torch.inference_mode()
def test_pieces_are_drawn_and_none_that_is_banned() -> None:
    model = SampledEdiT5.load(MODEL)
    model.generator = torch.Generator().manual_seed(1)
    banned = torch.zeros(model.config.vocab_size, dtype=torch.bool)
    hidden = torch.randn(1, model.config.d_model, generator=model.generator).expand(4000, -1)
    likeliest = int(model.output(hidden[:1]).argmax())
    log_probabilities, ids = model.most_likely(hidden, banned)
    share = float((ids == likeliest).float().mean())
    assert share == pytest.approx(float(model.output(hidden[:1]).softmax(-1)[0, likeliest]), abs=0.03)
    expected = nn.functional.cross_entropy(model.output(hidden), ids, reduction="none")
    torch.testing.assert_close(-log_probabilities, expected, atol=1e-3, rtol=1e-4)
    banned[likeliest] = True
    assert likeliest not in model.most_likely(hidden, banned)[1].tolist()


def test_a_seed_and_a_rate_say_what_is_broken() -> None:
    broken = Breaker.load(MODEL, seed=1).corrupt(LINES, rate=20.0)
    assert broken == Breaker.load(MODEL, seed=1).corrupt(LINES, rate=20.0) != Breaker.load(MODEL, seed=2).corrupt(LINES)
    changed = sum(map(str.__ne__, broken, LINES))
    assert changed > sum(map(str.__ne__, Breaker.load(MODEL, seed=1).corrupt(LINES, rate=1.0), LINES)) > 0
    assert Breaker.load(MODEL, seed=1).corrupt(LINES, rate=0.0) == LINES


def test_what_is_broken_is_a_line() -> None:
    wrapped = [line.replace(" ", "\n", 1) for line in LINES]
    broken = Breaker.load(MODEL, seed=1).corrupt(wrapped, rate=20.0)
    changed = [new for old, new in zip(wrapped, broken, strict=True) if new != old]
    assert changed and not any("\n" in line for line in changed)


def test_what_is_longer_than_the_model_reads_stays() -> None:
    long = " ".join(LINES)
    broken = Breaker.load(MODEL, seed=1).corrupt([long, *LINES, "", " "], rate=20.0)
    assert (broken[0], broken[-2:]) == (long, ["", " "]) and broken[1:-2] != LINES


def test_corrupt_by_a_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["corrupt", str(PROSE), "--breaker", str(MODEL), "--rate", "20", "--sentences", "30"]) == 0
    pairs = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert len(pairs) == 30 and all(len(pair) == 2 for pair in pairs) and any(wrong != right for wrong, right in pairs)
    assert main(["corrupt", str(PROSE), "--breaker", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
