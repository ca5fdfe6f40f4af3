"""Which models there are, where their folders lie, and what tells two of them apart.

>>> find_model("edit5-mini").name
'edit5-mini'
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from edit_gec.errors import MissingExtraError, ModelError

DEFAULT_MODEL = "edit5-mini"
DEFAULT_TARGET = "t5-mini"
CONFIG = "config.json"
_HERE = Path(__file__).resolve().parent
MODEL_FOLDERS = (_HERE / "models", _HERE.parent / "models")  # in the wheel; in a checkout
LOADED_SUFFIXES = (".json", ".model", ".onnx", ".safetensors")
LOADED_NAMES = ("words.txt",)
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
    """Folder of a model given by name, by path, or by its id on the Hugging Face hub, as owner/name.

    What is in the local cache of the hub is taken from there, without the network; `revision` is a branch, tag or
    commit. Raises ModelError where there is no such model, or no way to it.
    """
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
    files = [f"*{suffix}" for suffix in LOADED_SUFFIXES] + list(LOADED_NAMES)
    try:
        try:
            folder = snapshot_download(str(model), revision=revision, allow_patterns=files, local_files_only=True)
        except FileNotFoundError:  # not in the cache
            folder = snapshot_download(str(model), revision=revision, allow_patterns=files)
    except Exception as error:  # of the hub's client, of the network below it, or of the disk
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        way = "give a folder, or fetch it first where there is a network (hf download)"
        raise ModelError(
            f"model {str(model)!r}: no such folder, and the hub does not give it ({reason}); {way}"
        ) from None
    return find_model(folder)


def model_names() -> list[str]:
    """Names of the models that came with the package or lie in the checkout."""
    return sorted({path.parent.name for folder in MODEL_FOLDERS for path in folder.glob(f"*/{CONFIG}")})


def loaded_files(folder: Path) -> list[Path]:
    """The files of a model folder that decide what it does, in a fixed order: all that a loader reads."""
    files = (path for path in folder.rglob("*") if path.suffix in LOADED_SUFFIXES or path.name in LOADED_NAMES)
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
