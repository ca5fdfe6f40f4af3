"""The map of the package: which room may import which, what a light start leaves out, and how large functions get."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "edit_gec"
# tests/cli/test_old_names.py runs them
OLD_NAMES = {"score", "word_list", "learner_corpora", "speculator", "scoring", "corpora"}
FILES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0].removesuffix(".py") not in OLD_NAMES
)

# The rooms in order, the doors of the package (__init__, __main__) among them. A room imports only rooms of earlier
# lines. Rooms of one line never import each other.
ORDER = (
    ("errors",),
    ("version",),
    ("tracing",),
    ("text",),
    ("config",),
    ("catalog",),
    ("modeling",),
    ("backends",),
    ("annotation",),
    ("editing",),
    ("speculative",),
    ("corrector",),
    ("runtime",),
    ("__init__",),
    ("evaluation",),
    ("training", "performance"),
    ("corpus", "server", "lsp"),
    ("cli",),
    ("__main__",),
)
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}

# Arrows that break the rule today. The test fails when one of them is gone, so that the list only shrinks.
KNOWN_ARROWS: set[str] = set()

# Arrows within a room that close a circle today; likewise.
KNOWN_CIRCLES: set[tuple[str, str]] = set()

LONGEST_FUNCTION = 50  # lines, from `def` to the end
SIZE_RULES = "C901,PLR0913,PLR0915"  # branches, parameters, statements: the bars are in pyproject.toml

# Functions that are too large today; this list only shrinks, too.
KNOWN_LARGE: set[str] = set()

HEAVY = ["accelerate", "errant", "lemminflect", "matplotlib", "numpy", "rich", "safetensors", "sentencepiece", "spacy"]
HEAVY += ["torch", "transformers"]

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Counts(NamedTuple):
    """How large the map is."""

    rooms: int  # files and packages at the top level
    floors: int  # rooms on the longest chain of imports
    arrows: int  # pairs of rooms of which one imports the other


def module_name(path: Path) -> str:
    """edit_gec/annotation/m2.py -> annotation.m2; a package is its __init__."""
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    return name if name == "__init__" else name.removesuffix(".__init__")


def room_of(module: str) -> str:
    return module.partition(".")[0]


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def imported_modules(path: Path) -> frozenset[str]:
    """Modules of ours that a file imports, within functions and for type checking too."""
    names: set[str] = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    modules = {module_name(file) for file in FILES}
    ours = {name.removeprefix("edit_gec.") for name in names if name.startswith("edit_gec.")} & modules
    if "edit_gec" in names and not ours:
        ours = {"__init__"}
    return frozenset(ours - {module_name(path)})


def forbidden_arrows() -> set[str]:
    """Every import that the order does not allow, as `file -> module`."""
    arrows = set()
    for path in FILES:
        room = room_of(module_name(path))
        for module in imported_modules(path):
            other = room_of(module)
            if other != room and FLOOR[other] >= FLOOR[room]:
                arrows.add(f"{path.relative_to(PACKAGE)} -> {module}")
    # `from package.module import name` imports the package as well: the module says it all.
    return {arrow for arrow in arrows if not any(other.startswith(f"{arrow}.") for other in arrows)}


def room_graph() -> dict[str, set[str]]:
    """For each room those that it may import and does."""
    graph: dict[str, set[str]] = {}
    for path in FILES:
        room = room_of(module_name(path))
        others = {room_of(module) for module in imported_modules(path)}
        graph.setdefault(room, set()).update(other for other in others if FLOOR[other] < FLOOR[room])
    return graph


def count_map() -> Counts:
    graph = room_graph()
    depth: dict[str, int] = {}
    for room in TopologicalSorter(graph).static_order():
        depth[room] = 1 + max((depth[other] for other in graph[room]), default=0)
    return Counts(len(graph), max(depth.values()), sum(map(len, graph.values())))


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(parse(path)) if isinstance(node, Function))


def large_functions() -> dict[str, str]:
    """`file: function` for each function over a bar -> which bar."""
    command = [sys.executable, "-m", "ruff", "check", "--select", SIZE_RULES, "--output-format", "json", str(PACKAGE)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    findings = {(found["filename"], found["location"]["row"]): found["message"] for found in json.loads(done.stdout)}
    large = {}
    for path in FILES:
        for function in functions(path):
            lines = (function.end_lineno or 0) - function.lineno + 1
            found = findings.pop((str(path), function.lineno), None)
            if found or lines > LONGEST_FUNCTION:
                large[f"{path.relative_to(PACKAGE)}: {function.name}"] = found or f"{lines} lines > {LONGEST_FUNCTION}"
    assert not findings, findings
    return large


def test_every_file_has_a_room() -> None:
    assert {room_of(module_name(path)) for path in FILES} <= set(FLOOR)


def test_rooms_import_only_rooms_before_them() -> None:
    arrows = forbidden_arrows()
    added, gone = sorted(arrows - KNOWN_ARROWS), sorted(KNOWN_ARROWS - arrows)
    assert not added, "imports against the order of the rooms:\n" + "\n".join(added)
    assert not gone, "no longer there, take them out of KNOWN_ARROWS:\n" + "\n".join(gone)


def test_the_map_can_be_counted() -> None:
    counts = count_map()
    print(f"\n{counts.rooms} rooms, {counts.floors} floors, {counts.arrows} arrows")  # noqa: T201
    assert counts.floors <= len(ORDER)
    assert counts.rooms - 1 <= counts.arrows, "every room but the first imports something or is imported"


def test_imports_make_no_circle() -> None:
    graph = {}
    for path in FILES:
        module = module_name(path)
        graph[module] = {name for name in imported_modules(path) if not module.startswith(f"{name}.")}
    for module, other in KNOWN_CIRCLES:
        assert other in graph[module], f"{module} -> {other} is gone, take it out of KNOWN_CIRCLES"
        graph[module].remove(other)
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError that names the circle
    assert order.index("errors") < order.index("corrector") < order.index("__main__")


@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="needs ruff (pip install 'edit-gec[dev]')")
def test_functions_stay_small() -> None:
    large = large_functions()
    added = sorted(f"{name} ({large[name]})" for name in large.keys() - KNOWN_LARGE)
    gone = sorted(KNOWN_LARGE - large.keys())
    assert not added, "functions that are too large:\n" + "\n".join(added)
    assert not gone, "small by now, take them out of KNOWN_LARGE:\n" + "\n".join(gone)


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
def test_files_say_what_they_are_and_never_print(path: Path) -> None:
    assert ast.get_docstring(parse(path)), "expected a docstring at the top of the file"
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno}: the library returns results"


def test_no_path_of_a_developers_machine() -> None:
    places = re.compile(r"/(work|opt/v|home|root)/\w")
    kinds = {".py", ".toml", ".md", ".yaml", ".yml"}
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [name for name in tracked.stdout.split("\0") if Path(name).suffix in kinds]
    for name in names:
        if (ROOT / name).is_file() and (ROOT / name) != Path(__file__):
            found = places.search((ROOT / name).read_text(encoding="utf-8"))
            assert not found, f"{name}: {found and found[0]}"


def pages() -> list[Path]:
    """Every Markdown page and recipe of the repository, as paths from its root."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [Path(name) for name in tracked.stdout.split("\0")]
    return [name for name in names if name.suffix in {".md", ".toml"} and (ROOT / name).is_file()]


@pytest.mark.parametrize("page", pages(), ids=str)
def test_pages_name_what_is_there(page: Path) -> None:
    """Links lead somewhere, and modules that are run exist."""
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if not re.match(r"https?:|mailto:", link)]
    assert [link for link in links if not (ROOT / page.parent / link).exists()] == []
    modules = {name.rstrip(".") for name in re.findall(r"python -m edit_gec\.([\w.]+)", text)}
    assert modules - {module_name(path) for path in FILES} == set()
    named = re.findall(r"(?<![\w/.])((?:edit_gec|tests)/[\w/]+\.py)\b", text)
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_the_architecture_page_is_true() -> None:
    """It names every room, the order in which they import, and only files that are there."""
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    rooms = {room for path in FILES if not (room := room_of(module_name(path))).startswith("__")}
    tree = text.partition("## Rooms")[2].partition("##")[0]
    listed = set(re.findall(r"(\w+)(?:/|\.py)(?=\s)", tree))
    assert rooms - listed == set()
    rule = text.partition("## Import rule")[2].partition("`")[0]
    floors = [
        tuple(re.findall(r"\w+", floor)) for floor in re.findall(r"\{[^}]*\}|\w+(?=\s*<)|(?<=< )\w+$", rule, re.M)
    ]
    assert tuple(floors) == tuple(floor for floor in ORDER if not floor[0].startswith("__"))
    named = set(re.findall(r"`([\w/]+\.py)`", text))
    assert len(named) >= 8
    assert [name for name in named if not (PACKAGE / name).exists() and not (ROOT / name).exists()] == []
