"""Work in steps (runtime/fair_thread.py), done at once."""

from __future__ import annotations

from typing import TypeVar

from edit_gec.runtime.fair_thread import Steps

Result = TypeVar("Result")


def exhaust(steps: Steps[Result]) -> Result:
    """The result of work in steps."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
