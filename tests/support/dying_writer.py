"""edit-gec with fixed rules that dies while it writes a file.

    python tests/support/dying_writer.py line 700 correct -w FOLDER     SIGKILL before the 700th line of text/files.py
    python tests/support/dying_writer.py byte 1000 correct -w FOLDER    the kernel ends it behind byte 1,000 of a file

Lines count from the first write on.
"""

from __future__ import annotations

import os
import resource
import runpy
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from edit_gec.text import files

WRITING = {files.write, files.atomic_write, files.atomic_file.__wrapped__, files._copy_owner_and_mode}  # type: ignore[attr-defined]
CODE = {function.__code__ for function in (*WRITING, files._sync_folder, files.sweep.__wrapped__)}


def die_before_line(number: int) -> None:
    """Die before so many lines of a write have run."""
    left = number

    def trace(frame: FrameType, event: str, value: Any) -> Any:
        nonlocal left
        if frame.f_code not in CODE:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def die_behind_byte(number: int) -> None:
    """Die when a file gets more than so many bytes, all of which are on the disk then."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))


if __name__ == "__main__":
    way, place = sys.argv[1], int(sys.argv[2])
    (die_before_line if way == "line" else die_behind_byte)(place)
    sys.exit(runpy.run_path(str(Path(__file__).with_name("fake_model.py")))["run"](sys.argv[3:]))
