"""Labelled regions: who hears them, and what their times add up to."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import edit_gec
from edit_gec.corrector import Corrector
from edit_gec.tracing import STAGES, STEP, Clock, Span, listen, region

TEXT = "She go to school 🏠 and its late. I has two banana , but the the dog eat it.\r\nWe was there on 3 May."


def test_own_times_add_up_to_the_outermost_regions() -> None:
    with listen(clock := Clock()):
        with region("a"), region("b"):
            with region("c"):
                pass
            with region("c"):
                pass
        with region("a"):
            pass
    assert [span.name for span in clock.spans] == ["a", "b", "c", "c", "a"]
    outermost = [span for span in clock.spans if span.name == "a"]
    total = sum(span.ended - span.begun for span in outermost)
    assert abs(clock.seconds("a", "b", "c") - total) < 1e-9
    assert all(span.own_s >= 0 for span in clock.spans)
    assert Span("x", begun=1.0, ended=4.0, inner_s=2.5).own_s == 0.5


def test_nobody_hears_what_is_not_listened_to() -> None:
    with listen(clock := Clock()):
        other = threading.Thread(target=lambda: region("elsewhere").__enter__())
        other.start()
        other.join()
        with listen(inner := Clock()), region("inner"):
            pass
    with region("after"):
        pass
    assert clock.spans == [] and [span.name for span in inner.spans] == ["inner"]


def test_a_region_ends_although_something_fails_in_it() -> None:
    with listen(clock := Clock()):
        try:
            with region("a"):
                raise ValueError
        except ValueError:
            pass
        with region("b"):
            pass
    assert all(span.ended >= span.begun > 0 for span in clock.spans) and clock.spans[0].inner_s == 0


def test_the_path_has_all_its_stages(model_folder: Path) -> None:
    corrector = Corrector.load(model_folder, threads=1)
    with listen(clock := Clock()):
        corrector.correct(TEXT, markup=False)
    heard = list(dict.fromkeys(span.name for span in clock.spans))
    assert heard[:5] == ["split", "tokenize", "encode", "tag", "point"]
    assert set(heard) <= set(STAGES) and {"insert setup", "insert step", "realize", "detokenize"} <= set(heard)
    assert all(before.ended <= after.begun for before, after in zip(clock.spans, clock.spans[1:], strict=False))


def test_every_stage_of_the_code_is_in_the_tables() -> None:
    """The profiler lists STAGES: a region that is none of them would be missing there."""
    files = Path(edit_gec.__file__).parent.rglob("*.py")
    named = {name for file in files for name in re.findall(r'with region\("([^"]+)"\)', file.read_text("utf-8"))}
    assert named | {STEP} == set(STAGES)
