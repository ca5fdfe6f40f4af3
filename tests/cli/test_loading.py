"""What is said on the command line reaches Corrector.load, from every command that corrects."""

from __future__ import annotations

import importlib
from dataclasses import fields
from pathlib import Path

import pytest

from edit_gec.cli.arguments import FrontOptions
from edit_gec.cli.loading import asked_settings, corrector_arguments, find_projects
from edit_gec.cli.main import COMMANDS, command_parser
from edit_gec.config.load_settings import LoadSettings
from edit_gec.config.projects import Projects

REQUIRED = {"correct": [], "serve": [], "lsp": [], "corpus": ["in.txt", "out"]}
SETTINGS = """
dictionary = ["Grafana"]
min-confidence = 0.8
model = "of-the-project"
dialect = "en-GB"
ignore = ["case"]
"""


def parse(name: str, *words: str) -> FrontOptions:
    arguments = command_parser(name).parse_args([*REQUIRED[name], *words])
    made = importlib.import_module(COMMANDS[name].module).Arguments(**vars(arguments))
    assert isinstance(made, FrontOptions)
    return made


@pytest.mark.parametrize("name", REQUIRED)
def test_every_option_reaches_the_corrector(name: str, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("kubectl\n\nnginx\n")
    named = {
        "model": "mine",
        "min_confidence": 0.5,
        "dictionary": ("kubectl", "nginx"),
        "threads": 3,
        "target": "t5",
        "dialect": "en-US",
    }
    run: dict[str, object] = {
        "device": "cuda:1", "dtype": "bfloat16", "batch_size": 7, "target_prefix": "grammar: ",
        "target_prompt": "{source}\n", "verify": "exact", "backend": "torch", "precision": "float32",
    }  # fmt: skip
    options = [f"--{key.replace('_', '-')}={value}" for key, value in {**named, "dictionary": words}.items()]
    options += [f"--set={key.replace('_', '-')}={value}" for key, value in run.items()]
    expected = {**named, **run, "strictness": None}  # which is in place of a threshold
    assert corrector_arguments(parse(name, *options)) == expected
    assert set(expected) == {field.name for field in fields(LoadSettings)}, "nothing that cannot be said"


@pytest.mark.parametrize("name", REQUIRED)
def test_what_can_be_set_once_is_the_same_in_files_and_on_the_command_line(name: str, tmp_path: Path) -> None:
    file = tmp_path / "edit-gec.toml"
    file.write_text('strictness = "high"\nverify = "judge"\ndtype = "bfloat16"\nthreads = 5\nbatch-size = 9\n')
    wanted = {"verify": "judge", "dtype": "bfloat16", "threads": 5, "batch_size": 9}
    assert Projects(str(file)).find_settings("").run == wanted
    options = parse(name, "--strictness=low", "--threads=2", "--set=dtype=float32")
    settings = Projects(str(file), asked=asked_settings(options)).find_settings("")
    given = corrector_arguments(options, settings)
    assert {key: given[key] for key in wanted} == wanted | {"dtype": "float32", "threads": 2}
    assert (given["strictness"], given["min_confidence"], given["target"]) == ("low", None, "smollm2")


@pytest.mark.parametrize("name", REQUIRED)
def test_without_options_it_is_what_the_library_does(name: str) -> None:
    given = corrector_arguments(parse(name))
    own = LoadSettings("edit5-mini")
    differs = {key for key, value in given.items() if key != "dictionary" and value != getattr(own, key)}
    assert given["dictionary"] == () and differs <= {"threads", "batch_size"}


@pytest.mark.parametrize("name", ["correct", "serve", "lsp", "corpus"])
def test_verify_alone_takes_our_own_target(name: str) -> None:
    given = corrector_arguments(parse(name, "--verify"))
    assert given["target"] == "smollm2" and "verify" not in given


@pytest.mark.parametrize("name", ["correct", "serve", "lsp", "corpus"])
def test_options_win_over_settings_and_lists_add_up(name: str, tmp_path: Path) -> None:
    (tmp_path / "edit-gec.toml").write_text(SETTINGS)
    (tmp_path / "words.txt").write_text("kubectl\n")

    def given(*words: str) -> tuple[dict[str, object], tuple[str, ...]]:
        options = parse(name, *words)
        assert isinstance(options, FrontOptions)
        settings = find_projects(options).find_settings(str(tmp_path))
        return corrector_arguments(options, settings), settings.ignore

    options = parse(name, "--strictness", "high")
    assert isinstance(options, FrontOptions)
    assert find_projects(options).find_settings(str(tmp_path)).threshold == "high"
    arguments, ignore = given("--dictionary", str(tmp_path / "words.txt"), "--ignore", "PUNCT,R:DET")
    assert arguments["dictionary"] == ("Grafana", "kubectl") and ignore == ("case", "PUNCT", "R:DET")
    assert [arguments[key] for key in ("model", "min_confidence", "dialect")] == ["of-the-project", 0.8, "en-GB"]
    arguments, _ = given("--model", "mine", "--min-confidence", "0", "--dialect", "en-US")
    assert [arguments[key] for key in ("model", "min_confidence", "dialect")] == ["mine", 0.0, "en-US"]
    arguments, ignore = given("--isolated")
    assert (arguments["model"], arguments["dictionary"], ignore) == ("edit5-mini", (), ())
    (tmp_path / "other.toml").write_text("dialect = 'en-US'")
    assert given("--config", str(tmp_path / "other.toml"))[0]["dialect"] == "en-US"
