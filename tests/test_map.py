"""The map of the package: which file may import which, what stays out of a light start, and how long files get."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "edit_gec"
FILES = sorted(PACKAGE.rglob("*.py"))

# In reading order: each imports only what stands before it. A package (splitting) counts as one.
PATH = [
    *(
        "errors",
        "regions",
        "edits",
        "splitting",
        "sentences",
        "tokens",
        "batches",
        "plan",
        "linear",
        "t5",
        "int8",
        "checkpoint",
        "shortlist",
        "edit5",
        "shared",
        "collate",
        "confidence",
        "reread",
        "insertion",
        "spelling",
        "respell",
        "tagging",
        "decode",
    ),
    *("ragged", "resync", "target", "draft", "speculation", "verify", "verified", "corrector"),
]
HEAVY = ["accelerate", "errant", "lemminflect", "matplotlib", "numpy", "rich", "safetensors", "sentencepiece", "spacy"]
HEAVY += ["torch", "transformers"]


def name_of(path: Path) -> str:
    """edit_gec/annotation/m2.py -> scoring.m2; a package is its __init__."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> set[str]:
    """Modules of ours that a file imports, within functions and for type checking too."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    modules = {name_of(file) for file in FILES}
    ours = {name.removeprefix("edit_gec.") for name in found if name.startswith("edit_gec.")}
    return (ours & modules) - {name_of(path)}


def test_the_path_goes_one_way() -> None:
    for path in FILES:
        unit = name_of(path).split(".")[0]
        if unit in PATH:
            others = {name.split(".")[0] for name in imports(path)} - {unit}
            late = sorted(others - set(PATH[: PATH.index(unit)]))
            assert not late, (
                f"{path.relative_to(ROOT)} imports {', '.join(late)}, which the path does not reach before it"
            )


def test_all_of_the_path_is_there() -> None:
    assert set(PATH) <= {name_of(path).split(".")[0] for path in FILES}


def test_imports_make_no_circle() -> None:
    graph = {name_of(path): imports(path) - {name_of(path.parent / "__init__.py")} for path in FILES}
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError that names the circle
    assert order.index("errors") < order.index("corrector") < order.index("cli") < order.index("__main__")


@pytest.mark.parametrize(
    "start",
    ["import edit_gec", "import edit_gec.cli.main", "from edit_gec.cli.main import main; main(['correct', '--help'])"],
)
def test_a_light_start(start: str) -> None:
    code = f"""
import sys
try:
    {start}
except SystemExit:
    pass
print("HEAVY", [name for name in {HEAVY} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "HEAVY []", done.stdout + done.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_house_style(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, "one file, one idea"
    assert ast.get_docstring(tree(path)), "a file opens with what it is"
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno}: the library returns results"
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 100, f"{node.name} has {length} lines"


def test_nothing_of_a_developers_machine() -> None:
    """No absolute path of the place where this was written."""
    places = re.compile(r"/(work|opt/v|home|root)/\w")
    kinds = {".py", ".toml", ".md", ".yaml", ".yml"}
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [name for name in tracked.stdout.split("\0") if Path(name).suffix in kinds]
    for name in names:
        if (ROOT / name).is_file() and (ROOT / name) != Path(__file__):
            found = places.search((ROOT / name).read_text(encoding="utf-8"))
            assert not found, f"{name}: {found and found[0]}"


def test_the_readme_names_files_that_are_there() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert len(named) >= 8
    assert [name for name in named if not any((folder / name).exists() for folder in (ROOT, PACKAGE))] == []
