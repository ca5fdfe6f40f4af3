"""How far a job is: a bar on a terminal, a line every half minute elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Any

from edit_gec.text.counts import format_count

INTERVAL_S = 30.0


class Progress:
    """Counts finished rows and units. `size` is the bytes of all units, from which the remaining time follows.

    The bar is on standard error; a line elsewhere goes to `say`.
    """

    def __init__(self, *, units: int, size: int, is_shown: bool, say: Callable[[str], None]) -> None:
        self.units = units
        self.size = size
        self.is_shown = is_shown
        self.say = say
        self.done_units = 0
        self.done_size = 0
        self.rows = 0
        self.begun = time.monotonic()
        self.said = self.begun
        self.bar: Any = None

    def __enter__(self) -> Progress:
        if self.is_shown and sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            self.bar = Bar(
                TextColumn("{task.percentage:.0f}%"),
                BarColumn(),
                TextColumn("{task.description}"),
                console=Console(stderr=True),
            )
            self.bar.add_task(self.line(), total=max(1, self.size))
            self.bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()

    def add_rows(self, rows: int) -> None:
        """Count corrected rows."""
        self.rows += rows
        self._show()

    def add_unit(self, size: int) -> None:
        """Count a finished unit of `size` bytes."""
        self.done_units += 1
        self.done_size += size
        self._show()

    def line(self) -> str:
        """Rows, their rate, units, and the time left."""
        elapsed = time.monotonic() - self.begun
        rate = f"{self.rows / elapsed:,.0f} rows/s" if elapsed > 1 else "- rows/s"
        left = "-"
        if self.done_size:
            left = str(timedelta(seconds=round(elapsed * (self.size - self.done_size) / self.done_size)))
        return f"{format_count(self.rows, 'row')}, {rate}, part {self.done_units:,} of {self.units:,}, {left} left"

    def _show(self) -> None:
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=self.done_size, description=self.line())
        elif self.is_shown and time.monotonic() - self.said > INTERVAL_S:
            self.said = time.monotonic()
            self.say(f"edit-gec: {self.line()}")
