"""A package that is missing is named with the extra that has it; a module of ours that is missing is a bug."""

from __future__ import annotations

import pytest

from edit_gec.cli.extras import needing, require
from edit_gec.errors import MissingExtraError


def test_what_is_there_is_no_error() -> None:
    require("score", "json", "score")
    with needing("score", "score"):
        pass


def test_a_required_package() -> None:
    message = r"^score needs no_such; install it: pip install '\.\[score\]' in edit-gec's folder$"
    with pytest.raises(MissingExtraError, match=message):
        require("score", "no_such", "score")


@pytest.mark.parametrize(("extra", "package"), [("lsp", r"'\.\[lsp\]'"), (None, r"\.")])
def test_a_package_that_turns_out_to_be_missing(extra: str | None, package: str) -> None:
    message = rf"^lsp needs no_such\.part; install it: pip install {package} in edit-gec's folder$"
    with pytest.raises(MissingExtraError, match=message), needing("lsp", extra):
        raise ModuleNotFoundError(name="no_such.part")


@pytest.mark.parametrize("name", ["edit_gec.lsp.gone", "edit_gec", None])
def test_our_own_bugs_stay_what_they_are(name: str | None) -> None:
    with pytest.raises(ModuleNotFoundError), needing("lsp", "lsp"):
        raise ModuleNotFoundError(name=name)
