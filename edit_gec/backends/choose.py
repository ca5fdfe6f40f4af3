"""Which backend runs a model: ONNX Runtime if possible, torch if needed or requested."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from edit_gec.backends.sessions import FOLDER, REMEDY, graph_files, has_graphs
from edit_gec.errors import InputError, MissingExtraError
from edit_gec.modeling.processor import multiplies_bytes


def choose_backend(folder: Path, requested: str, reason: str | None) -> str:
    """ "onnx" or "torch" for a model folder. `reason` says what needs torch, if anything does.

    Raises InputError if the requested backend cannot run the model, MissingExtraError if the one that can is not
    installed.
    """
    if requested == "onnx" and reason:
        raise InputError(f"backend onnx: {reason} needs torch; leave the backend out")
    if requested == "onnx" and not has_graphs(folder):
        raise InputError(f"backend onnx: {folder} has no graphs; {REMEDY} {folder}")
    installed = {name for name in ("onnxruntime", "torch") if find_spec(name)}
    if (
        requested != "torch"
        and not reason
        and has_graphs(folder)
        and (requested == "onnx" or "onnxruntime" in installed)
    ):
        if "onnxruntime" not in installed:
            raise MissingExtraError("backend onnx needs onnxruntime; install it: pip install onnxruntime")
        return "onnx"
    if "torch" not in installed:
        what = reason or ("backend torch" if requested == "torch" else f"{folder.name}, which has no graphs,")
        raise MissingExtraError(f"{what} needs torch; install it: pip install '.[torch]' in edit-gec's folder")
    return "torch"


def choose_int8(folder: Path, precision: str) -> bool:
    """Whether products are computed in int8; with "auto" where the processor is fast at it. Raises InputError where
    int8 is requested and the folder has no such graphs."""
    there = all((folder / FOLDER / name).is_file() for name in graph_files(int8=True))
    if precision == "int8" and not there:
        raise InputError(f"precision int8: {folder} has no graphs for it, its weights are not in bytes; leave it out")
    if precision == "auto":
        return there and multiplies_bytes()
    return precision == "int8"


def count_cores() -> int:
    """The cores that this process may use: OMP_NUM_THREADS of them, as for torch, or all."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdecimal() and int(limit):
        return int(limit)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
