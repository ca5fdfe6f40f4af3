"""What format a file has, by its name, and which formats are understood.

    >>> format_of("docs/guide.md"), format_of("README"), format_of("client.py"), format_of("notes.xyz")
    ('markdown', 'text', 'code', None)

A file is rewritten only where its format is understood. The others that are listed here look like text and are not:
an edit breaks them. This is the only place that knows suffixes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from edit_gec.errors import InputError

UNDERSTOOD = ("markdown", "html", "text", "rst", "asciidoc", "org")
READ_ALIKE = ("markdown", "html", "text")  # by one reader; the others have their own (readers.py)

NAMES = {  # as messages say them
    "markdown": "Markdown",
    "html": "HTML",
    "text": "plain text",
    "mdx": "MDX",
    "rst": "reStructuredText",
    "asciidoc": "AsciiDoc",
    "org": "Org",
    "latex": "LaTeX",
    "typst": "Typst",
    "roff": "roff",
    "subtitles": "subtitles",
    "commit": "a commit message",
    "licence": "a licence",
    "data": "data",
    "code": "code",
}

_SUFFIXES = {
    "markdown": "md markdown qmd",
    "html": "html htm",
    "text": "txt text",
    "mdx": "mdx",
    "rst": "rst rest",
    "asciidoc": "adoc asciidoc asc",
    "org": "org",
    "latex": "tex latex ltx",
    "typst": "typ",
    "roff": "roff man mdoc troff",
    "subtitles": "srt vtt ass ssa sub sbv ttml",
    "data": "csv tsv bib json jsonl ndjson json5 jsonc yaml yml toml xml xsd xsl xslt svg rss atom plist ini cfg "
    "conf cnf config properties env lock po pot pem crt key ics vcf eml mbox dic aff m2 conll conllu diff "
    "patch rej sql graphql proto avsc ipynb tf tfvars hcl nix service desktop editorconfig",
    "code": "py pyi pyx pxd pyw js mjs cjs jsx ts mts cts tsx vue svelte astro c h cc cpp cxx hh hpp hxx m mm rs "
    "go java kt kts scala groovy gradle clj cljs cljc edn ex exs erl hrl hs lhs ml mli fs fsx fsi cs vb "
    "swift dart rb erb gemspec rake php phtml pl pm t lua r jl f f90 f95 for d nim zig v vhd vhdl sv asm "
    "s sh bash zsh fish ksh bat cmd ps1 psm1 awk sed tcl el lisp lsp scm rkt vim css scss sass less styl "
    "j2 jinja jinja2 tmpl tpl hbs ejs pug haml liquid mustache njk cmake mk mak ninja bzl bazel cu cuh "
    "glsl hlsl wgsl sol pas pp ada adb ads cob mermaid mmd dot gv puml plantuml sty cls dtx",
}
_FORMATS = {"." + suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_FILES = {  # whole names, where a suffix says nothing or something wrong
    "text": "readme changelog changes news history contributing todo",
    "code": "makefile gnumakefile dockerfile containerfile jenkinsfile vagrantfile gemfile rakefile brewfile "
    "podfile fastfile justfile procfile tiltfile build workspace git-rebase-todo sconstruct sconscript "
    "wscript pkgbuild configure cmakelists.txt meson_options.txt",
    "data": "robots.txt ads.txt security.txt codeowners version",
    "commit": "commit_editmsg merge_msg squash_msg tag_editmsg",
}
_NAMED = {name: known for known, names in _FILES.items() for name in names.split()}
_PATTERNS = (
    (re.compile(r"\w+_editmsg|edit_description"), "commit"),  # what git gives to an editor
    (re.compile(r"(?:(?:un)?licen[cs]e(?:-[\w.-]+)?|copying(?:\.less(?:er|ib)?)?)(?:\.\w+)?"), "licence"),
    (re.compile(r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in)"), "data"),
    (re.compile(r"(?:docker|container|make)file\..+"), "code"),
    (re.compile(r"\.+[^.]*"), "data"),  # .gitignore, .bashrc
)


def format_of(path: str) -> str | None:
    """The format of the file at this path, a key of NAMES; None where the name says nothing known.

    "client.py.orig" and "client.py.txt" are code: a copy of what must not be edited.
    """
    name = os.path.basename(path).casefold()
    if name in _NAMED:
        return _NAMED[name]
    for pattern, named in _PATTERNS:
        if pattern.fullmatch(name):
            return named
    stem, suffix = os.path.splitext(name)
    known = _FORMATS.get(suffix)
    if not suffix or "." not in stem or known not in (None, "text"):
        return known
    within = format_of(stem)
    return known if within in (None, *READ_ALIKE) else within


class FormatError(InputError):
    """A file that is not corrected, because of its format."""


def check(path: str, writing: bool) -> None:
    """Raise FormatError for a file that must not be corrected or, if `writing`, for one of unknown format.

    Of a symbolic link both names count: a link may have none of the known ones, and its file is what is written.
    """
    found = [known for known in map(format_of, (path, os.path.realpath(path))) if known]
    other = next((known for known in found if known not in UNDERSTOOD), None)
    if other is None and (found or not writing):
        return
    what = f"cannot correct {NAMES[other]}" if other else "cannot write a file of unknown format"
    raise FormatError(
        f"{path}: {what}; {list_understood()} are understood; use --read-as text, or --lines if each line is a text"
    )


def list_understood() -> str:
    """The formats that are understood, as a sentence names them."""
    *names, last = (NAMES[name] for name in UNDERSTOOD)
    return f"{', '.join(names)} and {last}"


def check_formats(formats: Sequence[str], texts: int) -> Sequence[str]:
    """The formats of so many texts; all Markdown if none are given. Raises InputError for others than UNDERSTOOD."""
    if not formats:
        return ["markdown"] * texts
    unknown = next((name for name in formats if name not in UNDERSTOOD), None)
    if unknown is not None:
        raise InputError(f"format {unknown!r}: expected one of {', '.join(UNDERSTOOD)}")
    if len(formats) != texts:
        raise InputError(f"{len(formats)} formats for {texts} texts; expected one for each")
    return formats


def suffixes() -> list[str]:
    """The suffixes of the formats that are understood, sorted."""
    return sorted(suffix for suffix, known in _FORMATS.items() if known in UNDERSTOOD)
