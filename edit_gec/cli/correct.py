"""`edit-gec correct`: documents in, corrections out in the form that was asked for.

    documents (text/files.py) -> groups -> Corrector.correct_batch -> one output for each document (text/render.py)

One file that cannot be read or written is one line on standard error and exit status 1, one of a format that is not
understood exit status 2; the others are still done.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from edit_gec import config
from edit_gec.cli.arguments import (
    STATUSES,
    ModelOptions,
    UsageError,
    add_model_options,
    add_verification_options,
    check_verification,
)
from edit_gec.cli.console import ProgressBar, count, ending_at_interrupt, out, out_json, say, shows_colors
from edit_gec.cli.extras import needing
from edit_gec.errors import EditGecError, InputError, WriteError
from edit_gec.text import files, formats, render
from edit_gec.version import version

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.text.correction import Correction
    from edit_gec.text.edits import Edit

GROUP_CHARACTERS = 200_000  # files corrected in one call: small ones share batches, memory stays bounded
PRINTED = ("text", "json", "jsonl", "sarif", "github")
STRUCTURED = PRINTED[1:]  # these carry type and message themselves


@dataclass(frozen=True, kw_only=True)
class Arguments(ModelOptions):
    """What `edit-gec correct` was asked."""

    files: Sequence[str]
    lines: bool
    read_as: str | None
    force_exclude: bool
    check: bool
    output: str  # one of PRINTED, "write", "diff" or "inline"
    explain: bool
    stats: bool
    verbose: bool
    quiet: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = (
        f"Correct FILEs and print the corrected text. {formats.list_understood()} are understood.\n"
        f"In folders, README and files with these suffixes are corrected: {' '.join(formats.suffixes())}"
    )
    parser.epilog = (
        "[tool.edit-gec] in the nearest pyproject.toml sets dictionary, min-confidence, exclude, model.\n\n" + STATUSES
    )
    _add_input(parser)
    _add_output(parser)
    add_model_options(parser)
    add_verification_options(parser)
    talk = parser.add_argument_group("talk")
    talk.add_argument("--stats", action="store_true", help="say what verification did, as one line of JSON")
    loudness = talk.add_mutually_exclusive_group()
    loudness.add_argument("-v", "--verbose", action="store_true", help="say what is done, and show each edit")
    loudness.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")


def _add_input(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="file or folder; - or none is standard input")
    add("--lines", action="store_true", help="take each line as a text of its own")
    add(
        "--read-as", choices=formats.UNDERSTOOD, metavar="FORMAT",
        help=f"the format of the named files, whatever their names say: {', '.join(formats.UNDERSTOOD)}",
    )  # fmt: skip
    add(
        "--force-exclude", action="store_true",
        help="skip named files that a folder would not give: excluded in pyproject.toml, or of a format not understood",
    )  # fmt: skip


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--check", action="store_true",
        help="exit with 2 when something would change; print no text, say how many edits, with -v also which and where",
    )  # fmt: skip
    output = group.add_mutually_exclusive_group()
    for flags, summary in (
        (("-w", "--write"), "correct the files in place, atomically"),
        (("--diff",), "print a unified diff"),
        (("--inline",), "print the text with each edit shown in its place"),
    ):
        output.add_argument(*flags, action="store_const", dest="output", const=flags[-1][2:], help=summary)
    output.add_argument(
        "--format", choices=PRINTED, dest="output", default="text", help="what to print (default: text)"
    )
    group.add_argument("--explain", action="store_true", help="name and explain each edit (needs edit-gec[score])")


def run(arguments: Arguments) -> int:
    """Correct everything; the exit status. Raises UsageError, and InputError when nothing can be corrected at all."""
    if arguments.output == "write" and arguments.check:
        raise UsageError("--check changes nothing: leave out --write")
    if arguments.output == "write" and (not arguments.files or "-" in arguments.files):
        raise UsageError("--write needs files: standard input cannot be written back")
    check_verification(arguments, *(["--stats"] if arguments.stats else []))
    return Run(arguments).run()


class Report(NamedTuple):
    """A document in a format that is one value for all of them."""

    path: str
    text: str
    edits: Sequence[Edit]
    refused: Sequence[Edit]


class Run:
    """One run of the command: what it was asked and what came of it."""

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = arguments
        self.settings = config.nearest(path for path in arguments.files if path != "-")
        self.has_headings = len(arguments.files) > 1 or any(map(os.path.isdir, arguments.files))
        self.has_failed = self.has_refused = False
        self.changed_files = self.edits = 0
        self.reports: list[Report] = []

    def run(self) -> int:
        """Correct everything and return the exit status. Raises InputError when nothing can be corrected at all."""
        corrector: Corrector | None = None
        for group in self._groups():
            corrector = corrector or self._load()
            with ProgressBar(enabled=not self.arguments.quiet) as progress:
                texts = [document.text for document in group]
                corrections = corrector.correct_batch(
                    texts, lines=self.arguments.lines, formats=[self._format(d.path) for d in group], progress=progress
                )
            for document, correction in zip(group, corrections, strict=True):
                self._finish(document, correction)
        self._conclude(corrector)
        if self.has_failed:
            return 1
        return 2 if self.has_refused or (self.arguments.check and self.changed_files) else 0

    def _format(self, path: str) -> str:
        """What a document is read as: by its name, or as --read-as says; standard input as Markdown."""
        known = self.arguments.read_as or formats.format_of(path)
        return known if known in formats.UNDERSTOOD else "markdown"

    def _conclude(self, corrector: Corrector | None) -> None:
        """Print the formats that are one value, and say what came of it."""
        if self.arguments.output == "json":
            out_json([render.as_json(*each) for each in self.reports], indent=1)
        elif self.arguments.output == "sarif":
            out_json(render.sarif(version(), [each[:3] for each in self.reports]), indent=1)
        elif self.arguments.output == "write" and not self.arguments.quiet:
            say(f"{count(self.changed_files, 'file')} changed, {count(self.edits, 'edit')}")
        if self.arguments.stats and corrector is not None and corrector.verifier is not None:
            say(json.dumps(corrector.verifier.summary()))

    def _load(self) -> Corrector:
        from edit_gec.cli.loading import load_corrector, model_name

        begun = time.perf_counter()
        with ending_at_interrupt():
            corrector = load_corrector(self.arguments, self.settings)
        if self.arguments.verbose:
            name = model_name(self.arguments, self.settings)
            say(f"{name} loaded in {time.perf_counter() - begun:.1f} s")
        return corrector

    def _fail(self, error: EditGecError) -> None:
        say(f"edit-gec: {error}")
        self.has_failed = True

    def _paths(self) -> Iterator[tuple[str, bool]]:
        """(path, whether it was named and not found in a folder), each file once."""
        seen = set()
        for name in self.arguments.files or ["-"]:
            try:
                folder = os.path.isdir(name)
                if self._leaves_out(name):
                    continue
                for path in files.search(name, self.settings.exclude, self.settings.root) if folder else [name]:
                    real = os.path.realpath(path)
                    if real not in seen:
                        seen.add(real)
                        yield path, not folder
            except EditGecError as error:
                self._fail(error)

    def _leaves_out(self, name: str) -> bool:
        """Whether a search from the settings' folder would not come to this name, and --force-exclude is given."""
        rules, root = self.settings.exclude, self.settings.root
        left_out = self.arguments.force_exclude and name != "-" and files.is_below_excluded(name, rules, root)
        if left_out and self.arguments.verbose:
            say(f"skipped {name}: excluded in pyproject.toml")
        return left_out

    def _documents(self) -> Iterator[files.Document]:
        for path, named in self._paths():
            try:
                document = _read_stdin() if path == "-" else files.read(path)
                if named and path != "-" and not self.arguments.lines and self.arguments.read_as is None:
                    formats.check(path, writing=self.arguments.output == "write" or self.arguments.force_exclude)
                yield document
            except formats.FormatError as error:
                if not self.arguments.force_exclude:
                    say(f"edit-gec: {error}")
                    self.has_refused = True
                elif self.arguments.verbose:
                    say(f"skipped {error}")
            except files.BinaryFileError as error:
                if named:
                    self._fail(error)
                elif self.arguments.verbose:
                    say(f"skipped {error}")
            except EditGecError as error:
                self._fail(error)

    def _groups(self) -> Iterator[list[files.Document]]:
        group: list[files.Document] = []
        characters = 0
        for document in self._documents():
            group.append(document)
            characters += len(document.text)
            if characters >= GROUP_CHARACTERS:
                yield group
                group, characters = [], 0
        if group:
            yield group

    def _finish(self, document: files.Document, correction: Correction) -> None:
        """Write or print one document as asked, and count it."""
        edits: Sequence[Edit] = correction.edits
        if self.arguments.explain:
            edits = _explain(document.text, edits)
        try:
            if self.arguments.output != "write":
                self._print(document, correction, edits)
            elif edits:
                files.write(document, correction.corrected)
        except WriteError as error:
            return self._fail(error)
        self.changed_files += bool(edits)
        self.edits += len(edits)
        if self.arguments.check and edits and not self.arguments.quiet:
            say(f"{document.path}: {count(len(edits), 'edit')}")
        if self.arguments.verbose or (self.arguments.explain and self.arguments.output not in STRUCTURED):
            for note in render.notes(document.path, document.text, edits):
                say(note)

    def _print(self, document: files.Document, correction: Correction, edits: Sequence[Edit]) -> None:
        path, text, output = document.path, document.text, self.arguments.output
        path = "stdin" if path == "-" else path
        if output in ("json", "sarif"):
            self.reports.append(Report(path, text, edits, correction.refused))
        elif output == "jsonl":
            out_json(render.as_json(path, text, edits, correction.refused))
        elif output == "github":
            out(render.github(path, text, edits))
        elif output == "diff":
            if document.bom:  # part of the first line for patch, part of no text for us
                edits = [replace(edit, start=edit.start + 1, end=edit.end + 1) for edit in edits]
                text = "\ufeff" + text
            out(render.unified_diff(path, text, edits))
        elif output == "inline":
            out((f"==> {path} <==\n" if self.has_headings else "") + render.inline(text, edits, color=shows_colors()))
        elif not self.arguments.check:
            out(document.encode(correction.corrected))


def _explain(text: str, edits: Sequence[Edit]) -> Sequence[Edit]:
    """The edits with type and message. Raises MissingExtraError where the extra is not installed."""
    with needing("--explain", "score"):
        from edit_gec.annotation.explain import explain

        return explain(text, edits)


def _read_stdin() -> files.Document:
    if sys.stdin is None:
        raise InputError("standard input is closed; name a file or pipe a text in")
    if sys.stdin.isatty():
        say("edit-gec: reading from the terminal; end with Ctrl-D")
    return files.decode("-", sys.stdin.buffer.read())
