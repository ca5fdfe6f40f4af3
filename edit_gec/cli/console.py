"""Output of the commands: data to standard output, messages to standard error, a progress bar on a terminal.

The library prints nothing. It reports through a function `say` that a command passes in.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from edit_gec.errors import InputError, keep_on_one_line

PATIENCE_S = 2.0  # work that takes longer gets a progress bar
BAR = 40  # its width
LEAST_SHARE = 0.01  # of the work, from which on the rest can be estimated


def say(line: str) -> None:
    """Talk: one line on standard error."""
    if sys.stderr is not None:
        sys.stderr.write(keep_on_one_line(line) + "\n")
        sys.stderr.flush()


def out(data: str | bytes) -> None:
    """Data: on standard output, as these bytes whatever the locale. Raises InputError, or BrokenPipeError."""
    if sys.stdout is None:
        raise InputError("standard output is closed; use --write to correct files in place")
    try:
        # A stream of our own: an unbuffered sys.stdout (python -u) may write only a part, without an error.
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


def shows_colors() -> bool:
    """Whether to use colours on standard output: if it is a terminal, unless NO_COLOR or FORCE_COLOR says otherwise."""
    if os.environ.get("FORCE_COLOR"):
        return True
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


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


def estimate_rest(took_s: float, share: float) -> str:
    """How long work of which a `share` took so many seconds will go on at this rate; "" where that is a mere guess.

    >>> estimate_rest(60, 0.25), estimate_rest(60, 0.9), estimate_rest(600, 0.1), estimate_rest(2, 0.001)
    (', 3 min left', ', 7 s left', ', 1 h 30 min left', '')
    """
    if share < LEAST_SHARE:
        return ""
    rest_s = took_s * (1 - share) / share
    if rest_s < 100:
        return f", {math.ceil(rest_s)} s left"
    hours, minutes = divmod(round(rest_s / 60), 60)
    return f", {hours} h {minutes} min left" if hours else f", {minutes} min left"


class ProgressBar:
    """A bar on standard error over the whole work, if that is a terminal and the work takes long.

    The work comes in parts: `begin` a part of some `size`, call the bar with what is done of it, `end` it. Between
    parts, while data is printed, the bar is hidden. It disappears when all is done.
    """

    def __init__(self, size: int, *, enabled: bool) -> None:
        self.enabled = enabled and sys.stderr is not None and sys.stderr.isatty()
        self.size = size  # of all parts
        self.finished = self.part = 0
        self.name = ""
        self.begun = time.monotonic()
        self.shown = ""

    def __enter__(self) -> ProgressBar:
        return self

    def begin(self, name: str, size: int) -> None:
        """The next part."""
        self.name = keep_on_one_line(name)
        self.part = size
        self.size = max(self.size, self.finished + size)

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` are done in this part."""
        took_s = time.monotonic() - self.begun
        if not self.enabled or took_s <= PATIENCE_S:
            return
        share = (self.finished + self.part * done / max(1, total)) / max(1, self.size)
        full = round(BAR * share)
        self._show(f"{self.name} {'━' * full}{' ' * (BAR - full)} {round(100 * share)} %{estimate_rest(took_s, share)}")

    def end(self) -> None:
        """This part is done."""
        self.finished += self.part
        self._show("")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._show("")

    def _show(self, line: str) -> None:
        """Put a line in the place of the last one."""
        if line != self.shown:
            sys.stderr.write("\r" + line.ljust(len(self.shown)) + ("" if line else "\r"))
            sys.stderr.flush()
            self.shown = line
