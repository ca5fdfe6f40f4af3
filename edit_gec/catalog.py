"""Which models there are, where their folders lie, and what tells two of them apart.

>>> find_model("edit5-mini").name
'edit5-mini'
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from edit_gec.errors import MissingExtraError, ModelError

DEFAULT_MODEL = "edit5-mini"
DEFAULT_TARGET = "t5-mini"
DEFAULT_JUDGE = "smollm2"
CONFIG = "config.json"
GGUF = ".gguf"  # a language model in one file
_HERE = Path(__file__).resolve().parent
MODEL_FOLDERS = (_HERE / "models", _HERE.parent / "models")  # in the wheel; in a checkout
LOADED_SUFFIXES = (".json", ".model", ".onnx", ".safetensors")
LOADED_NAMES = ("words.txt", "pytorch_model*.bin")
# What is read of a model on the hub: of an EdiT5; of a T5, where the second kind is read if the first is not there.
OF_EDIT5 = ("*.json", "*.model", "*.onnx", "*.safetensors", "words.txt")
OF_T5 = (CONFIG, "generation_config.json", "drafter/config.json", "drafter/model.safetensors")
VOCABULARY = (("spiece.model",), ("tokenizer.json",))
WEIGHTS = (
    ("model.safetensors.index.json", "model.safetensors", "model-*.safetensors"),
    ("pytorch_model.bin.index.json", "pytorch_model.bin", "pytorch_model-*.bin"),
)
_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # owner/name
_BLOCK = 1 << 20  # bytes read at a time


def find_model(model: str | Path) -> Path:
    """Folder of a model given by name or path. Raises ModelError that names the models there are."""
    places = [Path(model), *(folder / model for folder in MODEL_FOLDERS)]
    for place in places:
        if (place / CONFIG).is_file():
            return place
    names = ", ".join(model_names()) or "ours (none here)"
    raise ModelError(f"model {str(model)!r}: neither a model folder nor one of {names}")


def find_pretrained(model: str | Path, revision: str | None = None) -> Path:
    """Folder of a model given by name, by path, or by its id on the Hugging Face hub, as owner/name; or a GGUF file.

    What is complete in the local cache of the hub is taken from there, without the network; `revision` is a branch, tag
    or commit. Only files that are read are fetched. Raises ModelError where there is no such model, or no way to it.
    """
    if Path(model).suffix == GGUF and Path(model).is_file():
        return Path(model)
    try:
        return find_model(model)
    except ModelError:
        if not _HUB_ID.fullmatch(str(model)):
            raise
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"model {str(model)!r}: no such folder; for models of the hub: pip install huggingface_hub"
        ) from None

    def fetch(*files: str, **how: bool) -> Path:
        options: dict[str, Any] = {"revision": revision, "allow_patterns": list(files), **how}
        return Path(snapshot_download(str(model), **options))

    try:
        try:
            folder = fetch(local_files_only=True)
            is_there = _is_complete(folder)
        except FileNotFoundError:  # not in the cache
            is_there = False
        if not is_there:
            folder = _fetch_model(fetch)
    except Exception as error:  # of the hub's client, of the network below it, or of the disk
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        way = "give a folder, or fetch it first where there is a network (hf download)"
        raise ModelError(
            f"model {str(model)!r}: no such folder, and the hub does not give it ({reason}); {way}"
        ) from None
    return find_model(folder)


def _fetch_model(fetch: Callable[..., Path]) -> Path:
    """The folder with all files of a model that are read; `fetch` brings the files that there are of some patterns."""
    folder = fetch(CONFIG)
    if json.loads((folder / CONFIG).read_bytes()).get("model_type") == "edit5":
        return fetch(*OF_EDIT5)
    for first, second in (VOCABULARY, WEIGHTS):
        fetch(*OF_T5, *first)  # the hub's client warns where it finds nothing
        if not _present(folder, first):
            fetch(*second)
    return folder


def _is_complete(folder: Path) -> bool:
    """Whether a snapshot in the hub's cache has its configuration, a vocabulary, and all its weights."""
    indices = [folder / index for index, *_ in WEIGHTS if (folder / index).is_file()]
    shards = {name for index in indices[:1] for name in json.loads(index.read_bytes())["weight_map"].values()}
    return (
        (folder / CONFIG).is_file()
        and any(_present(folder, files) for files in VOCABULARY)
        and any(_present(folder, files) for files in WEIGHTS)
        and all((folder / name).is_file() for name in shards)
    )


def _present(folder: Path, patterns: tuple[str, ...]) -> list[str]:
    """The files of a folder that fit one of the patterns, indices aside."""
    names = [path.name for path in folder.iterdir() if path.is_file() and not path.name.endswith(".index.json")]
    return [name for name in names if any(fnmatch(name, pattern) for pattern in patterns)]


def model_names() -> list[str]:
    """Names of the models that came with the package or lie in the checkout."""
    return sorted({path.parent.name for folder in MODEL_FOLDERS for path in folder.glob(f"*/{CONFIG}")})


def loaded_files(folder: Path) -> list[Path]:
    """The files of a model folder that decide what it does, in a fixed order: all that a loader reads."""
    if folder.is_file():
        return [folder]
    patterns = (*(f"*{suffix}" for suffix in LOADED_SUFFIXES), *LOADED_NAMES)
    files = (path for path in folder.rglob("*") if any(fnmatch(path.name, pattern) for pattern in patterns))
    return sorted(path for path in files if path.is_file())


def fingerprint(folder: str | Path) -> str:
    """A hash of all files that a loader reads, names included: 16 hexadecimal digits.

    Two folders with the same fingerprint make the same corrections; READMEs and recipes have no say in it.
    """
    folder = Path(folder)
    digest = hashlib.sha256()
    for path in loaded_files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()[:16]
