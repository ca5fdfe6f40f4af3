"""Files that are read are input: settings, patterns and lists end in the right answer or in one line, in time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.config.projects import Projects
from edit_gec.config.settings import parse
from edit_gec.config.user_words import WatchedLineFile
from edit_gec.errors import InputError
from edit_gec.text.edit_filter import EditFilter
from edit_gec.text.edits import Edit, contains_word
from edit_gec.text.expressions import check_expressions, find_matches
from edit_gec.text.file_search import Search

WRONG = {
    "edit-gec.toml": (
        f"ignore-regex = ['{'a' * 10_001}']",
        'ignore-regex = ["a{99999999999}"]',
        'ignore-regex = ["' + "(" * 3000 + ")" * 3000 + '"]',
        f"exclude = ['{'*a' * 30} b']",
        f"exclude = ['{'**/a/' * 15}b']",
        'exclude = ["[z-a].md"]',
        "a = " + "[" * 20_000,
        f"min-confidence = {'1' * 5000}",
        'dictionary = "pipe"',
        'dictionary = "device"',
    ),
    "pyproject.toml": ('tool = ["edit-gec"]', 'tool = "edit-gec"', "# edit-gec\na = " + "[" * 20_000),
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts])
def test_wrong_settings_are_one_line(tmp_path: Path, name: str, text: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / name).write_text(text)
    begun = time.process_time()
    with pytest.raises(InputError) as caught:
        Projects(isolated=False).find_settings(str(tmp_path / "a.md"))
    assert time.process_time() - begun < 5
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "lines", ["*a" * 30 + " b", "**/a/" * 15 + "/b", "x\x85notes.md", "x\u2028notes.md", "[z-a]", "[[a"]
)
def test_odd_lines_of_gitignore_hide_nothing(tmp_path: Path, lines: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(lines)
    names = {"a" * 60 + ".md", "notes.md"}
    for name in names:
        (tmp_path / name).write_text("She go.")
    assert {os.path.basename(path) for path in Search().find(str(tmp_path))} == names


def test_a_gitignore_that_is_a_device_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").symlink_to("/dev/zero")
    (tmp_path / "notes.md").write_text("She go.")
    assert len(list(Search().find(str(tmp_path)))) == 1


@pytest.mark.parametrize("pattern", ["x*", "a|", "", "^", "$", r"\b", "[A-Z]*"])
def test_an_empty_match_leaves_nothing_alone(pattern: str) -> None:
    text = "she go home"
    is_wanted = EditFilter(patterns=(pattern,)).on(text)
    assert is_wanted(Edit(4, 6, "go", "went", 0.9))


@given(text=st.text("ab c", max_size=30), pattern=st.sampled_from(["a", "ab*", "b|", "c?a"]), data=st.data())
def test_an_edit_is_left_alone_where_it_shares_a_character(text: str, pattern: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    expected = any(
        found.start() < end and found.end() > start
        for found in re.finditer(pattern, text)
        if found.end() > found.start()
    )
    edit = Edit(start, end, text[start:end], text[start:end] + "X", 0.9)
    if start < end:
        assert EditFilter(patterns=(pattern,)).on(text)(edit) is not expected


def test_directives_take_linear_time() -> None:
    def measure(n: int) -> float:
        unit = "edit-gec: ignore\nI teh\n"
        edits = [Edit(k * len(unit) + 19, k * len(unit) + 22, "teh", "the", 0.9) for k in range(n)]
        begun = time.process_time()
        is_wanted = EditFilter().on(unit * n)
        list(map(is_wanted, edits))
        return time.process_time() - begun

    assert measure(8000) < 10 * measure(2000) + 0.1


@pytest.mark.parametrize("pattern", ["a*a*a*b", "(a+)+$", r"(\w+\s?)*b"])
def test_a_slow_pattern_ends_in_one_line(pattern: str) -> None:
    settings = parse({"ignore-regex": [pattern]}, "edit-gec.toml")
    begun = time.process_time()
    with pytest.raises(InputError, match="takes too long for a text of 100,000 characters") as caught:
        settings.edit_filter().on("a" * 99_996 + "!\nb.")
    assert time.process_time() - begun < 5 and "\n" not in str(caught.value)


ATOMS = r"a b . \w [^a] { } {e} {1,2} {,2} {b} ^ $ \b * +? | ( ) \{".split()


@given(st.lists(st.sampled_from(ATOMS), max_size=8), st.text("abe{} \n1", max_size=20))
def test_patterns_mean_what_they_mean_in_python(atoms: list[str], text: str) -> None:
    """Also where the package would read more into them: x{e} is an approximate match there."""
    pattern = "".join(atoms)
    try:
        check_expressions([pattern])
    except InputError:
        return
    (found,) = find_matches([pattern], text)
    expected = [each.span() for each in re.finditer(pattern, text, re.MULTILINE) if each.end() > each.start()]
    assert list(zip(found.starts, found.ends, strict=True)) == expected


def test_a_line_of_words_ends_where_files_end_lines(tmp_path: Path) -> None:
    """Not at the other characters at which Python's str.splitlines cuts."""
    file = WatchedLineFile(tmp_path / "words.txt")
    file.path.write_text("one\u2028two\x85\rthree\r\nfour\n", newline="")
    assert file.read() == ("one\u2028two", "three", "four")
    assert not file.remove("two") and file.remove("three")
    assert file.path.read_bytes() == "one\u2028two\x85\rfour\n".encode()


@pytest.mark.parametrize("word", ["kubectl", "Zürich", "Zu\u0308rich", "x86-64", "don't", "node.js", "snake_case"])
def test_words_that_texts_can_have_are_found(word: str) -> None:
    """Also with marks that are characters of their own. Others are refused (server/words.py)."""
    assert contains_word(f"({word}, so", frozenset([word.casefold()]))


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_words_that_several_processes_add_are_all_kept(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from edit_gec.config.user_words import WatchedLineFile as F\n"
        "f = F(Path(sys.argv[1]))\n"
        "assert all(f.add(f'word{sys.argv[2]}x{n}') for n in range(75))"
    )
    path = tmp_path / "dictionary.txt"
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)]) for n in range(4)]
    assert [each.wait(120) for each in running] == [0] * 4
    assert len(set(WatchedLineFile(path).read())) == 300
