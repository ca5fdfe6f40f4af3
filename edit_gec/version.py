"""The version of edit-gec, said in one place: `version()`, which is also `edit_gec.__version__`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

PACKAGE = "edit-gec"
UNKNOWN = "0+uninstalled"
_PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
_VERSION = re.compile(rf'^name = "{PACKAGE}"\nversion = "([^"]+)"$', re.MULTILINE)


@cache
def version() -> str:
    """The version of the code that runs: from its own pyproject.toml in a checkout, else of the installed package."""
    try:
        found = _VERSION.search(_PYPROJECT.read_text(encoding="utf-8"))
    except OSError:
        found = None
    if found:
        return found[1]
    from importlib.metadata import PackageNotFoundError  # takes 25 ms to import
    from importlib.metadata import version as installed

    try:
        return installed(PACKAGE)
    except PackageNotFoundError:
        return UNKNOWN
