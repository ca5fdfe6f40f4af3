"""One encoder for drafter and target: the folder, the encoding that both read, and the corrector that encodes once."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import SLOTS
from support.correctors import verified_by, verifier_of

from edit_gec.corrector import Corrector
from edit_gec.editing.thresholds import Thresholds
from edit_gec.errors import ModelError
from edit_gec.lab.performance.setup import Pair, Setup
from edit_gec.modeling import checkpoint, shared_encoder
from edit_gec.modeling.config import T5Config, read_config
from edit_gec.modeling.edit5 import EdiT5, fingerprint
from edit_gec.modeling.quantization import pack, unpack
from edit_gec.modeling.t5 import T5
from edit_gec.modeling.tokenizer import FILE, Tokens
from edit_gec.speculative.decode import verify
from edit_gec.speculative.drafters import SharedEdiT5Drafter, TextDrafter, make_edit5_drafter, make_edit5_writer
from edit_gec.speculative.drafting import DraftingProfile
from edit_gec.speculative.target import Target
from edit_gec.speculative.verifier import Verifier

SENTENCES = ["She go home .", "They was here again", "My brother walk to the the station every day.", "I"]
SHAPE: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 3, "num_decoder_layers": 2}


@pytest.fixture
def folders(model: EdiT5, tokens: Tokens, tmp_path: Path) -> tuple[Path, Path]:
    """An EdiT5 that edits, and a target with one more encoder layer on its encoder: edit5/ and t5/."""
    vocabulary = tokens.processor.serialized_model_proto()
    model.save(tmp_path / "edit5")
    torch.manual_seed(0)
    t5 = T5(T5Config(vocab_size=tokens.size, tie_word_embeddings=True, scale_decoder_outputs=True, **SHAPE))
    shared_encoder.take_encoder(t5, model)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in t5.decoder.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.3)
    shared_encoder.save(t5, tmp_path / "t5", tmp_path / "edit5")
    for folder in ("edit5", "t5"):
        (tmp_path / folder / FILE).write_bytes(vocabulary)
    return tmp_path / "edit5", tmp_path / "t5"


@pytest.fixture
def forked(folders: tuple[Path, Path]) -> tuple[Path, Path]:
    """The same with a T5 whose second encoder layer is its own."""
    edit5, t5 = folders
    model, _ = shared_encoder.load(t5)
    model.encoder.layers[1] = copy.deepcopy(model.encoder.layers[1])
    with torch.no_grad():
        for parameter in model.encoder.layers[1].parameters():
            parameter.mul_(1.5)
    shared_encoder.save(model, t5, edit5, own_layers=1)
    return folders


@pytest.fixture(params=["folders", "forked"])
def pair(request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """Two folders; the T5 shares all layers of the EdiT5, or the first one only."""
    found: tuple[Path, Path] = request.getfixturevalue(request.param)
    return found


def test_the_encoder_is_stored_once(folders: tuple[Path, Path]) -> None:
    edit5, t5 = folders
    names = set(checkpoint.read_tensors(t5))
    assert {name.split(".")[0] for name in names} == {"encoder", "decoder"}
    assert {name.split(".")[2] for name in names if name.startswith("encoder.block")} == {"2"}
    config = json.loads((t5 / "config.json").read_text())
    assert config["encoder"] == "../edit5" and config["shared_layers"] == 2 and len(config["encoder_fingerprint"]) == 16
    target = Target.load(t5, max_length=60)
    assert target.edit5 is not None and target.sentinel and target.tokens.slots == SLOTS
    elsewhere = t5.parent / "elsewhere"
    shutil.copytree(t5, elsewhere / "t5")
    shutil.copytree(edit5, elsewhere / "edit5")
    assert Target.load(elsewhere / "t5", max_length=60).generate(SENTENCES) == target.generate(SENTENCES)


def test_one_encoding_for_both(folders: tuple[Path, Path], model: EdiT5) -> None:
    target = Target.load(folders[1], edit5=model, max_length=60)
    assert target.edit5 is model
    encoded = target.encode_shared(SENTENCES)
    assert not encoded.states.requires_grad, "products of a model that is not trained are faster"
    ids = torch.tensor([target.source_ids(SENTENCES[0])])
    alone, _ = model.encode(ids, torch.ones_like(ids, dtype=torch.bool))
    assert encoded.edit5 is not None
    torch.testing.assert_close(encoded.edit5[0, : ids.shape[1]], alone[0], atol=1e-5, rtol=0)
    plain = target.model.encode(ids, torch.ones_like(ids, dtype=torch.bool))
    torch.testing.assert_close(encoded.states[0, : ids.shape[1]], plain[0], atol=1e-5, rtol=0)


def test_a_t5_with_last_layers_of_its_own(forked: tuple[Path, Path]) -> None:
    """Both read the first layer's output; the other layers of each are computed for it alone."""
    edit5 = EdiT5.load(forked[0])
    folder = forked[1]
    assert read_config(folder)["shared_layers"] == 1
    assert {n.split(".")[2] for n in checkpoint.read_tensors(folder) if n.startswith("encoder.block")} == {"1", "2"}
    target = Target.load(folder, edit5=edit5, max_length=60)
    layers = target.model.encoder.layers
    assert layers[0] is edit5.encoder.layers[0] and layers[1] is not edit5.encoder.layers[1]
    name = "encoder.layers.1.attention.o.weight"
    own = target.model.state_dict()[name]
    torch.testing.assert_close(own, 1.5 * edit5.state_dict()[name], atol=0.01, rtol=0.01)  # a byte for each weight
    encoded = target.encode_shared(SENTENCES)
    ids = torch.tensor([target.source_ids(SENTENCES[0])])
    mask = torch.ones_like(ids, dtype=torch.bool)
    wanted = target.model.encode(ids, mask), edit5.encode(ids, mask)[0]
    for states, alone in zip((encoded.states, encoded.edit5), wanted, strict=True):
        assert states is not None
        torch.testing.assert_close(states[0, : ids.shape[1]], alone[0], atol=1e-5, rtol=0)
    config = {**read_config(folder), "shared_layers": 3}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="shared_layers 3; expected a whole number from 1 to 2"):
        Target.load(folder)


def test_as_a_t5_of_its_own(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """What is exported loads in transformers, and writes the same."""
    from transformers import T5ForConditionalGeneration

    target = Target.load(folders[1], max_length=60)
    outputs = target.generate(SENTENCES)
    target.export(tmp_path / "whole")
    whole = Target.load(tmp_path / "whole", max_length=60)
    assert whole.edit5 is None and whole.sentinel and whole.generate(SENTENCES) == outputs
    theirs = T5ForConditionalGeneration.from_pretrained(tmp_path / "whole").eval()  # type: ignore[no-untyped-call]
    for sentence, output in zip(SENTENCES, outputs, strict=True):
        ids = torch.tensor([target.source_ids(sentence)])
        generated = theirs.generate(ids, max_new_tokens=target.limit(sentence), do_sample=False)[0].tolist()
        assert generated[1:] == output
    with pytest.raises(ModelError, match=r"not a complete T5, its encoder is ../edit5's"):
        checkpoint.load_t5(folders[1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_one_encoder_in_every_dtype(folders: tuple[Path, Path], dtype: torch.dtype) -> None:
    edit5 = EdiT5.load(folders[0], dtype)
    assert shared_encoder.load(folders[1], edit5)[1] is edit5


@pytest.mark.parametrize("batch_size", [1, 4])
def test_the_corrector_encodes_once(folders: tuple[Path, Path], batch_size: int) -> None:
    edit5, t5 = folders
    corrector = Corrector.load(edit5, target=t5, batch_size=batch_size)
    assert verifier_of(corrector).target.edit5 is corrector.edit5.model
    verifier_of(corrector).target.max_length = 60
    runs: list[int] = []
    hook = corrector.edit5.model.encoder.layers[0].register_forward_hook(lambda *_: runs.append(1))
    corrections = corrector.correct_batch(SENTENCES, lines=True)
    hook.remove()
    assert len(runs) == -(-len(SENTENCES) // batch_size)
    apart = Corrector.load(edit5, target=t5, batch_size=batch_size)
    verifier_of(apart).target = Target.load(t5, max_length=60)  # with an encoder of its own, the same one
    assert [c.edits for c in apart.correct_batch(SENTENCES, lines=True)] == [c.edits for c in corrections]
    summary = verifier_of(corrector).summary()
    times = [summary[f"{part}_s"] for part in ("draft", "verify", "align", "other")]
    assert all(time >= 0 for time in times)
    assert sum(times) == pytest.approx(verifier_of(corrector).statistics.total_s)


def test_heads_of_a_targets_own_draft_for_it(pair: tuple[Path, Path], make_model: Callable[..., EdiT5]) -> None:
    """Stored without the encoder, put on that of the T5, and run on what was encoded once."""
    edit5, t5 = pair
    heads = shared_encoder.load_start(t5)
    own = {name: p for name, p in make_model(3).state_dict().items() if not name.startswith(shared_encoder.BODY)}
    heads.load_state_dict(own, strict=False)
    outputs = [c.corrected for c in Corrector.load(edit5, target=t5).correct_batch(SENTENCES, lines=True)]
    shared_encoder.save_heads(heads, t5 / "drafter")
    assert set(checkpoint.read_tensors(t5 / "drafter")) == set(own)
    corrector = Corrector.load(edit5, target=t5)
    assert verifier_of(corrector).profile.heads is corrector.edit5.model
    target = verifier_of(corrector).target
    stored = unpack(pack(own), "here")
    theirs = {**EdiT5.load(edit5).state_dict(), **target.model.state_dict()}
    theirs["encoder.norm.weight"] = EdiT5.load(edit5).encoder.norm.weight
    for name, p in corrector.edit5.model.state_dict().items():
        wanted = stored[name].float() if name in own else theirs[name]
        assert torch.equal(p, wanted), name
    runs: list[int] = []
    encoder: Any = target.model.encoder
    hooks = [layer.register_forward_hook(lambda *_: runs.append(1)) for layer in encoder.layers]
    assert [c.corrected for c in corrector.correct_batch(SENTENCES, lines=True)] == outputs
    assert len(runs) == len(hooks) == 3, "each layer runs once for both"
    for hook in hooks:
        hook.remove()
    drafter = make_edit5_drafter(target, corrector.edit5.model, corrector.edit5.tokens, Thresholds())
    assert type(drafter) is SharedEdiT5Drafter
    assert verify(target, drafter, SENTENCES)[0] == target.generate(SENTENCES)


def test_which_heads_draft(pair: tuple[Path, Path], make_model: Callable[..., EdiT5]) -> None:
    """Those of the target; in each dtype."""
    edit5, t5 = pair
    usual = EdiT5.load(edit5)
    shared_encoder.save_heads(shared_encoder.load_start(t5), t5 / "drafter")
    given = Target.load(t5, edit5=usual)
    profile = DraftingProfile.load(t5, given)
    assert given.edit5 is usual and profile.heads is not None
    assert Verifier(given, profile).target.edit5 is profile.heads
    assert verified_by(Corrector.load(edit5), Verifier(given, profile)).edit5.model is profile.heads
    for dtype in (torch.bfloat16, torch.float16):
        narrow = Target.load(t5, dtype=dtype)
        loaded = DraftingProfile.load(t5, narrow).heads
        assert loaded is not None
        narrowed = {p.dtype for name, p in loaded.named_parameters() if not name.endswith("feed_forward.wo.weight")}
        assert narrowed == {dtype}
        assert loaded.encoder.layers[0] is narrow.model.encoder.layers[0]
    other = copy.deepcopy(given.model)
    shared_encoder.take_encoder(other, make_model(3))
    with pytest.raises(ModelError, match="drafter: trained on another version of its encoder"):
        shared_encoder.load_heads(t5 / "drafter", other, usual)
    with pytest.raises(ModelError, match="model_type 'edit5'; expected edit5-heads"):
        shared_encoder.load_heads(edit5, given.model, usual)


def test_the_folder_says_what_it_is(folders: tuple[Path, Path]) -> None:
    """A model type of its own, for `transformers` cannot load it."""
    from transformers import AutoConfig

    _, t5 = folders
    config = read_config(t5)
    assert config["model_type"] == shared_encoder.MODEL_TYPE and "architectures" not in config
    with pytest.raises(ValueError, match=shared_encoder.MODEL_TYPE):
        AutoConfig.from_pretrained(t5)
    (t5 / "config.json").write_text(json.dumps({**config, "model_type": "bart"}))
    with pytest.raises(ModelError, match="model_type 'bart'; expected 't5-shared-encoder'"):
        Target.load(t5)


def test_the_shipped_target_stands_on_the_shipped_encoder() -> None:
    folder = Path(__file__).parents[2] / "models" / "t5-mini"
    config = read_config(folder)
    assert config["model_type"] == shared_encoder.MODEL_TYPE and "architectures" not in config
    assert config["encoder"] == "../edit5-mini"
    edit5 = EdiT5.load(folder.with_name("edit5-mini"))
    assert fingerprint(edit5, 8) == config["encoder_fingerprint"], "train t5-mini on the new weights"
    t5, found = shared_encoder.load(folder, edit5)
    shared = [a is b for a, b in zip(t5.encoder.layers, edit5.encoder.layers, strict=False)]
    assert found is edit5 and shared == [True] * 8 + [False] * 4


def test_another_drafter_than_the_one_that_shares(
    folders: tuple[Path, Path], make_model: Callable[..., EdiT5], tokens: Tokens
) -> None:
    """Its fingerprint differs: the target loads the encoder that it was trained with."""
    other = make_model(7)
    target = Target.load(folders[1], edit5=other, max_length=60)
    assert target.edit5 is not other and target.edit5 is not None
    outputs = target.generate(SENTENCES)
    assert verify(target, TextDrafter(tokens, make_edit5_writer(other, tokens, Thresholds())), SENTENCES)[0] == outputs


def test_layers_that_are_not_shared_may_learn(
    folders: tuple[Path, Path], make_model: Callable[..., EdiT5], tokens: Tokens
) -> None:
    """A target stands on its EdiT5 while what it shares stays: nothing that it writes depends on the rest."""
    folder, t5 = folders
    before = Target.load(t5, max_length=60).generate(SENTENCES)
    edit5 = EdiT5.load(folder)
    layers = read_config(t5)["shared_layers"]
    changed = []
    with torch.no_grad():
        for name, parameter in edit5.named_parameters():
            if not shared_encoder.is_shared_with_t5(name, layers):
                parameter.add_(0.1)
                changed.append(name)
    assert any(name.startswith(f"encoder.layers.{layers}.") for name in changed) == (edit5.config.num_layers > layers)
    assert "tag_head.weight" in changed and "embedding.weight" not in changed and "encoder.norm.weight" not in changed
    edit5.save(folder)
    assert Target.load(t5, max_length=60).generate(SENTENCES) == before


def test_encoders_that_are_gone_or_changed(folders: tuple[Path, Path], make_model: Callable[..., EdiT5]) -> None:
    edit5, t5 = folders
    make_model(3).save(edit5)
    with pytest.raises(ModelError, match="trained on another version of"):
        Target.load(t5)
    shutil.rmtree(edit5)
    with pytest.raises(ModelError, match="shares the encoder of edit5, which is neither at"):
        Target.load(t5)


def test_the_profile_measures_one_encoder(folders: tuple[Path, Path]) -> None:
    """As the product does, whichever of the two is named first."""
    for names in (folders, folders[::-1]):
        pair = Pair(Setup.of_models(tuple(map(str, names))))
        assert pair.target.edit5 is pair.corrector.edit5.model
