"""A real vocabulary from hand-written sentences and a tiny EdiT5 that was never trained: all that the laws need."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from edit_gec.backends.network import Network
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Tokens

if "PYTEST_XDIST_WORKER" in os.environ:  # they share the cores; torch, imported later, starts threads for all
    os.environ.setdefault("OMP_NUM_THREADS", "1")

PROSE = Path(__file__).parent.parent / "data" / "samples" / "prose.txt"
SLOTS = 40


@pytest.fixture(autouse=True, scope="module")
def frozen_heap() -> None:
    """What earlier modules leave is not looked through again when a test collects garbage, which took seconds."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def no_words_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The user's own words, which every front reads, are those of nobody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="session")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    """Our kind of vocabulary: identity normalisation, byte fallback, so that every string can be said."""
    from edit_gec.modeling.tokenizer import Tokens, train_vocabulary

    folder = tmp_path_factory.mktemp("vocabulary")
    train_vocabulary(PROSE, folder, size=600, threads=1)
    return Tokens.load(folder, SLOTS)


@pytest.fixture(scope="session")
def t5_tokens(tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    """T5's kind of vocabulary: NFKC, spaces folded, no byte fallback: what it does not know is <unk>."""
    import sentencepiece

    from edit_gec.modeling.tokenizer import FILE, Tokens

    folder = tmp_path_factory.mktemp("t5")
    sentencepiece.SentencePieceTrainer.train(
        input=str(PROSE), model_prefix=str(folder / "spiece"), vocab_size=350, model_type="unigram",
        normalization_rule_name="nmt_nfkc", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, num_threads=1, minloglevel=2,
    )  # fmt: skip
    assert (folder / FILE).exists()
    return Tokens.load(folder, SLOTS)


@pytest.fixture(scope="session")
def shipped() -> Tokens:
    """The vocabulary of the model that we ship: for cases that are meant to be read."""
    from edit_gec.modeling.tokenizer import Tokens

    return Tokens.load(Path(__file__).parent.parent / "models" / "edit5-mini", 192)


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The folder of the language model, where the weights that it names are installed."""
    from edit_gec.catalog import find_model
    from edit_gec.errors import ModelError
    from edit_gec.modeling.bases import find_base

    folder = find_model("smollm2")
    try:
        find_base(folder)
    except ModelError as error:
        pytest.skip(str(error))
    return folder


@pytest.fixture(autouse=True)
def skipped_without_base(request: pytest.FixtureRequest) -> None:
    """A test that is marked `base` needs these weights, whatever it asks for."""
    if request.node.get_closest_marker("base"):
        request.getfixturevalue("smollm2")


@pytest.fixture(scope="session")
def make_model(tokens: Tokens) -> Callable[..., EdiT5]:
    """make_model(seed, **shape): a random two-layer model in evaluation mode, on one thread."""
    import torch

    from edit_gec.modeling.config import EdiT5Config
    from edit_gec.modeling.edit5 import EdiT5

    torch.set_num_threads(1)
    tiny: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 2, "point_width": 16}

    def make(seed: int = 0, **shape: Any) -> EdiT5:
        torch.manual_seed(seed)
        return EdiT5(EdiT5Config(**{"vocab_size": tokens.size, "slots": SLOTS, **tiny, **shape})).eval()

    return make


@pytest.fixture(scope="session")
def model(make_model: Callable[..., EdiT5]) -> EdiT5:
    """A random model that edits most sentences, in every way: tags of all kinds, moves, insertions that end."""
    import torch

    model = make_model(1)
    with torch.no_grad():
        model.point_distance[9] /= 2  # the next piece is not always next
        model.embedding.weight[1] *= 16  # </s>: hardly any insertion would end
    return model


@pytest.fixture(scope="session")
def model_folder(model: EdiT5, tokens: Tokens, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That model and its vocabulary, saved."""
    from edit_gec.modeling.tokenizer import FILE

    folder = tmp_path_factory.mktemp("model")
    model.save(folder)
    (folder / FILE).write_bytes(tokens.processor.serialized_model_proto())
    return folder


@pytest.fixture(scope="session", params=["torch", "onnx"])
def network(
    request: pytest.FixtureRequest, model: EdiT5, model_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Network:
    """That model run by each backend: what holds for one holds for the other."""
    if request.param == "torch":
        from edit_gec.backends.torch_network import TorchNetwork

        return TorchNetwork(model)
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from edit_gec.backends.export import export
    from edit_gec.backends.onnx_network import OnnxNetwork

    folder = tmp_path_factory.mktemp("exported") / "model"
    shutil.copytree(model_folder, folder)
    export(folder)
    return OnnxNetwork.load(folder)
