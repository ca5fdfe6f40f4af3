"""The map of the package: which room may import which, what a light start leaves out, and how large functions get."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "edit_gec"
FILES = sorted(PACKAGE.rglob("*.py"))

# The rooms in order, the doors of the package (__init__, __main__) among them. A room imports only rooms of earlier
# lines. Rooms of one line never import each other.
ORDER = (
    ("errors",),
    ("version",),
    ("tracing",),
    ("text",),
    ("rules",),
    ("config",),
    ("catalog",),
    ("modeling",),
    ("backends",),
    ("annotation",),
    ("editing",),
    ("speculative",),
    ("loading",),
    ("corrector",),
    ("runtime",),
    ("__init__",),
    ("lab", "corpus", "server", "lsp"),
    ("cli",),
    ("__main__",),
)
# A front corrects text: it knows how to ask for that, and nothing of how it is done.
FRONTS = ("corpus", "server", "lsp")
SEEN_BY_FRONTS = {"errors", "version", "tracing", "text", "config", "catalog", "corrector", "runtime"}
# Who corrects text loads nothing of the laboratory: these commands are its doors.
LAB_COMMANDS = {f"cli.{name}" for name in ("bench", "corrupt", "label", "profile", "score", "train")}
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}

LONGEST_FUNCTION = 50  # lines, from `def` to the end; ruff counts branches, parameters and statements

HEAVY = [
    "accelerate",
    "errant",
    "lemminflect",
    "matplotlib",
    "numpy",
    "onnxruntime",
    "rich",
    "safetensors",
    "sentencepiece",
    "spacy",
]
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


MODULES = {module_name(file) for file in FILES}


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
    ours = {name.removeprefix("edit_gec.") for name in names if name.startswith("edit_gec.")} & MODULES
    if "edit_gec" in names and not ours:
        ours = {"__init__"}
    return frozenset(ours - {module_name(path)} if path.is_relative_to(PACKAGE) else ours)


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


def test_every_file_has_a_room() -> None:
    assert {room_of(module_name(path)) for path in FILES} <= set(FLOOR)


def test_rooms_import_only_rooms_before_them() -> None:
    arrows = forbidden_arrows()
    assert not arrows, "imports against the order of the rooms:\n" + "\n".join(sorted(arrows))


def test_fronts_see_the_corrector_only() -> None:
    graph = room_graph()
    assert {front: graph[front] - SEEN_BY_FRONTS for front in FRONTS} == {front: set() for front in FRONTS}


def test_the_product_does_without_the_laboratory() -> None:
    doors = {module_name(path) for path in FILES if any(room_of(name) == "lab" for name in imported_modules(path))}
    assert {door for door in doors if room_of(door) != "lab"} == LAB_COMMANDS


# Names of classes that stand in two files, by what their rooms call so; no other may come.
SHARED_NAMES = set("Arguments Document Edit Language Options RelativeBias Row Writer _Reader".split())


def test_one_word_is_one_thing() -> None:
    """A class has a name of its own; `Arguments` are those of each command."""
    names = Counter(node.name for path in FILES for node in ast.walk(parse(path)) if isinstance(node, ast.ClassDef))
    assert {name for name, count in names.items() if count > 1} == SHARED_NAMES


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
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError that names the circle
    assert order.index("errors") < order.index("corrector") < order.index("runtime.async_corrector")


def test_functions_stay_short() -> None:
    lengths = {
        f"{path.relative_to(PACKAGE)}: {function.name}": (function.end_lineno or 0) - function.lineno + 1
        for path in FILES
        for function in functions(path)
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FUNCTION} == {}


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
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120] == [], "ruff lets long words and comments for mypy pass"
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno}: the library returns results"


# Modules that are tested through others: which test exercises them.
TESTED_BY = {
    "__main__": "cli/test_cli.py",
    "backends.graphs": "backends/test_onnx_network.py",
    "cli.bench": "lab/performance/test_side_by_side.py",
    "cli.corpus": "corpus/test_corpus.py",
    "cli.correct": "cli/test_cli.py",
    "cli.correct_inputs": "cli/test_cli.py",
    "cli.correct_output": "cli/test_cli.py",
    "cli.corrupt": "lab/training/test_corruptor.py",
    "cli.export": "backends/test_onnx_network.py",
    "cli.label": "lab/training/test_label.py",
    "cli.lsp": "lsp/test_lsp.py",
    "cli.profile": "lab/performance/test_stages.py",
    "cli.score": "lab/evaluation/test_score.py",
    "cli.train": "lab/training/test_train_t5.py",
    "corpus.local_runner": "corpus/test_faults.py",
    "corpus.tables": "corpus/test_corpus.py",
    "lab.evaluation.report": "lab/evaluation/test_score.py",
    "lab.performance.plots": "lab/performance/test_stages.py",
    "loading": "test_corrector.py",
    "lsp.handlers": "lsp/test_lsp.py",
    "modeling.causal_config": "modeling/test_causal_lm.py",
    "modeling.causal_files": "modeling/test_causal_lm.py",
    "runtime.explaining": "corpus/test_corpus.py",
    "server.words": "server/test_user_words.py",
    "text.asciidoc": "text/test_readers.py",
    "text.blocks": "text/test_latex.py",
    "text.comment_lines": "text/test_code_comments.py",
    "text.latex_groups": "text/test_latex.py",
    "text.latex_names": "text/test_latex.py",
    "text.org": "text/test_readers.py",
    "text.typst": "text/test_readers.py",
    "lab.training.objective": "lab/training/test_trainer.py",
}


def test_every_module_has_a_test() -> None:
    """A test of its name, one that imports it, or one of TESTED_BY."""
    tests = {path.relative_to(ROOT / "tests").as_posix(): path for path in (ROOT / "tests").rglob("*.py")}
    imported = {module for path in tests.values() for module in imported_modules(path)}
    named = {
        f"{module.rpartition('.')[0].replace('.', '/')}/test_{module.rpartition('.')[2]}.py": module
        for module in MODULES
    }
    tested = imported | {module for test, module in named.items() if test in tests}
    packages = {module_name(path) for path in FILES if path.name == "__init__.py"}
    assert MODULES - packages - tested - TESTED_BY.keys() == set()
    assert [module for module in TESTED_BY if module in tested or module not in MODULES] == [], "no need to list them"
    assert [test for test in TESTED_BY.values() if test not in tests] == []


def test_error_classes_have_names_of_their_own() -> None:
    names = [node.name for path in FILES for node in ast.walk(parse(path)) if isinstance(node, ast.ClassDef)]
    errors = [name for name in names if name.endswith("Error")]
    assert len(errors) > 6 and len(set(errors)) == len(errors)


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
    assert modules - {module_name(path) for path in PACKAGE.rglob("*.py")} == set()
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


def test_nothing_unpickles_a_file() -> None:
    """pickle is for what workers of one job send each other (corpus/ray_runner.py), and for copies of a Corrector.

    torch reads tensors of a pytorch_model.bin, with weights_only and nothing else (modeling/test_malicious.py).
    """
    calls = re.compile(
        r"\b(?:pickle|cPickle|dill|joblib|shelve|marshal)\.loads?\(|torch\.load\((?!.*weights_only=True\))|allow_pickle=True|yaml\.load\("
    )
    found = {
        path.relative_to(ROOT / "edit_gec").as_posix()
        for path in (ROOT / "edit_gec").rglob("*.py")
        if calls.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"corpus/ray_runner.py"}
