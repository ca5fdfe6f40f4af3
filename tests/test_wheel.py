"""The wheel as users get it: built, installed without the checkout in sight, and run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "edit_gec"
SHIPPED_MODELS = ("edit5-mini", "t5-mini")
SOURCE = "They was late."
DESCRIBED = (".md", "meta.json", ".LICENSE", ".txt", ".tsv", ".rules")  # they may say under which licence they are
LICENCES = re.compile(
    r"\b(?:Apache-2\.0|MIT|CC0(?: 1\.0)?|CC BY(?:-[A-Z]+)* [\d.]+\d|BSD-\d-Clause|[AL]?GPL[-v\d.]*|MPL[-\d.]*)"
)

pytestmark = pytest.mark.slow


class Built(NamedTuple):
    sdist: Path
    wheel: Path


class Installed(NamedTuple):
    python: Path
    command: Path
    packages: Path


def run(*command: str | Path, cwd: Path, stdin: str = "") -> str:
    """The standard output of a command that knows nothing of the checkout."""
    env = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist, and the wheel that is built from it."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Built(sdist, wheel)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A new environment with the wheel; its dependencies are those of the environment that runs the tests."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", built.wheel, cwd=folder)
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    # Folders that a .pth names come last, and .pth files in them (an editable install of the checkout) are not read.
    running = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "running.pth").write_text("".join(f"{path}\n" for path in sorted(running)), encoding="utf-8")
    return Installed(python, folder / "bin" / "edit-gec", packages)


def wheel_names(built: Built) -> set[str]:
    with zipfile.ZipFile(built.wheel) as wheel:
        return set(wheel.namelist())


def test_the_wheel_has_every_file_of_the_package(built: Built) -> None:
    files = {path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    expected = {path.relative_to(ROOT).as_posix() for path in files}
    assert {
        "edit_gec/py.typed",
        "edit_gec/annotation/syntax_en/config.cfg",
        "edit_gec/rules/agreement.rules",
        "edit_gec/rules/verb.tsv",
        "edit_gec/server/page/index.html",
    } <= expected
    assert expected - wheel_names(built) == set()


@pytest.mark.parametrize("model", SHIPPED_MODELS)
def test_the_wheel_has_the_shipped_models(built: Built, model: str) -> None:
    folder = ROOT / "models" / model
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"config.json", "model.safetensors", "spiece.model"} <= files
    assert {f"edit_gec/models/{model}/{name}" for name in files} - wheel_names(built) == set()


def test_the_language_model_is_where_it_is(built: Built) -> None:
    """The wheel and the sdist say which package has its weights, and carry none of them."""
    folder = ROOT / "models" / "smollm2"
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"config.json", "README.md", "onnx/weights.json"} <= files
    assert {f"edit_gec/models/smollm2/{name}" for name in files} - wheel_names(built) == set()
    assert not [name for name in wheel_names(built) if name.endswith(".gguf")]
    with tarfile.open(built.sdist) as sdist:
        names = sdist.getnames()
    assert [name for name in names if name.endswith("/models/smollm2/config.json")]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout")
def test_the_sdist_is_the_repository(built: Built) -> None:
    """Its tests read recipes, profiles, hooks and pages, and pass where it is unpacked."""
    with tarfile.open(built.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    tracked = run("git", "ls-files", "-z", cwd=ROOT).rstrip("\0").split("\0")
    assert set(tracked) - names <= {".pre-commit-config.yaml"}


def test_the_licences_are_in_both(built: Built) -> None:
    """Ours, and those of the parts that others made, with the thanks of the models."""
    models = [f"models/{name}/README.md" for name in ("edit5-mini", "smollm2", "t5-mini")]
    parts = [f"edit_gec/{name}LICENSE" for name in ("", "annotation/syntax_en/", "rules/")]
    names = [*parts, *models, "models/edit5-mini/words.LICENSE"]
    texts = {name: (ROOT / name).read_bytes() for name in names}
    with zipfile.ZipFile(built.wheel) as wheel:
        licences = {name.split(".dist-info/licenses/")[1]: name for name in wheel.namelist() if "/licenses/" in name}
        assert {name: wheel.read(path) for name, path in licences.items()} == texts
    assert sorted(read_metadata(built).get_all("License-File", [])) == sorted(names)
    with tarfile.open(built.sdist) as sdist:
        top = sdist.getnames()[0].split("/")[0]
        members = {name: sdist.extractfile(f"{top}/{name}") for name in names}
        assert {name: member.read() for name, member in members.items() if member is not None} == texts


def test_each_licence_of_a_file_is_in_the_expression(built: Built) -> None:
    """What a page, a table, or a description in the wheel says of itself. Model cards name those of training texts."""
    expected = {"Apache-2.0", "LicenseRef-SCOWL"}
    with zipfile.ZipFile(built.wheel) as wheel:
        for name in wheel.namelist():
            if name.startswith("edit_gec/") and name.endswith(DESCRIBED) and not name.startswith("edit_gec/lab/"):
                head = wheel.read(name)[:2000] if name.endswith((".txt", ".tsv")) else wheel.read(name)
                is_card = name.startswith("edit_gec/models/") and name.endswith("README.md")
                found = [] if is_card else LICENCES.findall(head.decode())
                expected |= {each.replace("CC BY", "CC-BY").replace(" ", "-") for each in found}
    assert set(read_metadata(built)["License-Expression"].split(" AND ")) == expected
    assert {"CC-BY-SA-4.0", "MIT"} <= expected


def read_metadata(built: Built) -> Message:
    with zipfile.ZipFile(built.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(wheel.read(name).decode())


def test_the_installed_package_is_the_one_that_runs(installed: Installed, tmp_path: Path) -> None:
    place = run(installed.python, "-c", "import edit_gec; print(edit_gec.__file__)", cwd=tmp_path).strip()
    assert Path(place).parent == installed.packages / "edit_gec"


def test_the_command_says_its_version(installed: Installed, built: Built, tmp_path: Path) -> None:
    version = built.wheel.name.split("-")[1]
    assert run(installed.command, "--version", cwd=tmp_path) == f"edit-gec {version}\n"


def test_the_shipped_model_corrects_a_line(installed: Installed, tmp_path: Path) -> None:
    assert run(installed.command, "correct", "-", cwd=tmp_path, stdin=f"{SOURCE}\n") == "They were late.\n"


def test_the_shipped_target_verifies_a_line(installed: Installed, tmp_path: Path) -> None:
    out = run(installed.command, "correct", "--target", "t5-mini", "-", cwd=tmp_path, stdin=f"{SOURCE}\n")
    assert out == "They were late.\n"


@pytest.mark.base
@pytest.mark.usefixtures("smollm2")
def test_the_shipped_judge_judges_a_line(installed: Installed, tmp_path: Path) -> None:
    out = run(installed.command, "correct", "--verify", "-", cwd=tmp_path, stdin=f"{SOURCE}\n")
    assert out == "They were late.\n"
