"""Packages that only some commands need: what to install where one is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib.util import find_spec

from edit_gec.errors import MissingExtraError

WHERE = " in edit-gec's folder"  # the name on a registry is not ours


def require(what: str, package: str, extra: str) -> None:
    """Raises MissingExtraError where a package is not installed, before anything is done."""
    if find_spec(package) is None:
        raise MissingExtraError(f"{what} needs {package}; install it: pip install '.[{extra}]'{WHERE}")


@contextlib.contextmanager
def needing(what: str, extra: str | None) -> Iterator[None]:
    """Raise MissingExtraError, which says what to install, where a third-party package is missing.

    A missing module of our own is a bug and stays a ModuleNotFoundError.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if not error.name or error.name.partition(".")[0] == "edit_gec":
            raise
        package = f"'.[{extra}]'" if extra else "."
        raise MissingExtraError(f"{what} needs {error.name}; install it: pip install {package}{WHERE}") from None
