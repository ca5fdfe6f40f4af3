"""Labelled text: an edit is drawn as often as it is right, and nothing else teaches tags."""

from __future__ import annotations

import json
import random
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.catalog import find_model
from edit_gec.errors import InputError
from edit_gec.lab.training.collate import collate, make_example
from edit_gec.lab.training.labelled_text import FILE, LabelledText
from edit_gec.lab.training.objective_edit5 import EdiT5Objective
from edit_gec.lab.training.pairs import Pairs
from edit_gec.lab.training.recipe import Recipe, TrainingStage
from edit_gec.modeling.config import EdiT5Config
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tagset import INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.text.edits import Edit, apply

SOURCE = "She go home with dog every day."
GO, DOG = [4, 6, "goes", 0.75], [17, 17, "her ", 0.25]


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens.load(find_model("edit5-mini"), 192)


def write(folder: Path, *lines: str) -> LabelledText:
    (folder / FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return LabelledText(folder)


def test_edits_are_drawn_by_their_confidence(tmp_path: Path) -> None:
    text = write(tmp_path, f"a.txt\t{json.dumps([GO, DOG])}\t{SOURCE}")
    rng = random.Random(1)
    drawn = [text.draw(rng) for _ in range(4000)]
    assert {(pair.source, pair.judged) for pair in drawn} == {(SOURCE, ((4, 6), (17, 17)))}
    assert sum("goes" in pair.target for pair in drawn) == pytest.approx(3000, abs=120)
    assert sum("her dog" in pair.target for pair in drawn) == pytest.approx(1000, abs=120)


def test_a_stage_learns_the_reverse_of_labelled_text_alone(tmp_path: Path) -> None:
    (tmp_path / "labelled").mkdir()
    write(tmp_path / "labelled", f"a.txt\t{json.dumps([[4, 6, 'goes', 1.0]])}\t{SOURCE}")
    stage = TrainingStage("broken", 1, labelled=1.0, reverse=True)
    pairs = Pairs(find_model("edit5-mini"), tmp_path, Recipe("x"), stage)
    (learnt,) = islice(pairs.draw_pairs(random.Random(1)), 1)
    tokens = Tokens.load(pairs.folder, 192)
    example = next(pairs.make_examples(random.Random(1), EdiT5Objective(pairs.recipe, pairs.folder)))
    assert (learnt.target, tokens.decode(example.ids[1:-1]).strip()) == (
        "She goes home with dog every day.",
        "She goes home with dog every day.",
    )
    assert learnt.reverse() == (learnt.target, SOURCE, None) and not stage.needs_prose


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=8, max_size=40), st.data())
def test_sure_edits_are_all_made(tmp_path_factory: pytest.TempPathFactory, source: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(source)), min_size=2, max_size=6)))
    edits = [
        Edit(a, b, source[a:b], data.draw(st.sampled_from(["", "x", "a b"])), 1.0)
        for a, b in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    line = json.dumps([[e.start, e.end, e.replacement, e.confidence] for e in edits])
    text = write(tmp_path_factory.mktemp("labelled"), f"a\t{line}\t{source}")
    assert text.draw(random.Random(1)).target == apply(source, edits)


def test_words_at_proposals_alone_teach_tags(tmp_path: Path, tokens: Tokens) -> None:
    example = make_example(SOURCE, "She goes home with dog every day.", tokens, [(4, 6), (17, 17)])
    assert example is not None
    pieces = tokens.encode(SOURCE)
    tags = example.plan.tags()
    assert example.judged is not None
    taught = {pieces.text(n - 1, n).strip(): tags[n] for n in example.judged}
    assert taught["go"] == REPLACE and taught["dog"] == taught["with"] == KEEP
    assert not {"every", "day", "."} & {*taught}
    first = make_example("Dog barks at night.", "The Dog barks at night.", tokens, [(0, 0)])
    assert first is not None and first.judged is not None
    assert 0 in first.judged and first.plan.tags()[0] == INSERT, "the sentinel: an insertion before the first word"


def test_what_is_not_known_has_no_loss(tokens: Tokens) -> None:
    """The tag loss is that of the judged pieces alone."""
    import torch
    import torch.nn.functional as F

    torch.manual_seed(1)
    model = EdiT5(
        EdiT5Config(vocab_size=tokens.size, slots=tokens.slots, d_model=16, num_heads=2, d_kv=8, d_ff=32, num_layers=1)
    )
    example = make_example(SOURCE, "She goes home with dog every day.", tokens, [(4, 6)])
    assert example is not None
    output = model(collate([example], tokens))
    tags = example.plan.tags()
    known = sorted(example.judged or ())
    assert 0 < len(known) < len(tags)
    wanted = F.cross_entropy(output.tag_logits[0, known], torch.tensor([tags[n] for n in known]), reduction="sum")
    assert torch.allclose(output.losses.tag, wanted, atol=1e-5)


@pytest.mark.parametrize("line", ["no tabs", "a\t{}x\tb", "a\t[[0]]\tb", "a\t5\tb"])
def test_another_form_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match="expected file, edits and sentence"):
        write(tmp_path, line).draw(random.Random(1))


def test_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`edit-gec label` writes it"):
        LabelledText(tmp_path)
    with pytest.raises(InputError, match="empty"):
        write(tmp_path)
