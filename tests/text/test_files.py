"""Files: read exactly, replaced whole or not at all, found by suffix. Failures are made to happen, not pretended."""

from __future__ import annotations

import codecs
import errno
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.errors import InputError, WriteError
from edit_gec.text import files
from edit_gec.text.file_search import Search

BOMS = [b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE]
CODECS = dict(zip(BOMS, ["utf-8", "utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"], strict=True))
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff") | st.sampled_from("\r\n🏠"))


@given(texts, st.sampled_from(BOMS))
def test_encode_undoes_decode(text: str, bom: bytes) -> None:
    data = bom + text.encode(CODECS[bom])
    document = files.decode("x", data)
    assert document.text == text
    assert document.encode(document.text) == data


@given(st.binary())
def test_any_bytes_are_read_exactly_or_refused_in_one_line(data: bytes) -> None:
    try:
        document = files.decode("x", data)
    except InputError as error:
        assert str(error).startswith("x: ") and "\n" not in str(error)
    else:
        assert document.encode(document.text) == data


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"caf\xe9\n", r"byte 4 \(0xe9\) on line 1 is not UTF-8; convert it first: iconv"),
        (b"ok\n\nca\xff", r"byte 7 \(0xff\) on line 3 is not UTF-8"),
        (codecs.BOM_UTF8 + b"\xff", r"byte 4 \(0xff\)"),
        (b"a\0b", r"binary file \(NUL character at 1\)"),
        (b"\x89PNG\r\n\x1a\n\0\0", r"binary file \(NUL byte at 8\)"),
        (codecs.BOM_UTF16_LE + b"a", "is not UTF-16-LE"),
    ],
)
def test_bytes_that_are_not_text(data: bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        files.decode("x.txt", data)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("missing.txt", "missing.txt: cannot read: No such file"), (".", "Is a directory"), ("a\0b", "cannot read")],
)
def test_what_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, complaint: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=complaint):
        files.read(name)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o751])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF16_LE])
def test_write_keeps_mode_encoding_and_line_ends(tmp_path: Path, bom: bytes, mode: int) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(bom + "She go.\r\nNo end".encode(CODECS[bom]))
    path.chmod(mode)
    files.write(files.read(str(path)), "She goes.\r\nNo end")
    assert path.read_bytes() == bom + "She goes.\r\nNo end".encode(CODECS[bom])
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert os.listdir(tmp_path) == ["a.txt"]


def test_write_follows_symbolic_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("She go.")
    link = tmp_path / "link.txt"
    link.symlink_to(Path("real", "a.txt"))
    files.write(files.read(str(link)), "She goes.")
    assert link.is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "She goes."


def test_write_refuses_what_it_would_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("She go.")
    document = files.read(str(path))
    path.chmod(0o444)
    with pytest.raises(WriteError, match="read-only; file unchanged"):
        files.write(document, "x")
    path.chmod(0o644)
    path.write_text("Somebody's newer text.")
    with pytest.raises(WriteError, match="changed on disk while it was corrected"):
        files.write(document, "x")
    assert path.read_text() == "Somebody's newer text."
    path.unlink()
    with pytest.raises(WriteError, match="No such file"):
        files.write(document, "x")
    os.mkfifo(path)
    with pytest.raises(WriteError, match="not a regular file"):
        files.write(document, "x")


def test_who_writes_at_the_last_moment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor saves while the new file reaches the disk: its text stays."""
    path = tmp_path / "a.txt"
    path.write_text("She go.")
    document, fsync = files.read(str(path)), os.fsync

    def save_and_sync(descriptor: int) -> None:
        path.write_text("Somebody's newer text.")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", save_and_sync)
    with pytest.raises(WriteError, match="changed on disk while it was corrected; file unchanged"):
        files.write(document, "She goes.")
    assert path.read_text() == "Somebody's newer text." and os.listdir(tmp_path) == ["a.txt"]


def test_a_document_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file, and of a stream that does not end."""
    monkeypatch.setattr(files, "MOST_BYTES", 2**20)
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 2**20)
    assert len(files.read(str(path)).text) == 2**20
    path.write_bytes(b"x" * (2**20 + 1))
    for name in (str(path), "/dev/zero"):
        with pytest.raises(InputError) as caught:
            files.read(name)
        most = "longer than 1 MiB, the most that one document may have"
        assert str(caught.value) == f"{name}: {most}; split it, or correct its lines as rows with edit-gec corpus"


def test_hard_links_keep_the_old_text(tmp_path: Path) -> None:
    path, other = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("She go.")
    other.hardlink_to(path)
    files.write(files.read(str(path)), "She goes.")
    assert (path.read_text(), other.read_text()) == ("She goes.", "She go.")
    assert path.stat().st_nlink == other.stat().st_nlink == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("She go.")
    os.chown(path, 1234, 4321)
    path.chmod(0o4755)
    files.write(files.read(str(path)), "She goes.")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o4755)


WRITE = """
import os, sys
from edit_gec.errors import WriteError
from edit_gec.text import files
from edit_gec.text.file_search import Search
document = files.read(sys.argv[1])
if sys.argv[3:] and os.geteuid() == 0:
    os.setuid(65534)
try:
    files.write(document, sys.argv[2] * 100_000)
except WriteError as error:
    print(error)
"""


def test_full_disk_leaves_the_file(tmp_path: Path) -> None:
    """The operating system really refuses the bytes after the first 1,000."""
    path = tmp_path / "a.txt"
    path.write_text("She go.")
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(path), "x"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.stdout == f"{path}: cannot write: File too large; file unchanged\n", done.stderr
    assert path.read_text() == "She go."
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("call", ["fsync", "replace", "fchmod"])
def test_failure_at_each_step_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("She go.")
    document = files.read(str(path))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(WriteError, match="No space left on device; file unchanged"):
        files.write(document, "She goes.")
    assert path.read_text() == "She go."
    assert os.listdir(tmp_path) == ["a.txt"]


def test_read_only_folder_leaves_the_file(tmp_path: Path) -> None:
    """With an ordinary user's rights, also where root runs the tests."""
    path = tmp_path / "a.txt"
    path.write_text("She go.")
    path.chmod(0o666)
    tmp_path.chmod(0o555)
    parents = [parent for parent in tmp_path.parents if not parent.stat().st_mode & stat.S_IXOTH]
    modes = [stat.S_IMODE(parent.stat().st_mode) for parent in parents]
    try:
        for parent in parents:
            parent.chmod(0o711)
        done = subprocess.run(
            [sys.executable, "-c", "import tempfile\n" + WRITE, str(path), "x", "as nobody"],
            capture_output=True,
            text=True,
        )
    finally:
        for parent, mode in zip(parents, modes, strict=True):
            parent.chmod(mode)
        tmp_path.chmod(0o755)
    assert done.stdout == f"{path}: cannot write: Permission denied; file unchanged\n", done.stderr
    assert path.read_text() == "She go."


WRITE_FOR_EVER = """
import itertools, sys
from edit_gec.text import files
from edit_gec.text.file_search import Search
for letter in itertools.cycle("ab"):
    files.write(files.read(sys.argv[1]), letter * 3_000_000)
    print(letter, flush=True)
"""
KILL = "os.{} = lambda *_: os.kill(os.getpid(), 9)"


def test_kill_in_the_middle_never_leaves_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("b" * 3_000_000)
    for delay_s in (0.0, 0.002, 0.005, 0.009, 0.014, 0.02):
        with subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None and child.stdout.readline() == b"a\n"
            time.sleep(delay_s)
            child.send_signal(signal.SIGKILL)
        found = path.read_bytes()
        assert found in (b"a" * 3_000_000, b"b" * 3_000_000)

    path.write_text("old")
    for step in ("fsync", "replace"):  # and just before each of the steps that count
        done = subprocess.run([sys.executable, "-c", f"import os\n{KILL.format(step)}\n{WRITE}", str(path), "new"])
        assert done.returncode == -signal.SIGKILL
        assert path.read_text() == "old"
    assert len(os.listdir(tmp_path)) > 2
    assert list(Search().find(str(tmp_path))) == [str(path)]  # left-over temporary files are never taken for texts


def test_what_killed_writers_left_is_removed_once_nobody_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    dying = f"import os\n{KILL.format('fsync')}\n{WRITE}"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", dying, str(path), "new"])
    one, other = tmp_path.glob(".*.partial")  # the other one was left within the last minute
    foreign = [tmp_path / name for name in (".a.txt.partial", "a.txt.0123456789abcdef.partial", ".x.0123.partial")]
    with files.atomic_file(tmp_path / "b.txt") as unfinished:
        (mine,) = set(tmp_path.glob(".b*.partial"))
        for file in (one, mine, *foreign):
            file.touch()
            os.utime(file, (0, 0))
        files.write(files.read(str(path)), "new")
        files.sweep.cache_clear()
        unfinished.write(b"whole")
    assert path.read_text() == "new" and (tmp_path / "b.txt").read_bytes() == b"whole"
    assert set(tmp_path.iterdir()) == {path, tmp_path / "b.txt", other, *foreign}


def test_an_atomic_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    place, umask = tmp_path / "new" / "ü.bin", os.umask(0o027)
    try:
        files.atomic_write(str(place), b"one")
    finally:
        os.umask(umask)
    assert place.read_bytes() == b"one" and stat.S_IMODE(place.stat().st_mode) == 0o640
    with pytest.raises(ZeroDivisionError), files.atomic_file(str(place)) as file:
        file.write(b"two")
        file.flush()
        assert place.read_bytes() == b"one" and len(os.listdir(place.parent)) == 2
        file.write(b"%d" % (1 // 0))
    assert place.read_bytes() == b"one" and os.listdir(place.parent) == [place.name]


def test_lines_and_json_are_written_as_a_whole(tmp_path: Path) -> None:
    def broken() -> Iterator[str]:
        yield "three"
        raise ZeroDivisionError

    place = tmp_path / "new" / "lines.txt"
    assert files.write_lines(place, ["one", "", "zwölf"]) == 3
    with pytest.raises(ZeroDivisionError):
        files.write_lines(place, broken())
    assert place.read_bytes() == "one\n\nzwölf\n".encode() and os.listdir(place.parent) == [place.name]
    files.write_json(place, {"a": [1, None]})
    with pytest.raises(TypeError):
        files.write_json(place, {"a": object()})
    assert json.loads(place.read_bytes()) == {"a": [1, None]} and place.read_bytes().endswith(b"\n}\n")
