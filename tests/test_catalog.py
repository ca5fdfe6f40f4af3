"""Models by name, and the fingerprint that tells two folders apart."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest

from edit_gec import catalog
from edit_gec.catalog import find_model, find_pretrained, fingerprint, loaded_files
from edit_gec.corpus.run import CorpusTask, correct_corpus
from edit_gec.corrector import Corrector
from edit_gec.errors import InputError, ModelError
from edit_gec.lab.evaluation import systems

COMMIT = "0" * 40


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


def serve_hub(repository: dict[str, bytes]) -> tuple[ThreadingHTTPServer, list[str]]:
    """A hub with one model, and the names of the files that it gave."""
    given: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(is_body=False)

        def do_GET(self) -> None:
            self.answer(is_body=True)

        def answer(self, *, is_body: bool) -> None:
            path = unquote(self.path)
            name = path.partition("/resolve/")[2].partition("/")[2]  # after the revision
            if "/tree/" in path:
                files = [
                    {"type": "file", "path": each, "size": len(repository[each]), "oid": each} for each in repository
                ]
                content = json.dumps(files).encode()
            elif path.startswith("/api/models/"):
                siblings = [{"rfilename": name} for name in repository]
                content = json.dumps({"id": "someone/tiny", "sha": COMMIT, "siblings": siblings}).encode()
            else:
                content = repository[name]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if is_body:
                given.extend([name] if name else [])
                self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    return server, given


T5 = {"config.json": b'{"model_type": "t5"}', "spiece.model": b"s", "model.safetensors": b"w"}
BIN = {"config.json": b"{}", "tokenizer.json": b"t", "pytorch_model.bin": b"w", "generation_config.json": b"{ }"}
INDEX = json.dumps({"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}).encode()
SHARDED = {"config.json": b"{}", "spiece.model": b"s", "model.safetensors.index.json": INDEX,
           "model-1-of-2.safetensors": b"a", "model-2-of-2.safetensors": b"b"}  # fmt: skip
EDIT5 = {"config.json": b'{"model_type": "edit5"}', "spiece.model": b"s", "model.safetensors": b"w",
         "words.txt": b"x", "onnx/encode.onnx": b"o"}  # fmt: skip
UNREAD = {"README.md": b"", "flax_model.msgpack": b"", "training_args.bin": b"", "runs/events": b"", "tf_model.h5": b""}


@pytest.mark.parametrize(
    ("read", "unread"),
    [
        (T5, {**UNREAD, "tokenizer.json": b"", "pytorch_model.bin": b"", "onnx/encoder_model.onnx": b""}),
        (BIN, UNREAD),
        (SHARDED, UNREAD),
        (EDIT5, UNREAD),
    ],
)
@pytest.mark.parametrize("cached", [(), ("config.json",), ("config.json", "spiece.model", "tokenizer.json")])
def test_what_is_fetched_of_a_model_of_the_hub(
    read: dict[str, bytes], unread: dict[str, bytes], cached: tuple[str, ...], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """All files that are read and no others; a snapshot that others have left incomplete is completed."""
    constants = pytest.importorskip("huggingface_hub.constants")
    from huggingface_hub import hf_hub_download

    server, given = serve_hub({**read, **unread})
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    hub = f"http://127.0.0.1:{server.server_port}"
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", hub)
    try:
        for name in set(cached) & read.keys():
            hf_hub_download("someone/tiny", name)
        folder = find_pretrained("someone/tiny")
        assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(read)
        assert sorted(given) == sorted(read)  # each once
    finally:
        server.shutdown()
        server.server_close()
    assert find_pretrained("someone/tiny") == folder  # without the hub


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
    assert bool(graphs) == (corrector.edit5.network.backend == "onnx")


def test_a_changed_list_of_words_is_another_model(folder: Path, tmp_path: Path) -> None:
    """Scores carry other signatures, and a corpus job does not go on."""
    (tmp_path / "in.txt").write_text("She go home.\n")
    options = {"model": str(folder)}
    task = CorpusTask(str(tmp_path / "in.txt"), str(tmp_path / "out"), names_types=False, options=options, workers=1)
    quiet = partial(correct_corpus, task, lambda line: None, is_quiet=True)

    def identity() -> str:
        systems.load_corrector.cache_clear()
        return systems.ScoredSystem("edit-gec", str(folder)).identify_model()

    before = identity()
    assert quiet()["rows"] == quiet()["rows"] == 1  # it goes on where nothing changed
    words = folder / "words.txt"
    words.write_text("zyzzyva\t1\n" + words.read_text(encoding="utf-8"), encoding="utf-8")
    assert identity() != before
    with pytest.raises(InputError, match="holds a job with other settings"):
        quiet()
