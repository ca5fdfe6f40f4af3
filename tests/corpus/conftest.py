"""The model of the tests of corpora: with graphs, so that the many processes here need no torch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edit_gec.backends.export import export


@pytest.fixture(scope="session")
def model_folder(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The random model of all tests, exported."""
    folder = tmp_path_factory.mktemp("exported") / "model"
    shutil.copytree(model_folder, folder)
    export(folder)
    return folder
