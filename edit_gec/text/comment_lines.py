r"""Comments: which of their lines are prose, and which are code, directives to tools and names of parameters.

    Return the things.             prose
    :param x: the thing, or        prose after the mark, up to the end of the paragraph; so for `@param x`, and for
        none                       `x (int):` in a section `Args:`
    pragma: no cover               left out

Code, tables and doctests with their output are left out, too. No block need hold whole sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from edit_gec.text.parts import Part, Span, take

_DIRECTIVE = re.compile(
    r"\s*(?:#!|.*-\*-|frozen_string_literal:|(?:en)?coding[:=]"
    r"|noqa\b|nosec\b|nolint|nosonar|no ?cover\b|type: ?ignore|pragma\b|pylint:|pyright:|mypy:|ruff:"
    r"|isort:|flake8:|fmt: ?(?:on|off|skip)|yapf:|pytype:|eslint\b[-:\s]|tslint:|@ts-|@?prettier-ignore|biome-"
    r"|deno-lint|jshint\b|jslint\b|stylelint-|(?:istanbul|v8|c8|codecov|coverage)[: ]|clang-(?:format|tidy)|cspell:"
    r"|spell-?checker:|codespell:|rubocop:|shellcheck\b|hadolint\b|go:\w|\+build\b|(?:end ?)?region\b|endif\b|vim?:"
    r"|sourceMappingURL=|SPDX-|phpcs:|@?phpstan-"
    r"|edit-gec:|(?:type|ts)[-:]\S)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\s*(?:\.\.\. |\$ |(?:return|import|from|def|class|const|let|var|using|include|if|for|while)\b[^.]*[:;()=\"'{]\s*$"
    r"|[\w.\[\]$>-]+ ?(?:[-+*/:|&]?=|->|<-|:=|\()[^.?!]*$)"
    r"|.*[;{}]\s*$|.*\w\([^()]*\)[:,]?\s*$"
)
_PROSE = re.compile(
    r"(?:.*\b(?:the|an?|of|to|and|or|are|is|was|be|been|it|this|that|we|you|they|not|there)\b){2}", re.IGNORECASE
)
_DOCTEST = re.compile(r"\s*(?:>>>|In \[\d+\]:|irb>|iex>)")
_FIELD = re.compile(
    r"\s*:(?P<described>params?|parameter|arg|argument|key|keyword|raises?|except|exception|i?c?var|returns?|yields?)?"
    r"(?:(?<!:)[ \t][^:\n]{1,80}|\w[\w \t]{0,60})?:(?!`)(?:[ \t]+|$)"
)
_TAG = re.compile(
    r"\s*[@\\](?:(?P<named>param|arg|argument|prop|property|tparam|throws|exception|raise)"
    r"|(?P<described>returns?|brief|short|deprecated|note|warning|remarks?|details|todo|desc|description|summary)"
    r"|(?P<sample>example|code|verbatim|usage)|[A-Za-z]\w*)\b(?:\[[\w,]*\])?(?:[ \t]+\{[^{}\n]{0,200}\})?"
)
_PARAMETER = re.compile(r"[ \t]+(?:\[[^\[\]\n]{1,80}\]|[\w.$&*<>]+)(?:[ \t]+-)?(?:[ \t]+|$)")
_SECTION = re.compile(
    r"(?:(?P<items>Args|Arguments|Attributes|Parameters|Params|Other Parameters|Keyword Arg(?:ument)?s|Kwargs|Returns"
    r"|Raises|Yields|Receives|Warns|Methods|Fields|Members|Exceptions|Throws|Properties)"
    r"|(?P<samples>Examples?|Usage|Options|Commands|Synopsis|Environment|See Also|Doctests?))(?P<colon>:?)[ \t]*\Z",
    re.IGNORECASE,
)
_USAGE = re.compile(r"[ \t]*usage:[ \t]*\S", re.IGNORECASE)
_UNDERLINE = re.compile(r"-{3,}[ \t]*\Z")
_ITEM_HEAD = re.compile(
    r"[ \t]*[`*]{0,2}[A-Za-z_][\w.]*(?:\[[^\[\]\n]{0,80}\])?[`*]{0,2}[ \t]*(?:\([^()\n]{0,120}\))?[ \t]*:(?:[ \t]+|$)"
)


LONGEST_LINE = 1_000  # characters; what comes after them does not tell code from prose
_ALIGNED = re.compile(r"\S(?:[ \t]{3,}|[ \t]+(?:[-=]+>|<[-=]+)[ \t]+)\S")  # columns, arrows: an example, a table
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")


class _LineKind(Enum):
    """What a line of a comment is."""

    BLANK = "blank, or read as if it were"
    ITEM = "the beginning of a text of its own, behind a mark"
    PROSE = "prose"


class _End(Enum):
    """What ends a stretch of lines that are left out."""

    BLANK = "a blank line"
    FENCE = "another fence"
    HEADING = "an underlined heading"
    TAG = "a tag"
    TAG_OR_BLANK = "a tag or a blank line"


def read_comment(text: str, lines: Sequence[Span], *, in_docstring: bool) -> Iterator[Part]:
    """The parts of a comment that are prose. `lines` are its lines without marks, each with its end."""
    contents = [text[start:end].rstrip() for start, end in lines]
    filled = [line for line in contents if any(map(str.isalnum, line)) and not _DIRECTIVE.match(line)]
    if not in_docstring and sum(map(_is_code, filled)) * 2 >= len(filled):
        return
    format = "rst" if in_docstring else "markdown"
    kept: list[Span] = []
    in_item = False
    for (start, end), (kind, column) in zip(lines, _Lines(contents, in_docstring).read(), strict=True):
        if kept and (kind is _LineKind.ITEM or (in_item and kind is _LineKind.BLANK)):
            yield take(text, kept, "markdown" if in_item else format, fragment=True)
            kept = []
        in_item = kind is _LineKind.ITEM or (in_item and kind is _LineKind.PROSE)
        if kind is _LineKind.BLANK:
            column = end - start - text.endswith("\n", start, end)
        elif in_item and kind is _LineKind.PROSE:
            column = count_blanks(text[start:end])
        kept.append((start + column, end))
    yield take(text, kept, "markdown" if in_item else format, fragment=True)


def _is_code(line: str) -> bool:
    line = line[:LONGEST_LINE]
    is_directive = _DIRECTIVE.match(line) or _DOCTEST.match(line) or not any(map(str.isalnum, line))
    return bool(is_directive or (_CODE.match(line) and not _PROSE.match(line)))


def count_blanks(line: str) -> int:
    """How many blanks a line begins with."""
    return len(line) - len(line.lstrip(" \t"))


def _find_examples(contents: Sequence[str]) -> Iterator[int]:
    """The lines of paragraphs with columns or arrows."""
    first = 0
    for number, line in enumerate([*contents, ""]):
        if line.strip():
            continue
        if any(map(_ALIGNED.search, contents[first:number])):
            yield from range(first, number)
        first = number + 1


class _Lines:
    """Says of each line of a comment what it is, and in which column its prose begins."""

    def __init__(self, contents: Sequence[str], in_docstring: bool) -> None:
        self.contents = contents
        self.in_docstring = in_docstring
        self.skips_to: _End | int | None = None  # a number: a line that is indented no deeper
        self.section: int | None = None  # the margin of the section of parameters that is open
        self.items: int | None = None  # the margin of its items; deeper lines go on with one
        self.examples = {*_find_examples(contents)}  # numbers of lines
        self.is_underlined = False  # is it one of NumPy's sections, with items that are names and types?

    def read(self) -> Iterator[tuple[_LineKind, int]]:
        for number, line in enumerate(self.contents):
            if self._is_skipped(number, line):
                yield _LineKind.BLANK, 0
            else:
                yield next(found for rule in _RULES if (found := rule(self, number, line)))

    def _is_skipped(self, number: int, line: str) -> bool:
        end = self.skips_to
        is_blank = not line.strip()
        has_tag = bool(_TAG.match(line))
        if end in (_End.BLANK, _End.TAG_OR_BLANK) and is_blank:
            self.skips_to = None
        elif (end in (_End.TAG, _End.TAG_OR_BLANK) and has_tag) or (
            isinstance(end, int) and not is_blank and count_blanks(line) <= end
        ):
            self.skips_to = None
            return False
        elif end is _End.HEADING and self._is_heading(number):
            self.skips_to = None
            return False
        elif end is _End.FENCE and _FENCE.match(line):
            self.skips_to = None
        return is_blank or end is not None

    def _is_heading(self, number: int) -> bool:
        return number + 1 < len(self.contents) and bool(_UNDERLINE.match(self.contents[number + 1].strip()))

    def _left_out(self, until: _End | int | None = None) -> tuple[_LineKind, int]:
        self.skips_to = until
        return _LineKind.BLANK, 0

    def heading(self, number: int, line: str) -> tuple[_LineKind, int] | None:
        """The name of a section of a docstring: of parameters, or of what is left out up to its end."""
        margin = count_blanks(line)
        is_underlined = self._is_heading(number)
        if is_underlined or (self.section is not None and margin <= self.section and not self.is_underlined):
            self.section = self.items = None
        found = _SECTION.match(line.strip()) if self.in_docstring else None
        if not found or not (is_underlined or found["colon"]):
            return None
        if found["samples"]:
            return self._left_out(_End.HEADING if is_underlined else margin)
        self.section = margin
        self.items = None
        self.is_underlined = is_underlined
        return self._left_out()

    def sample(self, number: int, line: str) -> tuple[_LineKind, int] | None:
        """Code in fences, of a doctest, or how a command is called."""
        if _FENCE.match(line):
            return self._left_out(_End.FENCE)
        if _DOCTEST.match(line) or (self.in_docstring and _USAGE.match(line)):
            return self._left_out(_End.BLANK)
        return None

    def field(self, number: int, line: str) -> tuple[_LineKind, int] | None:
        """`:param x: text`, `@param x text`: what is named, then prose. Other fields and tags are left out."""
        if field := _FIELD.match(line):
            return (_LineKind.ITEM, field.end()) if field["described"] else self._left_out()
        tag = _TAG.match(line)
        if not tag:
            return None
        if tag["sample"]:
            return self._left_out(_End.TAG)
        if not tag["named"] and not tag["described"]:
            return self._left_out(_End.TAG_OR_BLANK)
        name = _PARAMETER.match(line, tag.end()) if tag["named"] and not self._has_only_type(tag) else None
        return _LineKind.ITEM, name.end() if name else tag.end()

    @staticmethod
    def _has_only_type(tag: re.Match[str]) -> bool:
        """`@throws {Error} if ...` names nothing after the braces."""
        return tag["named"] in ("throws", "exception", "raise") and tag[0].endswith("}")

    def item(self, number: int, line: str) -> tuple[_LineKind, int] | None:
        """A line of a section of parameters."""
        if self.section is None:
            return None
        margin = count_blanks(line)
        if self.is_underlined and margin <= self.section:
            self.items = None
            return self._left_out()
        is_first = self.items is None
        if self.items is None:
            self.items = margin
        head = _ITEM_HEAD.match(line) if margin == self.items and not self.is_underlined else None
        if head or is_first:
            return _LineKind.ITEM, head.end() if head else margin
        return _LineKind.PROSE, 0

    def code(self, number: int, line: str) -> tuple[_LineKind, int] | None:
        return self._left_out() if number in self.examples or _is_code(line) else None

    def prose(self, number: int, line: str) -> tuple[_LineKind, int]:
        return _LineKind.PROSE, 0


_RULES: tuple[Callable[[_Lines, int, str], tuple[_LineKind, int] | None], ...] = (
    _Lines.heading,
    _Lines.sample,
    _Lines.field,
    _Lines.item,
    _Lines.code,
    _Lines.prose,
)  # the first that applies says what a line is; `prose` always does
