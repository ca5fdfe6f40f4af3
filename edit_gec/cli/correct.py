"""`edit-gec correct`: documents in, corrections out in the form that was asked for.

    documents (files.py) -> groups -> Corrector.correct_batch -> one output for each document (report.py)

One file that cannot be read or written is one line on standard error and exit status 1, one of a format that is not
understood exit status 2; the others are still done.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from edit_gec import config
from edit_gec.errors import EditGecError, InputError, MissingExtraError, WriteError
from edit_gec.text import files, formats, render
from edit_gec.version import version

if TYPE_CHECKING:
    from edit_gec.corrector import Correction, Corrector
    from edit_gec.text.edits import Edit

GROUP_CHARACTERS = 200_000  # files corrected in one call: small ones share batches, memory stays bounded
STRUCTURED = ("json", "jsonl", "sarif", "github")  # these carry type and message themselves
PATIENCE_S = 2.0  # work that takes longer gets a progress bar


class Run:
    """One run of the command: what it was asked (the parsed arguments) and what came of it."""

    def __init__(self, args: Namespace) -> None:
        self.args = args
        self.settings = config.nearest(path for path in args.files if path != "-")
        self.headed = len(args.files) > 1 or any(map(os.path.isdir, args.files))
        self.failed = self.refused = False
        self.changed = self.edits = 0
        # (path, text, edits, refused edits), of formats that are one value
        self.reports: list[tuple[str, str, Sequence[Edit], Sequence[Edit]]] = []

    def run(self) -> int:
        """Correct everything and return the exit status. Raises InputError when nothing can be corrected at all."""
        corrector: Corrector | None = None
        for group in self._groups():
            corrector = corrector or self._load()
            with _ProgressBar(wanted=not self.args.quiet) as progress:
                texts = [document.text for document in group]
                corrections = corrector.correct_batch(texts, lines=self.args.lines, progress=progress)
            for document, correction in zip(group, corrections, strict=True):
                self._finish(document, correction)
        if self.args.output == "json":
            _out_json([render.as_json(*each) for each in self.reports], indent=1)
        elif self.args.output == "sarif":
            _out_json(render.sarif(version(), [each[:3] for each in self.reports]), indent=1)
        elif self.args.output == "write" and not self.args.quiet:
            say(f"{self.changed} files changed, {self.edits} edits")
        if self.args.stats and corrector is not None and corrector.verifier is not None:
            say(json.dumps(corrector.verifier.summary()))
        return 1 if self.failed else 2 if self.refused or (self.args.check and self.changed) else 0

    def _load(self) -> Corrector:
        args = self.args
        words = [*self.settings.dictionary, *(word for path in args.dictionary for word in config.words(path))]
        model = args.model if args.model is not None else self.settings.model or "edit5-mini"
        begun = time.perf_counter()
        with _interruptible():
            from edit_gec.catalog import DEFAULT_TARGET
            from edit_gec.corrector import Corrector

            corrector = Corrector.load(
                model,
                device=args.device,
                dtype=args.dtype,
                threads=args.threads,
                min_confidence=self.settings.min_confidence if args.min_confidence is None else args.min_confidence,
                batch_size=args.batch_size,
                dictionary=words,
                target=args.target or (DEFAULT_TARGET if args.verify else None),
                target_prefix=args.target_prefix,
                verify=args.verify or "always",
                lenience=args.lenience,
            )
        say_if_slow(args.dtype, args.device)
        if args.verbose:
            say(f"{model} loaded in {time.perf_counter() - begun:.1f} s")
        return corrector

    def _fail(self, error: EditGecError) -> None:
        say(f"edit-gec: {error}")
        self.failed = True

    def _paths(self) -> Iterator[tuple[str, bool]]:
        """(path, whether it was named and not found in a folder), each file once."""
        seen = set()
        for name in self.args.files or ["-"]:
            try:
                folder = os.path.isdir(name)
                if self._leaves_out(name):
                    continue
                for path in files.search(name, self.settings.exclude, self.settings.root) if folder else [name]:
                    if (real := os.path.realpath(path)) not in seen:
                        seen.add(real)
                        yield path, not folder
            except EditGecError as error:
                self._fail(error)

    def _leaves_out(self, name: str) -> bool:
        """Is this a name that a search from the settings' folder would not come to, and was that asked for?"""
        rules, root = self.settings.exclude, self.settings.root
        left_out = self.args.force_exclude and name != "-" and files.is_below_excluded(name, rules, root)
        if left_out and self.args.verbose:
            say(f"skipped {name}: excluded in pyproject.toml")
        return left_out

    def _documents(self) -> Iterator[files.Document]:
        for path, named in self._paths():
            try:
                document = _read_stdin() if path == "-" else files.read(path)
                if named and path != "-" and not self.args.lines and self.args.read_as is None:
                    formats.check(path, writing=self.args.output == "write" or self.args.force_exclude)
                yield document
            except formats.FormatError as error:
                if not self.args.force_exclude:
                    say(f"edit-gec: {error}")
                    self.refused = True
                elif self.args.verbose:
                    say(f"skipped {error}")
            except files.BinaryFileError as error:
                if named:
                    self._fail(error)
                elif self.args.verbose:
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
        if self.args.explain:
            edits = _explain(document.text, edits)
        try:
            if self.args.output != "write":
                self._print(document, correction, edits)
            elif edits:
                files.write(document, correction.corrected)
        except WriteError as error:
            return self._fail(error)
        self.changed += bool(edits)
        self.edits += len(edits)
        if self.args.check and edits and not self.args.quiet:
            say(f"{document.path}: {len(edits)} edits")
        if self.args.verbose or (self.args.explain and self.args.output not in STRUCTURED):
            for note in render.notes(document.path, document.text, edits):
                say(note)

    def _print(self, document: files.Document, correction: Correction, edits: Sequence[Edit]) -> None:
        path, text, output = document.path, document.text, self.args.output
        path = "stdin" if path == "-" else path
        if output in ("json", "sarif"):
            self.reports.append((path, text, edits, correction.refused))
        elif output == "jsonl":
            _out_json(render.as_json(path, text, edits, correction.refused))
        elif output == "github":
            out(render.github(path, text, edits))
        elif output == "diff":
            if document.bom:  # part of the first line for patch, part of no text for us
                edits = [replace(edit, start=edit.start + 1, end=edit.end + 1) for edit in edits]
                text = "\ufeff" + text
            out(render.unified_diff(path, text, edits))
        elif output == "inline":
            out((f"==> {path} <==\n" if self.headed else "") + render.inline(text, edits, color=_colors()))
        elif not self.args.check:
            out(document.encode(correction.corrected))


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the process while torch is imported: a KeyboardInterrupt inside its C++ set-up aborts with a dump.

    Only while nothing is being written.
    """

    def leave(*_: object) -> None:
        say("edit-gec: interrupted")
        os._exit(130)

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # a background job ignores Ctrl-C: so be it
        yield
        return
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _explain(text: str, edits: Sequence[Edit]) -> Sequence[Edit]:
    """The edits with type and message. Raises MissingExtraError where the extra is not installed."""
    try:
        from edit_gec.annotation.explain import explain

        return explain(text, edits)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"--explain needs {error.name}; install it: pip install 'edit-gec[score]'") from None


def _read_stdin() -> files.Document:
    if sys.stdin is None:
        raise InputError("standard input is closed; name a file or pipe a text in")
    if sys.stdin.isatty():
        say("edit-gec: reading from the terminal; end with Ctrl-D")
    return files.decode("-", sys.stdin.buffer.read())


def say(line: str) -> None:
    """Talk: one line on standard error."""
    if sys.stderr is not None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def say_if_slow(dtype: str, device: str) -> None:
    """A word to those who asked for other numbers to save time, on a processor that has no instructions for them."""
    if dtype == "float32":
        return
    import torch

    from edit_gec.modeling.onednn import has_native_dtype

    if not has_native_dtype(getattr(torch, dtype), device):
        say(f"edit-gec: this processor does not compute in {dtype}, it takes several times as long; leave --dtype out")


def out(data: str | bytes) -> None:
    """Data: on standard output, as these bytes whatever the locale. Raises InputError, or BrokenPipeError."""
    if sys.stdout is None:
        raise InputError("standard output is closed; use --write to correct files in place")
    try:
        # A stream of its own: sys.stdout may be unbuffered (python -u) and then stops short without a word.
        with open(sys.stdout.fileno(), "wb", closefd=False) as stream:
            stream.write(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"cannot write to standard output: {error.strerror}") from None


def _out_json(value: Any, indent: int | None = None) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent) + "\n"
    out(text.encode("utf-8", "backslashreplace"))  # of a file name that is not UTF-8: \udc80, as JSON writes it


def _colors() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class _ProgressBar:
    """A bar on standard error, if that is a terminal and the work turns out to be long; gone when it is done."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted and sys.stderr is not None and sys.stderr.isatty()
        self.begun = time.monotonic()
        self.bar: Any = None

    def __enter__(self) -> _ProgressBar:
        return self

    def __call__(self, done: int, total: int) -> None:
        if self.wanted and self.bar is None and time.monotonic() - self.begun > PATIENCE_S:
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True), transient=True)
            self.bar.start()
            self.bar.add_task("correcting", total=total)
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=done, total=total)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()
