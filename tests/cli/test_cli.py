"""The command, run as users run it: with arguments, bytes in, bytes and an exit status out.

What only a process can show (signals, pipes, terminals, modules that are not imported) is tested in one of its own.
"""

from __future__ import annotations

import codecs
import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from support import fake_model
from support.in_process import in_this_process

from edit_gec.catalog import find_model
from edit_gec.cli.main import COMMANDS, main
from edit_gec.corrector import Corrector
from edit_gec.errors import ModelError
from edit_gec.text import formats

STAND_IN = [sys.executable, str(Path(__file__).parents[1] / "support" / "fake_model.py")]
EDIT_GEC = [sys.executable, "-m", "edit_gec"]
FINDING = "stdin:1:5: “go” → “goes” (97%) [replacement]\n".encode()
WOULD_CHANGE = "1 file would change, 1 edit\n"
BAD, GOOD = b"She go home.\r\nIt is ok, \xf0\x9f\x8f\xa0.\n", b"She goes home.\r\nIt is ok, \xf0\x9f\x8f\xa0.\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder without colours and with edit_gec importable."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args: str | Path, stdin: bytes = b"", command: Sequence[str] = ()) -> tuple[int, bytes, str]:
    """(exit status, standard output, standard error); by default in this process, with the fixed rules."""
    if not command:
        return in_this_process(fake_model.run, map(str, args), stdin)
    done = subprocess.run([*command, *args], input=stdin, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode()


def put(**contents: bytes) -> None:
    for name, data in contents.items():
        Path(name.replace("__", "/")).parent.mkdir(exist_ok=True, parents=True)
        Path(name.replace("__", "/") + ".txt").write_bytes(data)


@pytest.mark.parametrize(
    ("args", "stdin", "out"),
    [
        ([], BAD, GOOD),
        (["-"], BAD, GOOD),
        ([], b"", b""),
        ([], b"\n", b"\n"),
        (["--lines"], BAD, GOOD),
        (["--format", "text"], BAD, GOOD),
        (["--inline"], b"She go.", b"She [-go-]{+goes+}."),
        (["--min-confidence", "0.7"], b"teh becuase", b"teh because"),
        (["--min-confidence", "0"], b"teh becuase", b"the because"),
        (["--format", "github"], b"ok\nShe go", "::warning file=stdin,line=2,endLine=2,col=5,endColumn=7,"
         "title=edit-gec replacement::“go” → “goes” (97%25)\n".encode()),
        (["--diff"], b"ok\r\nShe go", b"--- a/stdin\n+++ b/stdin\n@@ -1,2 +1,2 @@\n ok\r\n-She go\n"
         b"\\ No newline at end of file\n+She goes\n\\ No newline at end of file\n"),
        (["--diff"], b"fine", b""),
        ([], codecs.BOM_UTF16_BE + "I dont\r\n".encode("utf-16-be"),
         codecs.BOM_UTF16_BE + "I don't\r\n".encode("utf-16-be")),
    ],
)  # fmt: skip
def test_standard_input_to_standard_output(args: list[str], stdin: bytes, out: bytes) -> None:
    assert run("correct", *args, stdin=stdin) == (0, out, "")


@pytest.mark.parametrize(
    ("args", "stdin", "result"),
    [
        ([], b"fine", (0, b"", "")),
        ([], BAD, (1, FINDING, WOULD_CHANGE)),
        (["--quiet"], BAD, (1, b"", "")),
        (["--inline"], b"go", (1, b"[-go-]{+goes+}", WOULD_CHANGE)),
        (["missing.txt", "-"], BAD, (2, FINDING, "edit-gec: missing.txt: cannot read: No such file or directory; "
         f"check the path and its permissions\n{WOULD_CHANGE}")),
    ],
)  # fmt: skip
def test_check(args: list[str], stdin: bytes, result: tuple[int, bytes, str]) -> None:
    assert run("correct", "--check", *args, stdin=stdin) == result


SHOWN = b'She go [sic] home. The word "teh" is misspelt.'
HINTS = """stdin:1:5: hint: “go” → “goes” (97%) [replacement]
stdin:1:30: hint: “teh” → “the” (60%) [spelling]
""".encode()


@pytest.mark.parametrize("output", [["--diff"], ["--inline"], ["--format", "text"]])
def test_shown_errors_are_hints_and_never_made(output: list[str]) -> None:
    assert run("correct", "--check", stdin=SHOWN) == (0, HINTS, "")
    assert run("correct", "--check", "--quiet", stdin=SHOWN) == (0, b"", "")
    assert run("correct", "--check", "--ignore", "spelling", stdin=SHOWN)[:2] == (0, HINTS[: HINTS.index(b"\n") + 1])
    status, found, _ = run("correct", "--check", stdin=SHOWN + b" They go.")
    assert (status, found.count(b"hint: "), found.count(b"\n")) == (1, 2, 3)
    assert run("correct", *output, stdin=SHOWN) == (0, b"" if output == ["--diff"] else SHOWN, "")
    put(a=SHOWN)
    assert (
        run("correct", "-w", "a.txt") == (0, b"", "0 files changed, 0 edits\n") and Path("a.txt").read_bytes() == SHOWN
    )


def test_hints_in_structured_output() -> None:
    (one,) = json.loads(run("correct", "--format", "json", stdin=SHOWN)[1])
    assert (one["edits"], [each["replacement"] for each in one["hints"]]) == ([], ["goes", "the"])
    assert json.loads(run("correct", "--format", "jsonl", stdin=SHOWN)[1]) == one
    (log,) = json.loads(run("correct", "--format", "sarif", stdin=SHOWN)[1])["runs"]
    assert [(each["level"], "fixes" in each) for each in log["results"]] == [("note", False)] * 2
    assert run("correct", "--format", "github", stdin=SHOWN)[1].count(b"::notice ") == 2
    for line in run("correct", "--format", "rdjsonl", stdin=SHOWN)[1].splitlines():
        assert json.loads(line)["severity"] == "INFO" and "suggestions" not in json.loads(line)


def test_write_in_place_and_again() -> None:
    put(a=BAD, b=codecs.BOM_UTF8 + b"fine\r\n", sub__c=codecs.BOM_UTF8 + b"teh\r\n")
    Path("a.txt").chmod(0o640)
    before = Path("b.txt").stat().st_mtime_ns, Path("b.txt").stat().st_ino
    assert run("correct", "-w", "a.txt", "b.txt", "sub") == (0, b"", "2 files changed, 2 edits\n")
    assert Path("a.txt").read_bytes() == GOOD
    assert Path("a.txt").stat().st_mode & 0o777 == 0o640
    assert (Path("b.txt").stat().st_mtime_ns, Path("b.txt").stat().st_ino) == before
    assert Path("sub/c.txt").read_bytes() == codecs.BOM_UTF8 + b"the\r\n"
    assert run("correct", "-w", "-q", ".") == (0, b"", "")
    assert run("correct", "-w", ".") == (0, b"", "0 files changed, 0 edits\n")


def test_folders_files_and_headings() -> None:
    put(a=b"go\n", b=b"fine\n", sub__c=b"dont\n")
    Path("sub/d.png").write_bytes(b"go")
    Path("sub/binary.txt").write_bytes(b"go\0")
    findings = (
        b"./a.txt:1:1: \xe2\x80\x9cgo\xe2\x80\x9d \xe2\x86\x92 \xe2\x80\x9cgoes\xe2\x80\x9d (97%) [replacement]\n"
    )
    assert run("correct", "a.txt", "./b.txt") == (1, findings[2:], WOULD_CHANGE)
    status, out, talk = run("correct", ".", "a.txt")
    assert (status, talk) == (1, "2 files would change, 2 edits\n")
    assert out.startswith(findings) and b"./sub/c.txt:1:1:" in out and out.count(b"\n") == 2
    assert run("correct", "--format", "text", ".", "a.txt") == (0, b"goes\nfine\ndon't\n", "")
    assert run("correct", "--inline", "sub") == (0, b"==> sub/c.txt <==\n[-dont-]{+don't+}\n", "")
    status, out, talk = run("correct", "--verbose", "--format", "text", "sub")
    assert (status, out) == (0, b"don't\n")
    assert "skipped sub/binary.txt: binary file" in talk and "sub/c.txt:1:1: “dont” → “don't” (90%) [spelling]" in talk


REFUSED = ("client.py.txt graph.mermaid table.csv cues.ass a.mbox data.json LICENSE requirements.txt").split()
ADVICE = f"{formats.list_understood()} are understood; use --read-as text, or --lines if each line is a text"


@pytest.mark.parametrize("output", [["-w"], [], ["--diff"], ["--check"], ["--format", "json"]])
def test_a_format_that_is_not_understood_is_refused_and_the_others_are_done(output: list[str]) -> None:
    put(a=BAD)
    for name in REFUSED:
        Path(name).write_bytes(b"go")
    status, out, talk = run("correct", *output, *REFUSED, "a.txt")
    lines = [line for line in talk.splitlines() if ADVICE in line]
    assert status == 2 and [line.split(": ")[1] for line in lines] == REFUSED
    assert f"edit-gec: client.py.txt: cannot correct code; {ADVICE}" in lines
    assert b"goes" in (Path("a.txt").read_bytes() if output == ["-w"] else out)
    assert all(Path(name).read_bytes() == b"go" for name in REFUSED)


OTHERS = {  # what is not prose holds "go", too
    "client.py": b'go = "go"  # go\n',
    "Makefile": b"go: go\n\tgo # go\n",
    "hooks.yaml": b"go: go # go\n",
    "cues.srt": b"1\n00:00:01,000 --> 00:00:02,000 go\ngo\n",
    "COMMIT_EDITMSG": b"go: I go\n\n# go\n",
    "a.eml": b"Subject: go\n\nI go\n> go\n-- \ngo\n",
}


def put_others() -> None:
    for name, content in OTHERS.items():
        Path(name).write_bytes(content)


def changed() -> dict[str, int]:
    """How often "go" has become "goes" in each file."""
    return {name: count for name in OTHERS if (count := Path(name).read_bytes().count(b"goes"))}


def test_of_code_mail_subtitles_and_commits_only_the_prose_is_corrected() -> None:
    put_others()
    assert run("correct", "-q", "-w", *OTHERS) == (0, b"", "")
    assert changed() == dict.fromkeys(OTHERS, 1)
    assert Path("client.py").read_bytes() == b'go = "go"  # goes\n'
    assert Path("a.eml").read_bytes() == b"Subject: go\n\nI goes\n> go\n-- \ngo\n"
    assert Path("COMMIT_EDITMSG").read_bytes() == b"go: I goes\n\n# go\n"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["."], {"cues.srt"}),
        (["--code", "."], {"cues.srt", "client.py", "Makefile", "hooks.yaml"}),
        (["--force-exclude", *OTHERS], {"cues.srt"}),
        (["--force-exclude", "--code", *OTHERS], {"cues.srt", "client.py", "Makefile", "hooks.yaml"}),
    ],
)
def test_code_mail_and_commits_are_corrected_where_they_are_named(arguments: list[str], names: set[str]) -> None:
    put_others()
    Path("graph.mermaid").write_bytes(b"go")  # code of a language that nobody knows
    assert run("correct", "-q", "-w", *arguments) == (0, b"", "")
    assert changed().keys() == names and Path("graph.mermaid").read_bytes() == b"go"


def test_the_format_of_standard_input() -> None:
    code = OTHERS["client.py"]
    fixed = code.replace(b"# go", b"# goes")
    assert run("correct", "--stdin-filename", "src/client.py", stdin=code) == (0, fixed, "")
    assert run("correct", "--stdin-filename", "a", "--read-as", "commit", stdin=b"I go\n# go\n") == (
        0,
        b"I goes\n# go\n",
        "",
    )
    assert run("correct", "--stdin-filename", "x.py", "--read-as", "code", stdin=code) == (0, fixed, "")
    assert run("correct", "--stdin-filename", "notes", stdin=b"I go `go`") == (0, b"I goes `go`", "")
    status, out, talk = run("correct", "--stdin-filename", "a.csv", stdin=b"go")
    assert (status, out) == (2, b"") and talk.startswith("edit-gec: a.csv: cannot correct data; ")
    status, out, talk = run("correct", "--read-as", "code", stdin=code)
    assert (status, out) == (2, b"") and "use --stdin-filename" in talk


def test_a_file_of_unknown_format_is_read_and_not_written() -> None:
    Path("notes.xyz").write_bytes(b"go")
    refusal = f"edit-gec: notes.xyz: cannot write a file of unknown format; {ADVICE}\n"
    assert run("correct", "notes.xyz") == (0, b"goes", "")
    assert run("correct", "--check", "--quiet", "notes.xyz") == (1, b"", "")
    assert run("correct", "-q", "-w", "notes.xyz") == (2, b"", refusal)
    assert Path("notes.xyz").read_bytes() == b"go"


@pytest.mark.parametrize("forced", [["--lines"], ["--read-as", "text"]])
@pytest.mark.parametrize("name", ["notes.xyz", "cues.ass"])
def test_a_named_file_is_taken_for_text_when_asked(forced: list[str], name: str) -> None:
    Path("sub").mkdir()
    put(sub__a=b"go")
    for path in (name, f"sub/{name}"):
        Path(path).write_bytes(b"go")
    assert run("correct", "-q", "-w", *forced, name, "sub") == (0, b"", "")
    assert Path(name).read_bytes() == Path("sub/a.txt").read_bytes() == b"goes"
    assert Path(f"sub/{name}").read_bytes() == b"go"


def test_exclude_is_for_named_files_too_when_forced() -> None:
    Path("pyproject.toml").write_text("[tool.edit-gec]\nexclude = ['vendor', 'docs/old*']\n")
    put(a=b"go", vendor__deep__b=b"go", docs__old=b"go")
    Path("c.py").write_bytes(b"go")
    named = ["a.txt", "vendor/deep/b.txt", "docs/old.txt", "vendor"]
    text = ["--format", "text"]
    assert run("correct", *text, *named[:3]) == (0, b"goes" * 3, "")
    assert run("correct", *text, "vendor")[0] == 2, "all of it is excluded"
    assert run("correct", *text, "--force-exclude", *named, "c.py") == (0, b"goes", "")
    status, out, talk = run("correct", *text, "--force-exclude", "-v", *named, "c.py")
    assert (status, out) == (0, b"goes") and talk.count("skipped ") == 4
    assert (
        "skipped c.py: no search of a folder gives code" in talk and "skipped vendor: excluded in the settings" in talk
    )
    assert run("correct", "--force-exclude", "-w", "docs/old.txt") == (0, b"", "0 files changed, 0 edits\n")
    assert run("correct", "--force-exclude", stdin=b"go") == (0, b"goes", "")


def test_formats_agree_on_the_corrected_text() -> None:
    text = codecs.BOM_UTF8 + "She go 🏠.\r\nfine\nI dont\n".encode()
    put(a=text, b=b"fine\n")
    status, corrected, _ = run("correct", "a.txt")
    assert (status, corrected) == (0, codecs.BOM_UTF8 + "She goes 🏠.\r\nfine\nI don't\n".encode())

    first, second = json.loads(run("correct", "a.txt", "b.txt", "--format", "json")[1])
    assert [json.loads(line) for line in run("correct", "a.txt", "b.txt", "--format", "jsonl")[1].splitlines()] == [
        first,
        second,
    ]
    assert (first["path"], second) == ("a.txt", {"schema": 1, "path": "b.txt", "edits": []})
    rebuilt = text.removeprefix(codecs.BOM_UTF8)
    for edit in reversed(first["edits"]):
        rebuilt = rebuilt[: edit["start_utf8"]] + edit["replacement"].encode() + rebuilt[edit["end_utf8"] :]
    assert codecs.BOM_UTF8 + rebuilt == corrected

    log = json.loads(run("correct", "a.txt", "b.txt", "--format", "sarif")[1])
    assert [result["message"]["text"] for result in log["runs"][0]["results"]] == [
        "“go” → “goes” (97%)",
        "“dont” → “don't” (90%)",
    ]
    diff = run("correct", "--diff", str(Path("a.txt").resolve()), "b.txt")[1]
    subprocess.run(["patch", "-p1", "--binary", "--fuzz=0"], input=diff, check=True, capture_output=True)
    assert Path("a.txt").read_bytes() == corrected


@pytest.mark.parametrize("name", [b"caf\xe9.txt", b"two\nlines.txt", b"-n.txt", "ü 🏠.txt".encode()])
def test_any_file_name(name: bytes) -> None:
    path = Path(os.fsdecode(name))
    try:
        path.write_bytes(b"go")
    except OSError:
        pytest.skip("this file system refuses the name")
    assert json.loads(run("correct", "--format", "json", "--", path)[1])[0]["path"] == str(path)
    assert json.loads(run("correct", "--format", "jsonl", ".")[1])["path"] == f"./{path}"
    for form in ("sarif", "github", "rdjsonl"):
        assert run("correct", "--format", form, "--verbose", "--", path)[0] == 0
    diff = run("correct", "--diff", "--", path)[1]
    subprocess.run(["git", "apply"], input=diff, check=True, capture_output=True)
    assert path.read_bytes() == b"goes"


@pytest.mark.parametrize("options", ["--check", "--inline", "--format=github", "-wv", "--read-as=mail"])
def test_a_name_cannot_act_on_a_terminal(options: str) -> None:
    """A line break in it would begin a finding, or a command to GitHub, that its author wrote; ESC hides others."""
    names = ["a\x1b[2J\n::error::x.txt", "b\x85\u2028\u202etxt.txt", "c\r\x9b1m.txt"]
    for name in names:
        Path(name).write_bytes(b"She go\n")
    Path("d\x1b\n.txt").write_bytes(b"\xff")
    _, out, err = run("correct", options, ".")
    shown = out.decode() + err
    unescaped = shown.replace("%0A", "\\n").replace("%0D", "\\r").replace("%3A", ":")  # GitHub's own escapes
    assert all(ascii(name)[1:-1] in unescaped for name in names)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", shown)
    assert not re.search("^(::error|x?\\.txt)", shown, re.MULTILINE)


def test_words_to_leave_alone_and_settings() -> None:
    put(a=b"go teh dont becuase", words=b"go\n")
    assert run("correct", "a.txt", "--dictionary", "words.txt")[1] == b"go the don't because"
    Path("pyproject.toml").write_text(
        "[tool.edit-gec]\ndictionary = ['dont']\nmin-confidence = 0.7\nexclude = ['w*']\n"
    )
    assert run("correct", "a.txt", "--dictionary", "words.txt")[1] == b"go teh dont because"
    assert run("correct", "a.txt", "--min-confidence", "0.1")[1] == b"goes the dont because"
    assert run("correct", "a.txt", "--strictness", "high")[1] == b"goes the dont because", "not the project's 0.7"
    assert run("correct", "a.txt", "--isolated")[1] == b"goes the don't because"
    Path("other.toml").write_text("ignore = ['spelling']")
    assert run("correct", "a.txt", "--config", "other.toml")[1] == b"goes teh dont becuase"
    assert run("correct", "a.txt", "--config", "no.toml") == (
        2, b"", "edit-gec: no.toml: cannot read: No such file or directory; check the path and its permissions\n"
    )  # fmt: skip
    Path("pyproject.toml").write_text("[tool.edit-gec]\nmodel = 'no-such'\n")
    assert run("correct", ".") == (2, b"", "edit-gec: model no-such: no such model or folder\n")
    assert run("correct", "--model", "edit5-mini", "a.txt")[0] == 0
    Path("pyproject.toml").write_text("[tool.edit-gec]\nmodle = 'no-such'\n")
    complaint = f"edit-gec: {Path('pyproject.toml').resolve()}: [tool.edit-gec] has no setting 'modle'"
    status, out, talk = run("correct", ".")
    assert (status, out) == (2, b"") and talk.startswith(complaint) and talk.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("missing.txt", "missing.txt: cannot read: No such file"),
        ("empty", "empty: no text files"),
        ("binary.txt", "binary.txt: binary file (NUL"),
        ("latin.txt", "latin.txt: byte 4 (0xe9) on line 1 is not UTF-8"),
        ("locked.txt", "locked.txt: cannot write: read-only; file unchanged"),
    ],
)
def test_bad_files_are_one_line_and_the_good_ones_are_done(name: str, complaint: str) -> None:
    put(a=BAD, z=BAD, binary=b"go\0\1", latin=b"caf\xe9 go", locked=b"go")
    Path("locked.txt").chmod(0o444)
    Path("empty").mkdir()
    before = Path(name).read_bytes() if Path(name).is_file() else None
    status, out, talk = run("correct", "-w", "a.txt", name, "z.txt")
    assert (status, out) == (2, b"")
    first, summary = talk.splitlines()
    assert first.startswith(f"edit-gec: {complaint}")
    assert summary == "2 files changed, 2 edits"
    assert Path("a.txt").read_bytes() == Path("z.txt").read_bytes() == GOOD
    assert (Path(name).read_bytes() if Path(name).is_file() else None) == before


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["-x"], "required: COMMAND"),
        (["corect"], "'corect' is no command; did you mean edit-gec correct?"),
        (["README.md"], "'README.md' is no command; did you mean edit-gec correct README.md?"),
        (["correct", "--min-confidence", "1.5"], "must be a number from 0 to 1, not '1.5'"),
        (["correct", "--min-confidence", "nan"], "must be a number from 0 to 1"),
        (["correct", "--threads", "0"], "must be a whole number from 1, not '0'"),
        (["correct", "--set", "batch-size=x"], "batch_size 'x': expected a whole number from 1"),
        (["correct", "--set", "dtype=int4"], "dtype int4: float32, bfloat16, float16 are known"),
        (["correct", "--set", "target=t5"], "expected KEY=VALUE with one of verify, backend, "),
        (["correct", "-w"], "--write needs files"),
        (["correct", "-w", "a.txt", "-"], "--write needs files"),
        (["correct", "-w", "--check", "a.txt"], "--check changes nothing"),
        (["correct", "--diff", "--inline"], "not allowed with argument"),
        (["correct", "--format", "xml"], "invalid choice: 'xml'"),
        (["correct", "-q", "-v"], "not allowed with argument"),
        (["correct", "--ignore", "case,PUNKT"], "'PUNKT': expected a kind (spelling, case, "),
        (["correct", "--dialect", "en-ZZ"], "invalid choice: 'en-ZZ'"),
        (["correct", "--since", "HEAD"], "--since needs files"),
        (["correct", "--write-baseline", "a.txt"], "--write-baseline needs --baseline FILE"),
        (["correct", "--chekc"], "unknown arguments: --chekc; did you mean --check?"),
        (["correct", "--set", "target-prefix=x"], "--set target-prefix needs --verify or --target"),
        (["score"], "give one test set: --m2"),
        (["score", "--clean", "a.txt"], "give a system: --hyp"),
        (["score", "--clean", "a.txt", "--m2", "a.m2", "--hyp", "a.txt"], "give one test set"),
        (["score", "--source", "a.txt", "--hyp", "a.txt"], "--source needs --ref"),
        (["score", "--cases", "a.txt", "--hyp", "a.txt"], "--cases needs a system"),
        (["train"], "required: --recipe"),
        (["corrupt"], "required: TEXT"),
        (["corrupt", "a.txt", "--rate", "-1"], "--rate -1.0: expected 0 or more"),
        (["corrupt", "a.txt", "--sentences", "0"], "must be a whole number from 1, not '0'"),
        (["correct", "a.txt", "--set", "target-prefix=x"], "--set target-prefix needs --verify or --target"),
        (["profile", "--repeats", "0"], "must be a whole number from 1, not '0'"),
        (["serve", "--port", "99999"], "must be a port from 0 to 65535, not '99999'"),
        (["lsp", "--fix-all-confidence", "2"], "must be a number from 0 to 1, not '2'"),
        (["lsp", "--set", "target-prefix=x"], "--set target-prefix needs --verify or --target"),
        (["corpus", "a.txt"], "required: OUTPUT"),
        (["corpus", "a.txt", "b", "--column", "edits"], "expected three different names"),
    ],
)
def test_wrong_usage(args: list[str], complaint: str) -> None:
    """Status 2 and one line: the complaint, and where to read more."""
    status, out, talk = run(*args)
    assert (status, out) == (2, b"")
    own = " ".join(["edit-gec", *(args[:1] if args[0] in COMMANDS else [])])
    assert complaint in talk and talk.startswith(f"{own}: ") and talk.endswith(f" (see {own} --help)\n")
    assert talk.count("\n") == 1


def test_another_language_is_left_alone_and_named() -> None:
    put(a=BAD, fr=b"Je ne sais pas pour vous, mais le teh est dans la maison.\n")
    status, out, talk = run("correct", "--format", "findings", "a.txt", "fr.txt")
    assert (status, out.count(b"\n")) == (1, 1) and b"a.txt" in out
    assert talk.splitlines()[0] == "edit-gec: fr.txt: this looks like French; only English is corrected"
    assert run("correct", "-q", "fr.txt") == (0, Path("fr.txt").read_bytes(), "")


def test_without_a_command_there_is_help() -> None:
    status, out, talk = run()
    assert (status, out) == (2, b"") and talk == run("--help")[1].decode()


def test_one_line_of_2_mb() -> None:
    text = (b"She go home. " + b"The sky was blue and it did not rain until the evening. " * 9) * 4_000
    status, out, _ = run("correct", stdin=text)
    assert (status, out) == (0, text.replace(b"go", b"goes"))
    text = text[: len(text) // 4]  # is held as a whole
    status, out, _ = run("correct", "--format", "jsonl", stdin=text)
    assert status == 0 and json.loads(out)["edits"][-1]["start_utf16"] == text.rindex(b"go")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A shell starts background jobs with Ctrl-C ignored, and children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt_is_one_line_and_harms_no_file(interruptible: None) -> None:
    put(a=b"ENDLESS go")
    with subprocess.Popen([*STAND_IN, "correct", "-v", "-w", "a.txt"], stderr=subprocess.PIPE) as child:
        assert child.stderr is not None and b"loaded" in child.stderr.readline()
        child.send_signal(signal.SIGINT)
        assert child.stderr.read() == b"edit-gec: interrupted\n"
    assert child.returncode == 130
    assert os.listdir() == ["a.txt"] and Path("a.txt").read_bytes() == b"ENDLESS go"


def test_interrupt_in_a_long_file_keeps_what_is_printed(interruptible: None) -> None:
    done, rest = "She go home.\n" * 15_000, "SLOW. She go home.\n" * 500
    put(a=(done + rest).encode())
    with subprocess.Popen([*STAND_IN, "correct", "a.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stderr is not None
        first = child.stdout.read(100_000)
        child.send_signal(signal.SIGINT)
        printed = first + child.stdout.read()
        assert child.stderr.read() == b"edit-gec: interrupted\n"
    whole = (done + rest).replace("go", "goes").encode()
    assert child.returncode == 130
    assert whole.startswith(printed) and 100_000 < len(printed) < len(whole)
    assert Path("a.txt").read_bytes() == (done + rest).encode()


def test_a_file_that_is_too_long_is_one_line() -> None:
    with open("a.txt", "wb") as file:
        file.truncate(64 * 2**20 + 1)
    status, printed, said = run("correct", "a.txt")
    assert status == 2 and printed == b""
    most = "longer than 64 MiB, the most that one document may have"
    assert said == f"edit-gec: a.txt: {most}; split it, or correct its lines as rows with edit-gec corpus\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_nobody_reads_the_output(monkeypatch: pytest.MonkeyPatch, unbuffered: str) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    put(a=(b"She go home" + b", and so on" * 12 + b".\n") * 3_000)  # two stretches, each more than a pipe holds
    script = '"$@" | head -c 3; echo " ${PIPESTATUS[0]}"'
    done = subprocess.run(["bash", "-c", script, "-", *STAND_IN, "correct", "a.txt"], capture_output=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"She 141\n", b"")


def test_output_cannot_be_written() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*STAND_IN, "correct"], input=BAD, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 2
    assert done.stderr == b"edit-gec: cannot write to standard output: No space left on device\n"
    script = '"$@" <&-; echo $?; echo go | "$@" >&-; echo $? >&2'
    done = subprocess.run(["bash", "-c", script, "-", *STAND_IN, "correct"], capture_output=True, timeout=60)
    assert done.stdout == b"2\n"
    assert done.stderr.decode().splitlines() == [
        "edit-gec: standard input is closed; name a file or pipe a text in",
        "edit-gec: standard output is closed; use --write to correct files in place",
        "2",
    ]


def on_terminal(args: list[str], **env: str) -> str:
    """What a terminal gets from standard output and standard error together."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*STAND_IN, *args], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env={**os.environ, **env}
    ):
        os.close(theirs)
        seen = b""
        try:
            while block := os.read(ours, 4096):
                seen += block
        except OSError:  # what Linux says when the other side is closed
            pass
    os.close(ours)
    return seen.decode()


def test_colors_on_a_terminal_only_and_not_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    put(a=b"She go")
    command = ["correct", "--inline", "a.txt"]
    colored = "She \x1b[31m[-go-]\x1b[0m\x1b[32m{+goes+}\x1b[0m"
    assert on_terminal(command, TERM="xterm") == colored
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run(*command)[1].decode() == colored
    assert b"\x1b[32m+She goes\x1b[0m\n" in run("correct", "--diff", "a.txt")[1]
    monkeypatch.delenv("FORCE_COLOR")
    assert on_terminal(command, TERM="xterm", NO_COLOR="1") == "She [-go-]{+goes+}"
    assert on_terminal(command, TERM="dumb") == "She [-go-]{+goes+}"
    assert run(*command)[1] == b"She [-go-]{+goes+}"


def test_progress_bar_on_long_work_on_a_terminal() -> None:
    put(a=b"SLOW go" + b" " * 200_000, b=b"SLOW go", c=b"fine" + b" " * 100_000)
    shown = on_terminal(["correct", "a.txt", "b.txt", "c.txt"], TERM="xterm")
    assert shown.index("a.txt") < shown.index("b.txt and 1 more file"), "it says what is being read"
    shares = [int(share) for share in re.findall(r"(\d+) %", shown)]
    assert shares == sorted(shares) and {*shares} & set(range(68, 100)), "one bar for all files"
    assert re.search(r"[1-9]\d? %, \d+ s left", shown), "it says how long the rest will take"
    put(a=b"SLOW go")
    assert on_terminal(["correct", "-q", "a.txt"], TERM="xterm") == "SLOW goes"


def test_help_and_version_need_no_heavy_module() -> None:
    script = (
        "import sys\nfrom edit_gec.cli.main import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'rich', 'transformers', 'spacy', 'sentencepiece'} & set(sys.modules)\n"
        "print(sorted(heavy), len(sys.modules), file=sys.stderr)"
    )
    for args in (["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)):
        status, out, talk = run(*args, command=[sys.executable, "-c", script])
        assert (status, talk[:3]) == (0, "[] ") and out, talk
    assert b"exit status:" in run("correct", "--help", command=EDIT_GEC)[1]
    assert run("--version", command=EDIT_GEC)[1].startswith(b"edit-gec ")


MISSING = "import sys\nfrom edit_gec.cli.main import main\nsys.modules[{module!r}] = None\nsys.exit(main({argv!r}))"


@pytest.mark.parametrize(
    ("argv", "module", "extra"),
    [
        (["score", "--m2", "a.m2", "--hyp", "a.txt"], "numpy", ".[score]"),
        (["train", "--recipe", "recipe.toml"], "accelerate", ".[train]"),
        (["correct", "a.txt"], "sentencepiece", "."),
        (["profile"], "torch", ".[profile]"),
    ],
)
def test_a_command_says_which_package_is_missing(argv: list[str], module: str, extra: str) -> None:
    put(a=BAD)
    status, out, talk = run(command=[sys.executable, "-c", MISSING.format(module=module, argv=argv)])
    assert (status, out) == (2, b""), talk
    where = f"'{extra}'" if "[" in extra else extra
    assert talk == f"edit-gec: {argv[0]} needs {module}; install it: pip install {where} in edit-gec's folder\n"


WITHOUT_TORCH = """
import sys
from edit_gec.cli.main import main
for name in ("torch", "safetensors", "rich", "transformers"):
    sys.modules[name] = None
sys.exit(main({argv!r}))
"""


def test_correct_needs_no_torch() -> None:
    put(a=b"They was late.\n")
    status, out, talk = run(command=[sys.executable, "-c", WITHOUT_TORCH.format(argv=["correct", "a.txt"])])
    assert (status, out, talk) == (0, b"They were late.\n", "")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--set", "verify=exact"], "a target"),
        (["--set", "device=cuda"], "device cuda"),
        (["--set", "dtype=bfloat16"], "dtype bfloat16"),
        (["--set", "backend=torch"], "backend torch"),
    ],
)
def test_what_needs_torch_says_so(options: list[str], what: str) -> None:
    put(a=BAD)
    code = WITHOUT_TORCH.format(argv=["correct", *options, "a.txt"])
    status, out, talk = run(command=[sys.executable, "-c", code])
    assert (status, out) == (2, b"")
    assert talk == f"edit-gec: {what} needs torch; install it: pip install '.[torch]' in edit-gec's folder\n"


@pytest.mark.parametrize(
    ("argv", "module"),
    [
        (["score", "--m2", "a.m2", "--hyp", "a.txt"], "edit_gec.lab.evaluation.report"),
        (["corrupt", "a.txt"], "edit_gec.lab.training.synthetic.corruptor"),
        (["correct", "a.txt"], "edit_gec.backends.onnx_network"),
        (["train"], "edit_gec.cli.train"),
    ],
)
def test_a_module_of_ours_that_is_missing_is_a_bug(argv: list[str], module: str) -> None:
    put(a=BAD)
    status, _, talk = run(command=[sys.executable, "-c", MISSING.format(module=module, argv=argv)])
    assert status == 1 and "pip install" not in talk
    assert talk.splitlines()[-1].startswith("ModuleNotFoundError: ") and module in talk.splitlines()[-1]


def test_help_answers_at_once() -> None:
    """In CPU time, which other work on the machine does not change, of the fastest of some processes."""
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run("--help", command=EDIT_GEC)[0] == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 0.15


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    status, out, talk = run(name, "--help")
    assert (status, talk) == (0, "") and out.startswith(b"usage: edit-gec " + name.encode())


def test_explain() -> None:
    pytest.importorskip("errant")
    put(a=b"She go home.\n")
    assert run("correct", "--explain", "a.txt") == (
        0,
        b"She goes home.\n",
        "a.txt:1:5: subject-verb agreement: 'go' -> 'goes' (97%) [R:VERB:SVA]\n",
    )


@pytest.mark.parametrize("missing", ["errant", "spacy"])
def test_explain_without_its_extra_says_so(missing: str) -> None:
    script = f"import runpy, sys\nsys.modules['{missing}'] = None\nrunpy.run_path({STAND_IN[1]!r}, run_name='__main__')"
    command = [sys.executable, "-c", script]
    status, out, talk = run("correct", "--explain", stdin=b"She go home.\n", command=command)
    assert (status, out) == (2, b"")
    assert talk.startswith("edit-gec: ") and "pip install '.[score]'" in talk and talk.count("\n") == 1


# ---------------------------------------------------------------- the whole path, with a model


DOCUMENTS = {
    "a.md": "# My dog\r\n\r\nShe walked `home 🏠` with *her* dog.\r\nIt rained.".encode(),
    "b.txt": codecs.BOM_UTF16_LE + "The rain has not stopped\nsince Monday.\n\nWe like it.\n".encode("utf-16-le"),
    "c.txt": codecs.BOM_UTF8 + b"They said so.\n",
    "empty.txt": b"",
    "blank.txt": b" \r\n\t\n",
}
LINES = [b"She walked home\r\n", b"with her dog.\n", b"\n", b"The rain has"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real model folder, tiny and never trained, with random weights that change something in most of our texts."""
    import torch
    from support.lively import write_one_piece

    from edit_gec.modeling.config import EdiT5Config
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Tokens, train_vocabulary

    folder = tmp_path_factory.mktemp("model")
    corpus = folder / "corpus.txt"
    corpus.write_text("She walked home with her dog.\nThe rain has not stopped since Monday, they said.\n" * 50)
    train_vocabulary(corpus, folder, size=288, threads=1)
    slots = 48
    vocab_size = Tokens.load(folder, slots).size
    shape: dict[str, Any] = {"d_model": 32, "d_ff": 64, "num_heads": 2, "num_layers": 2}
    config = EdiT5Config(vocab_size=vocab_size, slots=slots, **shape)
    for seed in range(100):
        torch.manual_seed(seed)
        network = EdiT5(config)
        with torch.no_grad():
            network.tag_head.weight *= 100  # or all pieces get the same tag
        write_one_piece(network)
        network.save(folder)
        corrector = Corrector.load(folder)
        texts = [_text(name) for name in DOCUMENTS] + [line.decode() for line in LINES]
        changed = [correction.edits != () for correction in corrector.correct_batch(texts)]
        if sum(changed[: len(DOCUMENTS)]) == 3 and any(changed[len(DOCUMENTS) :]):
            return folder
    raise AssertionError("none of 100 random models changes the three texts with words and one of the lines")


def _encoding(name: str) -> str:
    return {"b.txt": "utf-16", "c.txt": "utf-8-sig"}.get(name, "utf-8")


def _text(name: str) -> str:
    return DOCUMENTS[name].decode(_encoding(name))


@pytest.fixture
def here(model: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, bytes]]:
    """edit-gec correct with that model in this process, where torch is imported already: (exit status, output)."""

    def correct(*args: str) -> tuple[int, bytes]:
        status = main(["correct", "--model", str(model), *args])
        return status, capfdbinary.readouterr().out

    return correct


def test_a_real_model_gives_one_answer_in_every_form(model: Path, here: Callable[..., tuple[int, bytes]]) -> None:
    for name, data in DOCUMENTS.items():
        Path(name).write_bytes(data)
    expected = {}
    for each in json.loads(here("--format", "json", ".")[1]):
        name = each["path"].removeprefix("./")
        text = _text(name)
        for edit in reversed(each["edits"]):
            assert text[edit["start"] : edit["end"]] == edit["original"]
            text = text[: edit["start"]] + edit["replacement"] + text[edit["end"] :]
        expected[name] = text.encode(_encoding(name))
    assert sorted(expected) == sorted(DOCUMENTS)
    assert sum(expected[name] != DOCUMENTS[name] for name in DOCUMENTS) == 3
    assert b"`home \xf0\x9f\x8f\xa0`" in expected["a.md"]
    status, findings = here("--check", ".")
    assert status == 1 and {line.split(b":")[0][2:].decode() for line in findings.splitlines()} == {
        name for name in DOCUMENTS if expected[name] != DOCUMENTS[name]
    }
    diff = here("--diff", "a.md", "c.txt")[1]

    real = [*EDIT_GEC, "correct", "--model", str(model), "--threads", "1"]
    assert run("--format", "text", ".", command=real) == (0, b"".join(expected[name] for name in sorted(expected)), "")
    assert here("-q", "-w", ".") == (0, b"")
    assert {name: Path(name).read_bytes() for name in expected} == expected
    for name in ("a.md", "c.txt"):
        Path(name).write_bytes(DOCUMENTS[name])
    subprocess.run(["patch", "-p1", "--binary", "--fuzz=0"], input=diff, check=True, capture_output=True)
    assert {name: Path(name).read_bytes() for name in expected} == expected


def test_lines_are_texts_of_their_own(here: Callable[..., tuple[int, bytes]]) -> None:
    Path("all.txt").write_bytes(b"".join(LINES))
    for number, line in enumerate(LINES):
        Path(f"{number}.txt").write_bytes(line)
    together = here("--lines", "all.txt")
    assert together == here("--lines", "--format", "text", "0.txt", "1.txt", "2.txt", "3.txt")
    assert together[1] != b"".join(LINES)


def test_precision(model: Path, here: Callable[..., tuple[int, bytes]]) -> None:
    text = b"".join(LINES)
    Path("all.txt").write_bytes(text)
    half = Corrector.load(model, dtype="bfloat16")
    assert next(half.edit5.model.parameters()).dtype == torch.bfloat16
    wanted = half.correct(text.decode(), lines=True, markup=False).corrected
    assert here("--lines", "--set", "dtype=bfloat16", "all.txt") == (0, wanted.encode())


@pytest.mark.parametrize("slow", [True, False])
def test_numbers_that_the_processor_does_not_compute_in(
    slow: bool, model: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("edit_gec.modeling.onednn.has_native_dtype", lambda dtype, device: not slow)
    Path("a.txt").write_text("She go.")
    assert main(["correct", "--model", str(model), "--set", "dtype=bfloat16", "a.txt"]) == 0
    assert ("does not compute in bfloat16" in capfd.readouterr().err) == slow
    assert main(["correct", "--model", str(model), "a.txt"]) == 0
    assert capfd.readouterr().err == "", "nothing to say of float32"


def _truncate(model: Path) -> None:
    weights = (model / "model.safetensors").read_bytes()
    (model / "model.safetensors").write_bytes(weights[: len(weights) // 2])


def _reshape(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "d_model": 64}))


BREAK = {
    "truncated weights": _truncate,
    "empty weights": lambda model: (model / "model.safetensors").write_bytes(b""),
    "no weights": lambda model: (model / "model.safetensors").unlink(),
    "wrong shape": _reshape,
    "config not JSON": lambda model: (model / "config.json").write_text("{"),
    "config a list": lambda model: (model / "config.json").write_text("[]"),
    "config of another kind": lambda model: (model / "config.json").write_text('{"model_type": "bert"}'),
    "config with a wrong type": lambda model: (model / "config.json").write_text(
        (model / "config.json").read_text().replace('"num_heads": 2', '"num_heads": "two"')
    ),
    "no config": lambda model: (model / "config.json").unlink(),
    "no vocabulary": lambda model: (model / "spiece.model").unlink(),
    "broken vocabulary": lambda model: (model / "spiece.model").write_bytes(b"not a vocabulary"),
}


@pytest.mark.parametrize("way", BREAK)
def test_broken_models_are_one_line(model: Path, folder: Path, way: str, capfd: pytest.CaptureFixture[str]) -> None:
    put(a=BAD)
    broken = folder / "broken"
    shutil.copytree(model, broken)
    BREAK[way](broken)  # type: ignore[no-untyped-call]
    assert main(["correct", "-w", "--model", str(broken), "a.txt"]) == 2
    out, talk = capfd.readouterr()
    assert out == "" and talk.startswith("edit-gec: ") and talk.count("\n") == 1
    assert str(broken) in talk or "num_heads is 'two'" in talk
    assert Path("a.txt").read_bytes() == BAD


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["--model", "no-such-model"], "no-such-model"),
        (["--model", ""], "model"),
        (["--set", "device=cuda:99"], "cuda:99"),
    ],
)
def test_wrong_model_or_device_is_one_line(
    model: Path, args: list[str], complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    put(a=BAD)
    assert main(["correct", "--model", str(model), "a.txt", *args]) == 2
    out, talk = capfd.readouterr()
    assert out == "" and talk.startswith("edit-gec: ") and talk.count("\n") == 1 and complaint in talk


def test_interrupt_while_torch_is_imported(model: Path, interruptible: None) -> None:
    """A KeyboardInterrupt there ends in C++ now and then, and aborts."""
    put(a=BAD)
    with subprocess.Popen([*EDIT_GEC, "correct", "--model", str(model), "a.txt"], stderr=subprocess.PIPE) as child:
        assert child.stderr is not None
        while child.poll() is None and "libtorch" not in Path(f"/proc/{child.pid}/maps").read_text():
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        talk = child.stderr.read()
    assert (child.returncode, talk) == (130, b"edit-gec: interrupted\n")


def test_the_shipped_model_corrects(folder: Path) -> None:
    try:
        find_model("edit5-mini")
    except ModelError:
        pytest.skip("no trained model in this checkout")
    put(a=b"I like it becuase it is good.\r\n")
    status, out, talk = run("correct", "a.txt", command=EDIT_GEC)
    assert (status, out, talk) == (0, b"I like it because it is good.\r\n", "")


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        ("MemoryError('Unable to allocate 8 GiB')", "out of memory"),
        ("RuntimeError('Traceback (most recent call last):\\n  ...\\nKeyError: 5\\n')", "RuntimeError: KeyError: 5"),
        ("UnicodeDecodeError('utf-8', b'\\xe2', 0, 1, 'no')", "UnicodeDecodeError: 'utf-8' codec"),
        ("RecursionError()", "a defect of edit-gec: RecursionError, at cli/main.py:"),
        ("AssertionError('\\n\\n')", "AssertionError"),
    ],
)
def test_what_nobody_foresaw_is_one_line_and_no_finding(raised: str, says: str) -> None:
    put(a=BAD)
    imports = "from edit_gec.cli import correct\nfrom edit_gec.cli.main import command"
    code = f"{imports}\ndef run(arguments): raise {raised}\ncorrect.run = run\ncommand()"
    status, out, talk = run("-c", code, "correct", "--check", "a", command=[sys.executable])
    assert (status, out, talk.count("\n")) == (2, b"", 1)
    assert talk.startswith("edit-gec: ") and says in talk
    _, _, talk = run("-X", "dev", "-c", code, "correct", "a", command=[sys.executable])
    assert "Traceback" in talk
