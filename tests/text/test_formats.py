"""Formats: what is understood, what must not be edited, and what no name tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.text import formats

NAMES = {
    "markdown": "a.md B.MD a.markdown a.qmd foo.py.md README.md docs/build.md",
    "html": "a.html a.htm",
    "text": "a.txt a.text README Changelog sub/NEWS build.txt",
    "rst": "a.rst index.rst.txt a.rst.orig",
    "asciidoc": "a.adoc",
    "org": "a.org",
    "latex": "a.tex",
    "typst": "a.typ",
    "mdx": "a.mdx",
    "subtitles": "a.srt a.vtt",
    "commit": "COMMIT_EDITMSG .git/MERGE_MSG NOTES_EDITMSG",
    "licence": "LICENSE LICENCE.txt COPYING LICENSE-MIT COPYING.LESSER",
    "data": "a.csv a.yaml a.json requirements.txt requirements-dev.txt dev-requirements.txt robots.txt .gitignore",
    "code": "a.py a.js a.py.orig a.py.txt Makefile Dockerfile Dockerfile.dev CMakeLists.txt",
    None: "a a.xyz a.md.orig notes.2024 a.log",
}


@pytest.mark.parametrize(("known", "path"), [(known, path) for known in NAMES for path in NAMES[known].split()])
def test_format_of(known: str | None, path: str) -> None:
    assert formats.format_of(path) == known


@given(st.text("ab./_-A💥", max_size=8), st.sampled_from([".py", ".csv", ".srt", ".tex"]))
def test_no_name_before_the_suffix_makes_code_a_text(stem: str, suffix: str) -> None:
    known = formats.format_of(stem + suffix)
    assert known is not None and known not in formats.UNDERSTOOD


def test_every_format_has_a_name() -> None:
    assert set(NAMES) - {None} < set(formats.NAMES)
    assert set(formats.UNDERSTOOD) < set(formats.NAMES)
    assert {formats.format_of("a" + suffix) for suffix in formats.suffixes()} == set(formats.UNDERSTOOD)


def test_of_a_link_both_names_count(tmp_path: Path) -> None:
    for name, target in {"code.txt": "a.py", "notes.md": "blob", "notes": "b.md", "blind": "blob"}.items():
        (tmp_path / name).symlink_to(target)
    with pytest.raises(formats.FormatError, match="code.txt: cannot correct code"):
        formats.check(str(tmp_path / "code.txt"), writing=False)
    for name in ("notes.md", "notes"):
        formats.check(str(tmp_path / name), writing=True)
    formats.check(str(tmp_path / "blind"), writing=False)
    with pytest.raises(formats.FormatError, match="cannot write a file of unknown format"):
        formats.check(str(tmp_path / "blind"), writing=True)
