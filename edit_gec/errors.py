"""The one error that users see as one line.

InputError says what was given, what was wanted and what to do about it. The command line prints it on
stderr without a traceback and exits with status 1; every other exception is a bug of ours.
"""

from __future__ import annotations


class InputError(ValueError):
    """Input that we cannot work with: the message is one line, meant for the user."""
