"""A command run in this process, with standard streams of its own: as a process sees them, without its start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from tempfile import TemporaryFile

import pytest


def in_this_process(
    main: Callable[[Sequence[str]], int], argv: Iterable[str], stdin: bytes = b""
) -> tuple[int, bytes, str]:
    """(exit status, standard output, standard error) of main(argv); the streams are files, as after `>` and `2>`."""
    with TemporaryFile() as given, TemporaryFile() as written, TemporaryFile() as said:
        given.write(stdin)
        given.seek(0)
        with pytest.MonkeyPatch.context() as patch:
            for name, file, mode in (("stdin", given, "r"), ("stdout", written, "w"), ("stderr", said, "w")):
                patch.setattr(sys, name, open(file.fileno(), mode, encoding="utf-8", closefd=False))
            try:
                status = main(list(argv))
            except SystemExit as end:
                status = int(end.code or 0)
            sys.stdout.flush()
            sys.stderr.flush()
        for file in (written, said):
            file.seek(0)
        return status, written.read(), said.read().decode()
