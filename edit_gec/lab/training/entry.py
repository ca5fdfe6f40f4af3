"""The end of `python -m edit_gec.lab.training.*`: an exit status, and a line on stderr for what the user can mend."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from edit_gec.errors import EditGecError


def run_main(main: Callable[[], int | None]) -> NoReturn:
    """End the process with the status of `main`, or with 2 and the message of an EditGecError or OSError."""
    try:
        sys.exit(main())
    except EditGecError as error:
        message = str(error)
    except OSError as error:
        message = f"{error.filename}: {error.strerror}"
    sys.stderr.write(f"edit-gec: {message}\n")
    sys.exit(2)
