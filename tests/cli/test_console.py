"""What the commands write: data, messages, colours, and a bar only where somebody sees it."""

from __future__ import annotations

import io
import os
import re
import sys

import pytest

from edit_gec.cli import console
from edit_gec.cli.console import ProgressBar, out, out_json, say, shows_colors
from edit_gec.errors import InputError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_data_are_bytes_whatever_the_locale(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    out("caf\udce9 é\n")
    out(b"\xff\n")
    out_json({"path": "caf\udce9", "text": "é"})
    assert capfdbinary.readouterr().out == b'caf\xe9 \xc3\xa9\n\xff\n{"path": "caf\\udce9", "text": "\xc3\xa9"}\n'


def test_closed_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    say("nobody hears it")
    with pytest.raises(InputError, match="standard output is closed"):
        out("data")
    assert not shows_colors()
    assert not ProgressBar(1, enabled=True).enabled


@pytest.mark.parametrize(
    ("terminal", "environment", "expected"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (False, {"TERM": "xterm"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
    ],
)
def test_colours(monkeypatch: pytest.MonkeyPatch, terminal: bool, environment: dict[str, str], expected: bool) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal() if terminal else io.StringIO())
    for name in ("TERM", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setitem(os.environ, name, value)
    assert shows_colors() is expected


def test_the_bar_goes_over_all_parts_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(console, "PATIENCE_S", -1.0)
    with ProgressBar(200, enabled=True) as bar:
        bar.begin("a.txt", 100)
        bar(1, 2)
        bar.end()
        bar.begin("b.txt", 100)
        bar(1, 1)
    shown = screen.getvalue().split("\r")
    assert [line.split()[0] for line in shown if line.strip()] == ["a.txt", "b.txt"]
    assert re.findall(r"(\d+) %", screen.getvalue()) == ["25", "100"]  # and perhaps how long the rest takes
    assert shown[-1] == "" and not shown[-2].strip(), "it ends on an empty line"


@pytest.mark.parametrize(("enabled", "patience"), [(False, -1.0), (True, 60.0)])
def test_short_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch, enabled: bool, patience: float) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(console, "PATIENCE_S", patience)
    with ProgressBar(100, enabled=enabled) as bar:
        bar.begin("a.txt", 100)
        bar(1, 2)
        bar.end()
    assert screen.getvalue() == ""
