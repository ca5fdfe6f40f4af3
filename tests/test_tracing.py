"""The stages of the path: who hears them, and what their times add up to."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import edit_gec
from edit_gec.corrector import Corrector
from edit_gec.tracing import STAGES, Clock, Span, Stage, listen, span

TEXT = "She go to school 🏠 and its late. I has two banana , but the the dog eat it.\r\nWe was there on 3 May."


def test_own_times_add_up_to_the_outermost_stages() -> None:
    with listen(clock := Clock()):
        with span(Stage.ENCODE), span(Stage.TAG):
            with span(Stage.POINT):
                pass
            with span(Stage.POINT):
                pass
        with span(Stage.ENCODE):
            pass
    assert [each.name for each in clock.spans] == ["encode", "tag", "point", "point", "encode"]
    outermost = [each for each in clock.spans if each.name == "encode"]
    total = sum(each.ended - each.begun for each in outermost)
    assert abs(clock.seconds(Stage.ENCODE, Stage.TAG, Stage.POINT) - total) < 1e-9
    assert all(each.own_s >= 0 for each in clock.spans)
    assert Span("x", begun=1.0, ended=4.0, inner_s=2.5).own_s == 0.5


def test_nobody_hears_what_is_not_listened_to() -> None:
    with listen(clock := Clock()):
        other = threading.Thread(target=lambda: span(Stage.SPLIT).__enter__())
        other.start()
        other.join()
        with listen(inner := Clock()), span(Stage.ALIGN):
            pass
    with span(Stage.VERIFY):
        pass
    assert clock.spans == [] and [each.name for each in inner.spans] == ["align"]


def test_a_stage_ends_although_something_fails_in_it() -> None:
    with listen(clock := Clock()):
        try:
            with span(Stage.ENCODE):
                raise ValueError
        except ValueError:
            pass
        with span(Stage.TAG):
            pass
    assert all(each.ended >= each.begun > 0 for each in clock.spans) and clock.spans[0].inner_s == 0


def test_the_path_has_all_its_stages(model_folder: Path) -> None:
    corrector = Corrector.load(model_folder, threads=1)
    with listen(clock := Clock()):
        corrector.correct(TEXT, markup=False)
    heard = list(dict.fromkeys(each.name for each in clock.spans))
    assert heard[:5] == ["split", "tokenize", "encode", "tag", "point"]
    assert set(heard) <= set(STAGES) and {"insert setup", "insert step", "realize", "detokenize"} <= set(heard)
    assert all(before.ended <= after.begun for before, after in zip(clock.spans, clock.spans[1:], strict=False))


def test_every_stage_is_used() -> None:
    """The profiler lists all stages: one that no code enters would be an empty row."""
    files = Path(edit_gec.__file__).parent.rglob("*.py")
    named = {name for file in files for name in re.findall(r"with span\(Stage\.(\w+)\)", file.read_text("utf-8"))}
    assert named == {stage.name for stage in Stage}


def test_a_stage_is_its_name() -> None:
    assert (f"{Stage.INSERT_STEP}", Stage.INSERT_STEP) == ("insert step", "insert step")
    assert list(STAGES) == list(Stage)
