"""EdiT5: folders, losses that padding and other slots do not change, matrices that point, growth and warm starts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from edit_gec.errors import InputError, ModelError
from edit_gec.lab.training.collate import collate, make_example
from edit_gec.modeling.checkpoint import save_t5
from edit_gec.modeling.config import T5Config, edit5_config, read_config
from edit_gec.modeling.edit5 import Batch, EdiT5, EdiT5Output, Losses, grow, warm_start
from edit_gec.modeling.t5 import T5
from edit_gec.modeling.tagset import INSERT, KEEP
from edit_gec.modeling.tokenizer import Tokens

PAIRS = [
    ("i was walking when struck by bicycle.", "I was walking when I was struck by a bicycle."),
    ("She walk to school the every day, and she like it a lot.", "She walks to school every day, and she likes it."),
    ("All is well.", "All is well."),
    ("in the park we often walk", "We often walk in the park."),
    ("the the 🏠", "the 🏡"),
    ("Hi", ""),
]


def batch(tokens: Tokens, pairs: Sequence[tuple[str, str]] = PAIRS) -> Batch:
    made = [make_example(source, target, tokens) for source, target in pairs]
    return collate([e for e in made if e is not None], tokens)


def widened(b: Batch, by: int) -> Batch:
    """The same batch with more padding everywhere, filled with what must not matter."""
    pad = torch.nn.functional.pad
    return Batch(
        ids=pad(b.ids, (0, by), value=7), mask=pad(b.mask, (0, by), value=False), tags=pad(b.tags, (0, by), value=2),
        judged=pad(b.judged, (0, by), value=False), successors=pad(b.successors, (0, by), value=0),
        moved=b.moved, rows=b.rows,
        stream=pad(b.stream, (0, by), value=9), stream_target=pad(b.stream_target, (0, by), value=-100),
        anchors=pad(b.anchors, (0, by), value=3), slot_numbers=pad(b.slot_numbers, (0, by), value=5),
        shown_tags=pad(b.shown_tags, (0, by), value=2), shown_ranks=pad(b.shown_ranks, (0, by), value=-1),
    )  # fmt: skip


@torch.inference_mode()
def run(model: EdiT5, b: Batch, *, sequential: bool = False) -> tuple[Losses, torch.Tensor, torch.Tensor]:
    output: EdiT5Output = model(b, sequential=sequential)
    return output[:3]


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, atol=2e-4, rtol=1e-4)


# --- losses ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sequential", [True, False])
def test_padding_changes_nothing(model: EdiT5, tokens: Tokens, sequential: bool) -> None:
    b = batch(tokens)
    losses, tags, insertions = run(model, b, sequential=sequential)
    wide, wide_tags, wide_insertions = run(model, widened(b, 13), sequential=sequential)
    for one, other in zip(losses, wide, strict=True):
        close(one, other)
    close(tags[b.mask], wide_tags[:, : b.ids.shape[1]][b.mask])
    close(insertions, wide_insertions)


@pytest.mark.parametrize("sequential", [True, False])
def test_a_batch_loses_what_its_pairs_lose(model: EdiT5, tokens: Tokens, sequential: bool) -> None:
    together, _, _ = run(model, batch(tokens), sequential=sequential)
    alone = [run(model, batch(tokens, [pair]), sequential=sequential)[0] for pair in PAIRS]
    for name in Losses._fields:
        close(getattr(together, name).double(), torch.stack([getattr(losses, name) for losses in alone]).double().sum())
    assert all(value > 0 for value in together)


def test_slots_in_parallel_are_slots_alone(model: EdiT5, tokens: Tokens) -> None:
    b = batch(tokens, PAIRS[:1])
    assert int(b.slot_numbers.max()) == 2, "three slots: I, I was, a"
    _, _, together = run(model, b)
    alone = []
    for slot in range(3):
        mine = b.slot_numbers[0] == slot
        single = b._replace(
            stream=b.stream[:, mine], stream_target=b.stream_target[:, mine], anchors=b.anchors[:, mine],
            slot_numbers=b.slot_numbers[:, mine],
        )  # fmt: skip
        alone.append(run(model, single)[2])
    close(together, torch.cat(alone))


def test_in_sequence_a_slot_sees_those_before_it_and_no_other(model: EdiT5, tokens: Tokens) -> None:
    b = batch(tokens, PAIRS[:1])
    numbers = b.slot_numbers[0]
    changed = b._replace(stream=torch.where(numbers == 1, 11, b.stream))
    for sequential, differs in ((True, [False, True, True]), (False, [False, True, False])):
        before, after = (run(model, x, sequential=sequential)[2] for x in (b, changed))
        assert [not torch.allclose(before[numbers == n], after[numbers == n], atol=1e-4) for n in range(3)] == differs


def test_insertions_see_the_tags_and_the_new_order(model: EdiT5, tokens: Tokens) -> None:
    b = batch(tokens, PAIRS[:1])
    base = run(model, b)[2]
    assert not torch.allclose(base, run(model, b._replace(shown_tags=b.shown_tags.flip(1)))[2], atol=1e-3)
    assert not torch.allclose(base, run(model, b._replace(shown_ranks=b.shown_ranks.flip(1)))[2], atol=1e-3)
    assert not torch.allclose(base, run(model, b._replace(anchors=b.anchors * 0))[2], atol=1e-3)


def test_every_parameter_learns(make_model: Callable[..., EdiT5], tokens: Tokens) -> None:
    """Also from a batch that inserts nothing: data-parallel training waits for all gradients."""
    for pairs in (PAIRS, PAIRS[2:3]):
        model = make_model().train()
        losses = model(batch(tokens, pairs)).losses
        (losses.tag + losses.point + losses.insertion).backward()
        assert [name for name, p in model.named_parameters() if p.grad is None] == []
        assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_examples_that_cannot_be_learnt(tokens: Tokens) -> None:
    assert make_example("", "Hi.", tokens) is None
    fits, longer = (" ".join(["a"] * n) for n in (tokens.slots - 2, tokens.slots - 1))
    assert len(tokens.ids(fits)) == tokens.slots - 2
    assert make_example(fits, fits, tokens) is not None
    assert make_example(longer, longer, tokens) is None, "with the sentinel and </s> more kept pieces than slots"
    assert make_example(longer, fits, tokens) is None, "predicted tags may keep what is deleted here"


# --- points ----------------------------------------------------------------------------------------------------------


def test_sentences_that_move_always_learn_to_point(model: EdiT5, tokens: Tokens) -> None:
    moved = PAIRS[3:4]
    assert batch(tokens, moved).moved.tolist() == [True]
    assert float(run(model, batch(tokens, moved))[0].point) > 0


def test_points_are_from_kept_to_kept(model: EdiT5, tokens: Tokens) -> None:
    b = batch(tokens)
    encoded, _ = model.encode(b.ids, b.mask)
    scores = model.point(encoded, b.tags, b.mask)
    kept = ((b.tags == KEEP) | (b.tags == INSERT)) & b.mask
    assert ((scores > -1e8) == (kept[:, :, None] & kept[:, None, :])).all()


# --- folders ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [True, False])
def test_save_and_load(model: EdiT5, tokens: Tokens, exact: bool, tmp_path: Path) -> None:
    model.save(tmp_path, small=not exact, thresholds={"keep_bias": 0.5})
    loaded = EdiT5.load(tmp_path)
    assert loaded.config == model.config and not loaded.training
    assert {p.dtype for p in loaded.parameters()} == {torch.float32} and all(
        p.requires_grad for p in loaded.parameters()
    )
    losses, tags, insertions = run(loaded, batch(tokens))
    expected, expected_tags, expected_insertions = run(model, batch(tokens))
    assert torch.equal(tags, expected_tags) == torch.equal(insertions, expected_insertions) == exact
    torch.testing.assert_close(losses.tag, expected.tag, rtol=1e-7 if exact else 0.05, atol=0)
    assert read_config(tmp_path)["thresholds"] == {"keep_bias": 0.5}
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["config.json", "model.safetensors"]


def test_a_t5_is_no_edit5(tmp_path: Path) -> None:
    save_t5(T5(T5Config(vocab_size=64, d_model=16, d_kv=4, d_ff=8, num_layers=1, num_decoder_layers=1)), tmp_path)
    with pytest.raises(ModelError, match="model_type 't5'; expected edit5"):
        EdiT5.load(tmp_path)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"slots": 0}, "here: slots is 0"),
        ({"slots": 32128}, "slots is 32128"),
        ({"point_width": "x"}, "point_width is 'x'"),
        ({"d_model": 0}, "here: d_model is 0"),
        ({"model_type": None}, "model_type None"),
    ],
)  # fmt: skip
def test_broken_configurations(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        edit5_config({"model_type": "edit5", **entries}, "here")


def test_loading_starts_quickly(model_folder: Path) -> None:
    """torch's Python kernels for tensors without memory are 800 modules: 1.2 s for nothing."""
    code = f"import sys; from edit_gec.modeling.edit5 import EdiT5; EdiT5.load({str(model_folder)!r}); " \
        "print([m for m in ('torch._inductor', 'torch._dynamo', 'sympy') if m in sys.modules])"  # fmt: skip
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[]\n", "")


# --- growth and warm starts ------------------------------------------------------------------------------------------


def test_growing_copies_the_stack(make_model: Callable[..., EdiT5]) -> None:
    model = make_model(num_layers=3)
    six = grow(model, 6)
    twelve = grow(six, 12)
    assert (six.config, twelve.config) == (replace(model.config, num_layers=6), replace(model.config, num_layers=12))
    old, new = model.state_dict(), twelve.state_dict()
    for name in new:
        n = name.split(".")[2] if name.startswith("encoder.layers.") else ""
        source = name.replace(f"layers.{n}.", f"layers.{int(n) % 3}.", 1) if n else name
        assert torch.equal(new[name], old[source]), name
    with pytest.raises(InputError, match="4 encoder layers; expected a multiple of the 3"):
        grow(model, 4)


@pytest.mark.parametrize("gated", [True, False])
def test_warm_start_keeps_the_encoder(gated: bool) -> None:
    torch.manual_seed(0)
    t5 = T5(
        T5Config(vocab_size=96, d_model=16, d_kv=4, d_ff=24, num_heads=4, num_layers=2, num_decoder_layers=2,
        gated=gated, tie_word_embeddings=not gated)
    ).eval()  # fmt: skip
    model, new = warm_start(t5, slots=8)
    assert (model.config.slots, model.config.num_decoder_layers, model.config.gated) == (8, 1, gated)
    ids = torch.randint(3, 96, (2, 17))
    mask = torch.arange(17)[None, :] < torch.tensor([[17], [9]])
    with torch.inference_mode():
        assert torch.equal(model.eval().encode(ids, mask)[0], t5.encode(ids, mask))
    stems = {name.split(".")[0] for name in new}
    assert stems == {
        "tag_layer", "tag_norm", "tag_head", "tag_embedding", "point_query", "point_key", "point_distance",
        "rank_embedding", "memory_layer", "memory_norm", "anchor", "anchor_distance",
    }  # fmt: skip
    kept = {name for name in model.state_dict() if name not in new}
    assert all(torch.equal(model.state_dict()[name], t5.state_dict()[name]) for name in kept)
    assert any(name.startswith("decoder.layers.0.cross") for name in kept)
    last = t5.encoder.layers[-1].state_dict()
    assert all(torch.equal(value, last[name]) for name, value in model.tag_layer.state_dict().items())
