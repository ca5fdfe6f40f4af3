"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WITH_EXAMPLES = [path for path in sorted((ROOT / "edit_gec").rglob("*.py")) if ">>> " in path.read_text("utf-8")]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", [module_name(path) for path in WITH_EXAMPLES])
def test_examples(name: str) -> None:
    """Examples of a module whose optional dependencies are not installed are left out."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("edit_gec"):
            raise
        pytest.skip(f"needs {error.name}")
    results = doctest.testmod(module)
    assert results.failed == 0, "see the report above"
