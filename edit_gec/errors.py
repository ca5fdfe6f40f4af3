"""Every error that a user can do something about, as one line.

    EditGecError             the base class of all
      InputError             an argument, a file or a text that does not fit (also a ValueError)
      ModelError             a model that is unknown, broken or of another kind
      DeviceError            a device that this machine does not have
      WriteError             a file that cannot be written; it is as it was
      MissingExtraError      a part that needs a package that is not installed

A message says what was given, what was expected and what to do about it. The command line prints it on stderr without
a traceback and exits with status 2. Every other exception is a defect of ours: one line, too, that says where.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterable

PACKAGE = os.path.dirname(__file__)
# Control characters, line breaks, and what turns the direction of writing.
_ACTS_ON_TERMINALS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class EditGecError(Exception):
    """Something that a user can put right: the message is one line, meant for the user."""


class InputError(EditGecError, ValueError):
    """An argument, a file or a text that we cannot work with."""


class ModelError(EditGecError):
    """A model that is unknown, or a folder that holds no such model."""


class DeviceError(EditGecError):
    """A device that is unknown, or that this machine does not have."""


class WriteError(EditGecError):
    """A file that could not be written or replaced; it is as it was."""


class MissingExtraError(EditGecError):
    """A package that this part of edit-gec needs is not installed; the message names the extra to install."""


def keep_on_one_line(text: str) -> str:
    r"""Text in a line that people read, such as a file's name: nothing in it colours, hides or begins a line.

    >>> keep_on_one_line("a\x1b[31m\n::error::.md")
    'a\\x1b[31m\\n::error::.md'
    """
    return _ACTS_ON_TERMINALS.sub(lambda found: ascii(found[0])[1:-1], text)


def describe_failure(error: BaseException) -> str:
    """An exception that nobody foresaw, as one line: what was raised, how its message begins and ends, where we were.

    >>> describe_failure(ZeroDivisionError("division by zero"))
    'a defect of edit-gec: ZeroDivisionError: division by zero; please report it (python -X dev shows all of it)'
    >>> describe_failure(RuntimeError("a worker failed:\\nTraceback\\nIndexError: 3")).partition("; ")[0]
    'a defect of edit-gec: RuntimeError: a worker failed: IndexError: 3'
    """
    if isinstance(error, MemoryError):
        return "out of memory; give it more, or less text at a time"
    lines = [line.rstrip(":") for line in str(error).strip().splitlines()]
    ends = lines[-1:] if str(error).startswith("Traceback (") else lines[:1] + lines[-1:]  # a traceback's end counts
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename.startswith(PACKAGE + os.sep)]
    places = [f"{os.path.relpath(frame.filename, PACKAGE)}:{frame.lineno}" for frame in frames[-1:]]
    raised = ": ".join([type(error).__name__, *(line[:200] for line in dict.fromkeys(ends))])
    return f"a defect of edit-gec: {', at '.join([raised, *places])}; please report it (python -X dev shows all of it)"


def did_you_mean(given: str, known: Iterable[str], form: str = "{}") -> str:
    """Which known name was probably meant, to be put behind an error; "" where none is near.

    >>> did_you_mean("--chek", ["--check", "--code"])
    '; did you mean --check?'
    """
    import difflib

    near = difflib.get_close_matches(given, known, 1)
    return f"; did you mean {form.format(near[0])}?" if near else ""
