"""With this folder in PYTHONPATH every process has a model that dies of one word and fails at another.

All else is the real thing. Python imports this file when it starts, also in processes that Ray or multiprocessing
start; the model is replaced when, and where, edit_gec.editing.predictor is imported.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import signal
import sys
from typing import Any

DEADLY, FAULTY = "basilisk", "gremlin"


class Arm(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "edit_gec.editing.predictor":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None
        run = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            run(module)
            module.EdiT5Predictor.predict = fragile(module.EdiT5Predictor.predict)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def fragile(predict: Any) -> Any:
    def correct_or_die(self: Any, windows: Any) -> Any:
        text = " ".join(window.pieces.source for window in windows)
        if DEADLY in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if FAULTY in text:
            raise IndexError("a gremlin")
        return predict(self, windows)

    return correct_or_die


sys.meta_path.insert(0, Arm())
