"""Models by name, and the fingerprint that tells two folders apart."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from edit_gec import catalog
from edit_gec.catalog import find_model, find_pretrained, fingerprint, loaded_files
from edit_gec.corpus.run import CorpusTask, correct_corpus
from edit_gec.corrector import Corrector
from edit_gec.errors import InputError, ModelError
from edit_gec.evaluation import systems


def test_a_model_is_found_by_name_and_by_folder(model_folder: Path) -> None:
    shipped = find_model(catalog.DEFAULT_MODEL)
    assert (shipped.name, find_model(shipped), find_model(str(model_folder))) == ("edit5-mini", shipped, model_folder)
    with pytest.raises(ModelError, match=r"model 'edit5-mino': neither a model folder nor one of .*t5-mini$"):
        find_model("edit5-mino")


def test_a_model_of_the_hub_is_taken_from_its_cache(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the network: what is in the cache is found, all else is one clear line."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    commit = "0" * 40
    cached = tmp_path / "models--someone--tiny" / "snapshots" / commit
    shutil.copytree(model_folder, cached)
    (cached.parent.parent / "refs").mkdir()
    (cached.parent.parent / "refs" / "main").write_text(commit)
    assert find_pretrained("someone/tiny") == find_pretrained("someone/tiny", commit) == cached
    for unknown in ("someone/else", "models/no-such-folder"):
        with pytest.raises(
            ModelError, match=f"model '{unknown}': no such folder, and the hub does not give it"
        ) as made:
            find_pretrained(unknown)
        assert "\n" not in str(made.value)
    for unknown in ("edit5-mino", "/no/such/folder", "./nope", "../models/nope"):
        with pytest.raises(ModelError, match="neither a model folder nor one of"):
            find_pretrained(unknown)


@pytest.fixture(params=["torch", "onnx"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, model_folder: Path) -> Path:
    """A complete model folder, with a list of words and a heads folder below it; for one backend with its graphs."""
    shutil.copytree(model_folder, tmp_path / "model")
    if request.param == "onnx":
        pytest.importorskip("onnx")
        from edit_gec.backends.export import export

        export(tmp_path / "model")
    shutil.copy(find_model(catalog.DEFAULT_MODEL) / "words.txt", tmp_path / "model")
    (tmp_path / "model" / "drafter").mkdir()
    (tmp_path / "model" / "drafter" / "config.json").write_text("{}")
    return tmp_path / "model"


def test_every_file_that_is_loaded_counts(folder: Path) -> None:
    seen = [fingerprint(folder)]
    for path in loaded_files(folder):
        whole = path.read_bytes()
        path.write_bytes(whole + b" ")
        seen.append(fingerprint(folder))
        path.write_bytes(whole)
    (folder / "spiece.model").rename(folder / "other.model")
    seen.append(fingerprint(folder))
    assert len(set(seen)) == len(seen) == len(loaded_files(folder)) + 2
    (folder / "other.model").rename(folder / "spiece.model")
    (folder / "README.md").write_text("A card.")
    assert fingerprint(folder) == seen[0]


def test_what_the_loader_opens_is_what_counts(folder: Path) -> None:
    opened: set[str] = set()
    listening = [True]

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if listening[0] and event == "open" and str(arguments[0]).startswith(str(folder)):
            opened.add(str(arguments[0]))

    sys.addaudithook(hear)  # hears what Python opens; safetensors opens its file itself
    corrector = Corrector.load(folder, threads=1)
    listening[0] = False
    counted = {str(path) for path in loaded_files(folder)}
    assert {Path(path).name for path in opened} >= {"config.json", "spiece.model", "words.txt"}
    assert opened <= counted
    graphs = {path for path in opened if path.endswith(".onnx")}
    assert bool(graphs) == (corrector.network.backend == "onnx")


def test_a_changed_list_of_words_is_another_model(folder: Path, tmp_path: Path) -> None:
    """Scores carry other signatures, and a corpus job does not go on."""
    (tmp_path / "in.txt").write_text("She go home.\n")
    options = {"model": str(folder)}
    task = CorpusTask(str(tmp_path / "in.txt"), str(tmp_path / "out"), names_types=False, options=options, workers=1)
    quiet = partial(correct_corpus, task, lambda line: None, is_quiet=True)

    def identity() -> str:
        systems.load_corrector.cache_clear()
        return systems.identify_model(str(folder), None)

    before = identity()
    assert quiet()["rows"] == quiet()["rows"] == 1  # it goes on where nothing changed
    words = folder / "words.txt"
    words.write_text("zyzzyva\t1\n" + words.read_text(encoding="utf-8"), encoding="utf-8")
    assert identity() != before
    with pytest.raises(InputError, match="holds a job with other settings"):
        quiet()
