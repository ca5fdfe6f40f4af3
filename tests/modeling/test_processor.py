"""What Linux says of a processor, and when products of bytes are worth it."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from edit_gec.modeling import processor


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file that stands for /proc/cpuinfo."""
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(processor, "Path", lambda _: file)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    processor.multiplies_bytes.cache_clear()
    return file


@pytest.fixture(autouse=True)
def forget_the_answer() -> None:
    processor.multiplies_bytes.cache_clear()


@pytest.mark.parametrize(
    ("entry", "fast"),
    [
        ("flags\t\t: fpu avx2 avx512f avx512_vnni", True),
        ("flags\t\t: fpu avx2 avx_vnni", True),
        ("flags\t\t: fpu avx2 avx512f", False),
        ("Features\t: fp asimd asimddp", True),
        ("Features\t: fp asimd", False),
        ("model name\t: with avx512_vnni in its name", False),
    ],
)
def test_features_decide(report: Path, entry: str, fast: bool) -> None:
    report.write_text(f"processor\t: 0\n{entry}\nprocessor\t: 1\nflags\t\t: avx512_vnni\n" if fast else f"{entry}\n")
    assert processor.multiplies_bytes() is fast


def test_the_first_core_counts(report: Path) -> None:
    report.write_text("flags : a b\n\nflags : c\n")
    assert processor.read_flags() == {"a", "b"}
    assert processor.read_entry("model name") == ""


def test_without_a_report_nothing_is_known(report: Path) -> None:
    assert processor.read_flags() == frozenset()
    assert processor.multiplies_bytes() is False


@pytest.mark.parametrize(("machine", "fast"), [("arm64", True), ("x86_64", False)])
def test_macs(report: Path, monkeypatch: pytest.MonkeyPatch, machine: str, fast: bool) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert processor.multiplies_bytes() is fast
