"""`edit-gec correct`: documents in, corrections out in the requested form.

    documents (correct_inputs.py) -> groups -> Corrector.correct_batch -> wanted edits -> output (correct_output.py)

A file that cannot be read or written gives one line on standard error and exit status 2; the others are processed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from edit_gec.catalog import DEFAULT_MODEL
from edit_gec.cli.arguments import (
    SETTINGS,
    STATUSES,
    FrontOptions,
    UsageError,
    check_target,
    option,
)
from edit_gec.cli.console import ProgressBar, ending_at_interrupt, out, say, shows_colors
from edit_gec.cli.correct_inputs import GROUP_CHARACTERS, STDIN, InputDocument, InputReading, Inputs
from edit_gec.cli.correct_output import PRINTED, Output
from edit_gec.cli.extras import needing
from edit_gec.cli.old_sentences import Revision, find_keys, read_baseline, split_as, write_baseline
from edit_gec.config.settings import Settings
from edit_gec.errors import InputError, WriteError
from edit_gec.text import formats
from edit_gec.text.correction import assemble
from edit_gec.text.counts import format_count
from edit_gec.text.language_id import find_other

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.text.correction import Correction
    from edit_gec.text.edits import Edit


DESCRIPTION = (
    "Correct FILE and print the corrected text; with several files, list what would change. "
    f"Formats: {formats.list_understood()}.\n"
    f"In folders, README and files with these suffixes are corrected: {' '.join(formats.suffixes())}"
)
EPILOG = f"{SETTINGS}\n\n{STATUSES}"


@dataclass(frozen=True, kw_only=True)
class Arguments(FrontOptions):
    """The arguments of `edit-gec correct`."""

    files: Sequence[str] = option(nargs="*", metavar="FILE", help="file or folder; - or nothing for standard input")
    lines: bool = option(
        "--lines", action="store_true", help="each line is one sentence; for texts of several, edit-gec corpus"
    )
    read_as: str | None = option(
        "--read-as", choices=formats.UNDERSTOOD, metavar="FORMAT",
        help=f"format of the named files, whatever their suffixes: {', '.join(formats.UNDERSTOOD)}",
    )  # fmt: skip
    stdin_filename: str | None = option(
        "--stdin-filename", metavar="NAME",
        help="file name for standard input, from which its format and settings follow (default: Markdown)",
    )  # fmt: skip
    code: bool = option(
        "--code", action="store_true", help="in folders, also correct the comments and docstrings of code"
    )
    force_exclude: bool = option(
        "--force-exclude", action="store_true",
        help="skip named files that are excluded in the settings, or of an unsupported format",
    )  # fmt: skip
    since: str | None = option("--since", metavar="REV", help="only sentences that are not in this git revision")
    baseline: str | None = option("--baseline", metavar="FILE", help="only sentences that are not in this file")
    write_baseline: bool = option(
        "--write-baseline", action="store_true", help="write the sentences with findings to the --baseline FILE"
    )
    check: bool = option(
        "--check", group="output", action="store_true", help="list what would change; exit with 1 if anything would"
    )
    output: str | None = option(
        "--format", either="output", choices=PRINTED,
        help="what to print (default: text, findings for several files)",
        also={
            "-w --write": "correct the files in place, atomically",
            "--diff": "print a unified diff",
            "--inline": "print the text with the edits marked in it",
        },
    )  # fmt: skip
    explain: bool = option("--explain", action="store_true", help="name and explain each edit (needs edit-gec[score])")
    verbose: bool = option(
        "-v", "--verbose", group="messages", either="loudness", action="store_true",
        help="report progress, each edit, and what verification did",
    )  # fmt: skip
    quiet: bool = option("-q", "--quiet", either="loudness", action="store_true", help="report errors only")

    @property
    def form(self) -> str:
        """The form of the output: the requested one, else findings for several files and the text for one."""
        if self.output is not None:
            return self.output
        several = len(self.files) > 1 or any(map(os.path.isdir, self.files))
        return "findings" if self.check or self.write_baseline or several else "text"


def run(arguments: Arguments) -> int:
    """Correct everything; the exit status. Raises UsageError, and InputError when nothing can be corrected at all."""
    if arguments.output == "write" and arguments.check:
        raise UsageError("--check changes nothing: leave out --write")
    if arguments.output == "write" and (not arguments.files or STDIN in arguments.files):
        raise UsageError("--write needs files: standard input cannot be written back")
    if arguments.since is not None and (not arguments.files or STDIN in arguments.files):
        raise UsageError("--since needs files: git knows nothing of standard input")
    if arguments.write_baseline and (arguments.baseline is None or arguments.output == "write"):
        raise UsageError("--write-baseline needs --baseline FILE, and corrects nothing")
    check_target(arguments)
    return Run(arguments).run()


class Run:
    """One run of the command: from its arguments to its exit status."""

    def __init__(self, arguments: Arguments) -> None:
        from edit_gec.cli.loading import find_projects

        self.arguments = arguments
        self.projects = find_projects(arguments)
        self.since = None if arguments.since is None else Revision(arguments.since)
        reads_baseline = arguments.baseline is not None and not arguments.write_baseline
        self.baseline = read_baseline(str(arguments.baseline)) if reads_baseline else frozenset()
        self.found: list[tuple[str, str]] = []  # of a baseline to be written: key and file
        reading = InputReading(
            lines=arguments.lines,
            read_as=arguments.read_as,
            stdin_filename=arguments.stdin_filename,
            code=arguments.code,
            writing=arguments.output in ("write", "diff"),  # which `git apply` writes
            force_exclude=arguments.force_exclude,
            is_verbose=arguments.verbose,
            skips=self.since.is_unchanged if self.since else lambda path: False,
        )
        self.inputs = Inputs(arguments.files, self.projects, reading)
        self.output = Output(
            form=arguments.form,
            has_colors=shows_colors(),
            has_headings=len(arguments.files) > 1 or any(map(os.path.isdir, arguments.files)),
            has_notes=arguments.verbose or arguments.explain,
            is_check=arguments.check,
            is_quiet=arguments.quiet,
        )

    def run(self) -> int:
        """Correct everything and return the exit status. Raises InputError when nothing can be corrected at all."""
        corrector: Corrector | None = None
        with ProgressBar(self.inputs.size, enabled=not self.arguments.quiet) as progress:
            for group in self.inputs.groups():
                corrector = corrector or self._load()
                if self._comes_in_stretches(group[0]):
                    self._correct_in_stretches(corrector, group[0])
                    continue
                first = group[0].document.path
                name = first if len(group) == 1 else f"{first} and {format_count(len(group) - 1, 'more file')}"
                progress.begin(name, sum(len(source.document.text) for source in group))
                corrections = list(self._correct(corrector, group, progress))
                progress.end()
                for source, correction in zip(group, corrections, strict=True):
                    self._finish(source, correction)
        self._conclude(corrector)
        if self.inputs.has_failed:
            return 2
        lists = self.arguments.check or self.arguments.form == "findings"
        return int(lists and self.output.changed_files > 0)

    def _load(self) -> Corrector:
        from edit_gec.cli.loading import load_corrector

        begun = time.perf_counter()
        shared = self.projects.find_shared_settings(path for path in self.arguments.files if path != STDIN)
        # The other settings are those of each file.
        once = Settings(model=shared.model, run=shared.run, strictness=self.arguments.strictness)
        with ending_at_interrupt():
            corrector = load_corrector(self.arguments, once)
        if self.arguments.verbose:
            say(f"{once.model or DEFAULT_MODEL} loaded in {time.perf_counter() - begun:.1f} s")
        return corrector

    def _correct(
        self, corrector: Corrector, group: Sequence[InputDocument], progress: ProgressBar
    ) -> Iterator[Correction]:
        """The corrections of a group, those with equal thresholds and dialects together."""
        wanted = [(source.settings.threshold, source.settings.dialect) for source in group]
        for (threshold, dialect), together in groupby(zip(group, wanted, strict=True), key=lambda pair: pair[1]):
            sources = [source for source, _ in together]
            yield from corrector.with_settings(threshold, dialect).correct_batch(
                [source.document.text for source in sources],
                lines=self.arguments.lines,
                formats=[source.format for source in sources],
                progress=progress,
            )

    def _comes_in_stretches(self, source: InputDocument) -> bool:
        """Whether to print a document stretch by stretch: it is long, and only its text is printed."""
        asked = self.arguments
        text = source.document.text
        plain = asked.form == "text" and not (asked.check or asked.explain or asked.verbose)
        compared = (
            self.since is not None or asked.baseline is not None or source.settings.edit_filter().needs_types(text)
        )
        return plain and not compared and len(text) >= GROUP_CHARACTERS and find_other(text, source.format) is None

    def _correct_in_stretches(self, corrector: Corrector, source: InputDocument) -> None:
        """Print a long document as it is corrected; Ctrl-C keeps what is already printed."""
        document, settings = source.document, source.settings
        corrector = corrector.with_settings(settings.threshold, settings.dialect)
        is_wanted = settings.edit_filter().on(document.text)
        done = 0
        out(document.bom)
        for part in corrector.correct_in_stretches(document.text, lines=self.arguments.lines, format=source.format):
            kept = [edit for edit in part.edits if is_wanted(edit.moved(done))]
            out(assemble(part.text, kept).corrected.encode(document.encoding))
            done += len(part.text)

    def _finish(self, source: InputDocument, correction: Correction) -> None:
        """Drop the unwanted edits and output the others."""
        document = source.document
        try:
            other = find_other(document.text, source.format)
            if other is not None and not self.arguments.quiet:
                name = "standard input" if document.path == STDIN else document.path
                say(f"edit-gec: {name}: this looks like {other.name}; only English is corrected")
            is_read = other is None
            edits = self._choose(source, correction.edits) if correction.edits and is_read else ()
            if not self.arguments.write_baseline:
                hints = self._choose(source, correction.hints) if correction.hints and is_read else ()
                self.output.put(document, assemble(document.text, edits, correction.refused, hints))
        except (InputError, WriteError) as error:  # InputError: an old version of the file cannot be read
            self.inputs.fail(error)

    def _choose(self, source: InputDocument, edits: Sequence[Edit]) -> Sequence[Edit]:
        """The edits that remain after settings, directives and known sentences."""
        document = source.document
        chooser = source.settings.edit_filter()
        if self.arguments.explain or chooser.needs_types(document.text):
            with needing("--explain" if self.arguments.explain else "ignore by type", "score"):
                from edit_gec.annotation.explain import explain

                edits = explain(document.text, edits, source.format)
        edits = list(filter(chooser.on(document.text), edits))
        if not edits or (self.since is None and self.arguments.baseline is None):
            return edits
        splitter = split_as(self.arguments.lines, source.format)
        old = self.baseline | (self.since.find_keys(document.path, splitter) if self.since else frozenset())
        keys = find_keys(splitter(document.text), edits)
        new = [edit for edit, key in zip(edits, keys, strict=True) if key not in old]
        self.found += [(key, document.path) for key in keys if key not in old]
        return new

    def _conclude(self, corrector: Corrector | None) -> None:
        if self.arguments.write_baseline:
            write_baseline(str(self.arguments.baseline), self.found)
            if not self.arguments.quiet:
                say(f"{self.arguments.baseline}: {format_count(len(set(self.found)), 'sentence')}")
        else:
            self.output.conclude()
        if self.arguments.verbose and corrector is not None and (summary := corrector.predictor.summary()):
            say(json.dumps(summary))
