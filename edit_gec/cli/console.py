"""What the commands say: data to standard output, talk to standard error, a progress bar on a terminal.

The library prints nothing. What it has to say while it works goes to a function `say` that a command hands in.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from edit_gec.errors import InputError

PATIENCE_S = 2.0  # work that takes longer gets a progress bar


def say(line: str) -> None:
    """Talk: one line on standard error."""
    if sys.stderr is not None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


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


def out_json(value: Any, indent: int | None = None) -> None:
    """Data as JSON, with a line break at its end."""
    text = json.dumps(value, ensure_ascii=False, indent=indent) + "\n"
    out(text.encode("utf-8", "backslashreplace"))  # of a file name that is not UTF-8: \udc80, as JSON writes it


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "edit"), count(2, "edit")
    ('1 edit', '2 edits')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shows_colors() -> bool:
    """Whether standard output is a terminal with colours, and nobody switched them off."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextlib.contextmanager
def ending_at_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process while torch is imported: a KeyboardInterrupt inside its C++ set-up aborts with a dump.

    For the main thread, and only while nothing is being written.
    """

    def leave(*_: object) -> None:
        say("edit-gec: interrupted")
        os._exit(130)

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # background jobs ignore Ctrl-C
        yield
        return
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class ProgressBar:
    """A bar on standard error, if that is a terminal and the work turns out to be long; gone when it is done."""

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled and sys.stderr is not None and sys.stderr.isatty()
        self.begun = time.monotonic()
        self.bar: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` parts of `total` are done."""
        if self.enabled and self.bar is None and time.monotonic() - self.begun > PATIENCE_S:
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
