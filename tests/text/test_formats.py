"""Formats: what is understood, what must not be edited, and what no name tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.errors import InputError
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
    "mail": "a.eml",
    "commit": "COMMIT_EDITMSG .git/MERGE_MSG NOTES_EDITMSG",
    "licence": "LICENSE LICENCE.txt COPYING LICENSE-MIT COPYING.LESSER",
    "data": "a.csv a.ass a.mbox a.json requirements.txt requirements-dev.txt dev-requirements.txt .gitignore",
    "code": "a.py a.js a.yaml a.py.orig a.py.txt Makefile Dockerfile Dockerfile.dev CMakeLists.txt",
    None: "a a.xyz a.md.orig notes.2024 a.log",
}


@pytest.mark.parametrize(("known", "path"), [(known, path) for known in NAMES for path in NAMES[known].split()])
def test_format_of(known: str | None, path: str) -> None:
    assert formats.format_of(path) == known


@given(st.text("ab./_-A💥", max_size=8), st.sampled_from([".py", ".csv", ".srt", ".sty"]))
def test_no_name_before_the_suffix_makes_code_a_text(stem: str, suffix: str) -> None:
    known = formats.format_of(stem + suffix)
    assert known is not None and known not in formats.READ_ALIKE


def test_every_format_has_a_name() -> None:
    assert set(NAMES) - {None} < set(formats.NAMES)
    assert set(formats.UNDERSTOOD) < set(formats.NAMES)
    assert {formats.format_of("a" + suffix) for suffix in formats.suffixes()} == set(formats.searched())
    assert {*formats.searched(), *formats.NAMED_ONLY} == set(formats.UNDERSTOOD)


@pytest.mark.parametrize(
    ("language", "path", "known"),
    [
        ("gfm", "a.py", "markdown"),  # the editor knows best
        ("plaintext", "a.adoc", "asciidoc"),  # but for a suffix that says more than it
        ("plaintext", "a.org", "org"),
        ("plaintext", "a.py", "text"),
        ("plaintext", "a.md", "markdown"),
        ("mermaid-notes", "a.md", "markdown"),  # or a name that nothing has
        ("vimwiki", "a.md", "markdown"),
        ("pandoc", "", "markdown"),
        ("prompt", "fix.prompt.md", "markdown"),
        ("asciidoctor", "a.adoc", "asciidoc"),
        ("foam", "a.rst", "rst"),
        ("", "a.Rmd", "markdown"),
        ("", "a.mkdn", "markdown"),
        ("", "a.ipynb", "notebook"),
        ("", "a.po", "gettext"),
        ("", "a.pot", "data"),
        ("plaintext", ".git/COMMIT_EDITMSG", "commit"),  # but for what git asks
        ("GitCommit", "", "commit"),
        ("mail", "/tmp/mutt-1", "mail"),
        ("subrip", "", "subtitles"),
        ("typescriptreact", "a.tsx", "code/typescriptreact"),
        ("yaml", "a.yaml", "code/yaml"),
        ("unknown", "src/a.go", "code/a.go"),
        ("", "src/Makefile", "code/Makefile"),
        ("", "a.csv", "data"),
        ("", "a.xyz", None),
    ],
)
def test_find_format(language: str, path: str, known: str | None) -> None:
    assert formats.find_format(language, path) == known
    assert formats.is_understood(known) == (known not in ("data", None))


@pytest.mark.parametrize("language", ["norg", "no-such-language", "code", "json5x", "licence"])
def test_a_language_that_is_not_known_is_not_understood(language: str) -> None:
    assert not formats.is_understood(formats.find_format(language))
    with pytest.raises(InputError, match=f"format '{language}': expected one of markdown, .* such as python"):
        formats.check_formats([language], 1)


def test_check_formats() -> None:
    assert formats.check_formats([], 2) == ["markdown", "markdown"]
    assert formats.check_formats(["rst", "python", "code/a.py", "plain"], 4) == [
        "rst",
        "code/python",
        "code/a.py",
        "plain",
    ]
    with pytest.raises(InputError, match="1 formats for 2 texts"):
        formats.check_formats(["rst"], 2)
    with pytest.raises(InputError, match="format ''"):
        formats.check_formats([""], 1)


def test_of_a_link_both_names_count(tmp_path: Path) -> None:
    for name, target in {"code.txt": "a.py", "notes.md": "blob", "notes": "b.md", "blind": "blob"}.items():
        (tmp_path / name).symlink_to(target)
    with pytest.raises(formats.FormatError, match=r"code.txt: cannot correct code"):
        formats.check(str(tmp_path / "code.txt"), writing=False)
    for name in ("notes.md", "notes"):
        formats.check(str(tmp_path / name), writing=True)
    formats.check(str(tmp_path / "blind"), writing=False)
    with pytest.raises(formats.FormatError, match="cannot write a file of unknown format"):
        formats.check(str(tmp_path / "blind"), writing=True)
