"""Text -> sentences that know where each of their characters came from, and edits of them -> edits of the text.

    text      "> We **has** met the\\n> the mayor."
    view      "We has met the the mayor."        what the model reads: Sentence.text
    project   view[3:6]   -> "have"              Edit 7:10 -> "have", inside the asterisks
              view[14:18] -> "" (" the")         Edit 23:27 -> "" ("the "), so that "\\n> " stays

Stage 1 of the path. Laws (tests/test_sentences.py): a view character is the document's character at its offset, or a
space that stands for a line break; offsets strictly increase; sentences come in order and share nothing; every word
outside left-out markup is in exactly one sentence; projected edits keep markup, protected spans and line breaks.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from itertools import accumulate, pairwise
from typing import NamedTuple

from edit_gec.text import protected
from edit_gec.text.boundaries import boundaries
from edit_gec.text.code_comments import keeps_comment
from edit_gec.text.edits import Change, Edit, apply_changes, fit_to_words, narrow
from edit_gec.text.formats import PLAIN
from edit_gec.text.fragments import (
    SEVERAL,
    changes_only_marks,
    ends_open,
    is_open_ended,
    keep_case,
    keep_end,
    starts_small,
)
from edit_gec.text.licences import is_licence
from edit_gec.text.markup import (
    ASIDE,
    BREAK,
    FOLD,
    FRAGMENT,
    LEFT_OUT,
    PROTECTED,
    Flags,
    inline,
    is_fragment,
    mark,
    mark_ignored,
    regions,
)
from edit_gec.text.paragraphs import LINE_BREAK, Line, flagged_paragraphs, paragraphs
from edit_gec.text.parts import Part
from edit_gec.text.readers import READERS, REGIONS, SPECIAL, read_parts
from edit_gec.text.references import find_keys, find_labels, key_of
from edit_gec.text.shown import Examples, find_shown
from edit_gec.text.words import Replacement, breaks_character, is_word_character

_UNDERLINING = ("asciidoc", "rst")  # formats in which marks that are too short make a title text
_CRLF = re.compile(r"(?<!\r)\r\n")
LONG_TEXT = 200_000  # characters; the sentences of a longer one are never all in memory
_KEPT = re.compile(rb"[\x00\x02\x04\x06\x10\x12\x14\x16]+")
_NOT_BREAK = re.compile(rb"[\x00-\x07\x10-\x17]+")
_IS_PROTECTED = re.compile(rb"[\x02\x06\x12\x16]+")
_IS_FOLD = re.compile(rb"[\x04\x06\x14\x16]")
_MARKED = re.compile(r"^(?:#{1,6}[ \t]|[-*+][ \t]|={3,}|-{3,})|\]\(", re.MULTILINE)  # a heading, an item, a link
_BLANK = re.compile(r"\n[ \t\r]*\n")
_ENDS = frozenset(".!?")
_CLOSED = re.compile(r"[.!?][`'\"”’)*_]*$")  # a span that ends as a sentence does
_AROUND_ASIDES = bytes(LEFT_OUT if value & ASIDE else value for value in range(256))
_INSIDE_ASIDES = bytes(value & ~ASIDE if value & ASIDE else BREAK for value in range(256))


@dataclass(frozen=True)
class Sentence:
    """One line of prose for the model, and the way back. All spans are half-open, in code points."""

    text: str
    offsets: Sequence[int]  # document offset of each character of `text`, then the end of the last one
    protected: tuple[tuple[int, int], ...]  # spans of `text` that must stay exactly as they are
    folds: tuple[tuple[int, str], ...] = ()  # positions in `text` that stand for these document characters: a space for
    # a line break or a tie, the last character of what is read in the place of markup
    first: bool = False  # of its block (paragraph, list item, heading, table cell); no line that was taken by itself is
    last: bool = False
    fragment: bool = False  # the block need not hold whole sentences
    special: str = ""  # characters that are markup: no edit brings them in
    in_code: bool = False  # it is of a comment or docstring, which no edit may end
    alone: bool = False  # a line that was taken by itself: no document is around it
    is_underlined: bool = False  # a title above marks that must be as long as it, if its document has such titles
    unmarked: bool = False  # its document has no code blocks or the like: it may be anybody's letter
    kept: tuple[tuple[int, int], ...] | None = None  # `protected` without errors that are shown on purpose and titles
    # that something refers to; None where there are none

    def project(self, document: str, change: Change) -> Edit | None:
        """A change of the sentence as an edit of its document; None where `to_document` finds no place for it.

        The change is first expanded to whole words and trimmed of words that stay, then taken to the document, where
        it is expanded again: markup may have hidden a part of a word. Confidence is rounded to four digits. None
        also where a character of several code points would be cut, before or after.
        """
        start, end, replacement, confidence, provenance = change
        if breaks_character(self.text, start, end, replacement):
            return None
        place = self.to_document(*fit_to_words(self.text, start, end, replacement))
        if place is None:
            return None
        start, end, replacement = fit_to_words(document, *place)
        if breaks_character(document, start, end, replacement):
            return None
        if self.in_code and not keeps_comment(document, start, end, replacement):
            return None
        return Edit(start, end, document[start:end], replacement, round(confidence, 4), provenance)

    def opened(self) -> Sentence | None:
        """The sentence as if what is shown or referred to were any prose; None where nothing is."""
        return None if self.kept is None else replace(self, protected=self.kept, kept=None)

    def holds(self, edit: Edit) -> bool:
        """Whether an edit of the document lies in the sentence."""
        return self.offsets[0] <= edit.start and edit.end <= self.offsets[-1]

    def span_of(self, edit: Edit) -> tuple[int, int]:
        """Where in `text` an edit of the document lies."""
        return bisect_left(self.offsets, edit.start), bisect_left(self.offsets, edit.end)

    def to_document(self, start: int, end: int, replacement: str) -> Replacement | None:
        """The edit text[start:end] -> replacement, in the document.

        None where it would touch something protected or left out, break or join lines, or change nothing. The ends of
        a block stay as its kind asks (fragments.py). A deletion may be shifted to an equal one ("the\\nthe": either
        word), and a replacement across a line break carries the break along. Raises ValueError for a span outside the
        text.
        """
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(f"span {start}:{end} of a sentence with {len(self.text)} characters")
        if self.last:
            replacement = keep_end(self.text, start, end, replacement, self.fragment)
        if self.first and self.fragment:
            replacement = keep_case(self.text, start, replacement)
        start, end, replacement = narrow(self.text, start, end, replacement)
        if (start == end and not replacement) or LINE_BREAK.search(replacement):
            return None
        is_fragment = self.fragment and self.first and self.last and is_open_ended(self.text)
        if is_fragment and changes_only_marks(self.text[start:end], replacement):
            return None
        if self.special and not set(self.special).isdisjoint(replacement):
            return None
        if replacement:
            return self._replace(start, end, replacement)
        for begin in _equal_deletions(self.text, start, end):
            if projected := self._delete(begin, begin + end - start):
                return projected
        return self._replace(start, end, "") if self._folds_in(start, end) else None

    def _delete(self, start: int, end: int) -> Replacement | None:
        if self._folds_in(start, end) or self._empties(start, end) or not self._is_free(start, end, ""):
            return None
        return Replacement(self.offsets[start], self.offsets[end - 1] + 1, "")

    def _replace(self, start: int, end: int, replacement: str) -> Replacement | None:
        folds = self._folds_in(start, end)
        if folds:
            return self._replace_folded(start, end, replacement, folds)
        if not self._is_free(start, end, replacement):
            return None
        if start == end:
            at = self._insertion_point(start, replacement)
            return Replacement(at, at, replacement)
        return Replacement(self.offsets[start], self.offsets[end - 1] + 1, replacement)

    def _replace_folded(
        self, start: int, end: int, replacement: str, folds: list[tuple[int, str]]
    ) -> Replacement | None:
        """Put the folds of text[start:end] at spaces of the replacement; one short of spaces takes in the next word."""
        if any(self._is_gap(at) for at, _ in folds):  # a comment that spans the lines would move, too
            return None
        right = self.text.find(" ", end)
        left = self.text.rfind(" ", 0, start)
        attempts = [Replacement(start, end, replacement)]
        if right >= 0 and not self._folds_in(right, right + 1):
            attempts.append(Replacement(start, right + 1, replacement + self.text[end : right + 1]))
        if left >= 0 and not self._folds_in(left, left + 1):
            attempts.append(Replacement(left, end, self.text[left:start] + replacement))
        for start, end, replacement in attempts:
            spaces = [at for at, character in enumerate(replacement) if character == " "]
            if len(spaces) < len(folds) or not self._is_free(start, end, replacement):
                continue
            wanted = [(at - start) * len(replacement) / (end - start) for at, _ in folds]
            pieces = []
            done = 0
            for at, (_, original) in zip(_nearest(spaces, wanted), folds, strict=True):
                pieces += [replacement[done:at], original]
                done = at + 1
            return Replacement(self.offsets[start], self._end_of(end - 1), "".join(pieces) + replacement[done:])
        return None

    def _folds_in(self, start: int, end: int) -> list[tuple[int, str]]:
        return list(self.folds[bisect_left(self.folds, (start, "")) : bisect_left(self.folds, (end, ""))])

    def _end_of(self, index: int) -> int:
        """Document offset after the character at `index`: for a fold, after the last character it stands for."""
        fold = self._folds_in(index, index + 1)
        return self.offsets[index] + (len(fold[0][1]) if fold else 1)

    def _is_gap(self, index: int) -> bool:
        """Is something left out between the characters index - 1 and index?"""
        return 0 < index < len(self.text) and self.offsets[index] != self._end_of(index - 1)

    def _is_free(self, start: int, end: int, replacement: str) -> bool:
        """No markup swallowed or emptied, nothing protected touched or grown together with a word."""
        if any(self._is_gap(index) for index in range(start + 1, end)):
            return False
        if not replacement and not self.text[start].isspace() and not self.text[end - 1].isspace():
            if all(at in (0, len(self.text)) or self._is_gap(at) for at in (start, end)):
                return False  # "**very** nice" would keep its asterisks
        after = (replacement + self.text[end : end + 1])[:1]
        before = (self.text[max(0, start - 1) : start] + replacement)[-1:]
        for low, high in self._protected_near(start, end):
            is_whole = high - low == len(self.text)  # a line of code: nothing comes before or after it either
            if is_whole or (low < end and start < high):
                return False
            number = not any(map(str.isalpha, self.text[low:high]))
            if start < end and not number and self._is_glued(start, end, (low, high), before, after):
                return False
            if high == start and _grows(self.text[high - 1], after) and not (number and after.isalpha()):
                return False
            if high == start and after in _ENDS and _CLOSED.search(self.text, low, high):
                return False  # "becomes `You are right.`" has its full stop
            if low == end and (_grows(before, self.text[low]) or self._is_end_within(high, replacement)):
                return False
        return True

    def _is_end_within(self, end: int, replacement: str) -> bool:
        """Does a full stop come right before a protected span that ends there, and the sentence goes on?"""
        return replacement[-1:] in _ENDS and any(map(str.isalnum, self.text[end:]))

    def _is_glued(self, start: int, end: int, span: tuple[int, int], before: str, after: str) -> bool:
        """Would a change cut a word that is written together with a protected span ("`Enum`s"), or take away the space
        between them? `before` and `after` stand next to the span then."""
        low, high = span
        cuts = (high == start and is_word_character(self.text[start])) or (
            low == end and is_word_character(self.text[end - 1])
        )
        joins = (high == start and self.text[start].isspace() and is_word_character(after)) or (
            low == end and self.text[end - 1].isspace() and is_word_character(before)
        )
        return cuts or joins

    def _protected_near(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        index = max(0, bisect_left(self.protected, (start, 0)) - 1)
        while index < len(self.protected) and self.protected[index][0] <= end:
            yield self.protected[index]
            index += 1

    def _empties(self, start: int, end: int) -> bool:
        """Would deleting text[start:end] leave a line without words?"""
        return (start == 0 or bool(self._folds_in(start - 1, start))) and (
            end == len(self.text) or bool(self._folds_in(end, end + 1))
        )

    def _insertion_point(self, at: int, inserted: str) -> int:
        """Where in the document to insert: with markup at this place, before or after it."""
        if at == len(self.text) or at == 0:
            return self.offsets[at]
        before = self.text[at - 1]
        after = self.text[at]
        if inserted[0].isalnum() and before.isalnum():
            left = True  # the word grows at its end
        elif inserted[-1].isalnum() and after.isalnum():
            left = False  # the word grows at its beginning
        else:
            left = before.isspace()  # new words stand before an opening mark and after a closing one
        return self._end_of(at - 1) if left else self.offsets[at]


def _equal_deletions(text: str, start: int, end: int) -> Iterator[int]:
    """Starts of deletions of the same length that leave the same text: this one, then rightwards, then leftwards."""
    yield start
    length = min(end - start, 100)  # a repeated phrase is shorter; keeps long deletions linear
    for shift in range(1, length + 1):
        if text[start + shift - 1 : start + shift] != text[end + shift - 1 : end + shift]:
            break
        yield start + shift
    for shift in range(1, min(length, start) + 1):
        if text[start - shift] != text[end - shift]:
            break
        yield start - shift


def _nearest(places: list[int], wanted: list[float]) -> list[int]:
    """One place for each wanted one, in order, each as near as the ones after it allow. len(places) >= len(wanted)."""
    chosen = []
    first = 0
    for index, want in enumerate(wanted):
        last = len(places) - (len(wanted) - index)
        best = min(range(first, last + 1), key=lambda at: abs(places[at] - want))
        chosen.append(places[best])
        first = best + 1
    return chosen


def _grows(left: str, right: str) -> bool:
    """Do the two characters side by side make one word?"""
    return all(is_word_character(character) or character == "_" for character in (left, right))


# --- text -> sentences -------------------------------------------------------------------------------------------


StandIns = Mapping[int, tuple[int, str]]  # as in markup.Flags


class _View(NamedTuple):
    """One paragraph as the model will read it."""

    text: str
    offsets: Sequence[int]  # of each character
    flags: bytearray  # of each character: PROTECTED, FOLD
    folds: dict[int, str]  # document offset -> the characters that the space stands for
    before: bytearray | None = None  # the flags before what is shown was protected, too, if something is


def split(text: str, *, lines: bool = False, markup: bool = True, format: str = "markdown") -> list[Sentence]:
    """The sentences of `text`, in order.

    `lines=True`: one Sentence for each line, empty ones too (benchmarks); only inline markup is left out.
    `markup=False`, or `format="plain"`: nothing is left out; protected spans are still found.
    `format`: what readers.py reads has its own reader; every other format is read as Markdown and HTML.
    """
    return list(find_sentences(text, lines=lines, markup=markup, format=format))


def find_sentences(
    text: str, *, lines: bool = False, markup: bool = True, format: str = "markdown"
) -> Iterator[Sentence]:
    """The sentences that `split` gives, each when it is asked for, so that memory holds none of a long text.

    CRLF equals LF: with CRLF they are those of the text with LF, at other places.
    """
    returns = array("q", (found.start() - number for number, found in enumerate(_CRLF.finditer(text))))
    if not returns:
        return _find_sentences(text, lines=lines, markup=markup, format=format)
    found = _find_sentences(_CRLF.sub("\n", text), lines=lines, markup=markup, format=format)
    return (_with_returns(text, sentence, returns) for sentence in found)


def _with_returns(text: str, sentence: Sentence, returns: Sequence[int]) -> Sentence:
    """The sentence at its place in the text that has a CR more before each LF at `returns`."""
    first, last = (bisect_left(returns, at) for at in (sentence.offsets[0], sentence.offsets[-1]))
    if first == last and isinstance(offsets := sentence.offsets, range):
        return replace(sentence, offsets=range(offsets.start + first, offsets.stop + first))
    places = tuple(at + bisect_left(returns, at, first, last) for at in sentence.offsets)
    spans = ((at, sentence.offsets[at] + len(characters)) for at, characters in sentence.folds)
    folds = tuple((at, text[places[at] : end + bisect_left(returns, end, first)]) for at, end in spans)
    return replace(sentence, offsets=places, folds=folds)


def _find_sentences(text: str, *, lines: bool, markup: bool, format: str) -> Iterator[Sentence]:
    markup = markup and format != PLAIN
    if lines:
        return (_line(text, start, end, markup) for start, end in _lines(text))
    tidy = text.replace("\r\n", " \n").replace("\r", "\n")  # same offsets, one kind of line break
    if markup and (parts := read_parts(tidy, format)) is not None:
        return _split_parts(text, tidy, parts, format.partition("/")[0])
    reader = READERS.get(format) if markup else None
    markup = markup and reader is None
    flags = reader(tidy) if reader else REGIONS.get(format, regions)(tidy) if markup else bytearray(len(text))
    if reader:
        mark_ignored(tidy, flags)
    special = SPECIAL.get(format, "") if reader or markup else ""
    flows = markup and format == "html"
    return _follow_style(_Document(text, flags, markup, reader is not None, flows, special, format in _UNDERLINING))


@dataclass(frozen=True)
class _Document:
    """A text that is no part of another, and the flags of its characters, which stay as they are."""

    text: str
    flags: bytearray
    markup: bool  # Markdown or HTML, which are read line by line; False: plain, or flagged
    is_flagged: bool  # by the reader of its format
    flows: bool  # its line breaks are spaces
    special: str
    is_underlining: bool = False  # a title is as long as the line of marks below it

    def read(self) -> Iterator[Sentence]:
        """Its sentences in order, found anew at each call."""
        layers = [self._read_layer(layer) for layer in _layers(self.flags)]
        return merge(*layers, key=lambda sentence: sentence.offsets[0])

    def _read_layer(self, flags: bytearray) -> Iterator[Sentence]:
        keys = find_keys(self.text)
        unmarked = not self.is_flagged and self.flags.count(0) == len(self.flags)
        is_marked = not unmarked or _MARKED.search(self.text) is not None
        for view, fragment, is_example in self._find_blocks(flags):
            whole = is_example or (keys and key_of(view.text) in keys)  # a title that something refers to
            spans = [(0, len(view.text))] if whole else find_shown(view.text, is_marked=is_marked)
            for sentence in _sentences(_keep_shown(view, spans), fragment, self.special):
                yield replace(sentence, unmarked=unmarked, is_underlined=self.is_underlining and fragment)

    def _find_blocks(self, flags: bytearray) -> Iterator[tuple[_View, bool, bool]]:
        """Each block that is read by itself, whether it is a fragment, and whether it is an example of an error."""
        text = self.text
        labels = find_labels(text) if self.markup else frozenset()
        stand_ins = self.flags.stand_ins if isinstance(self.flags, Flags) else {}
        find = flagged_paragraphs if self.is_flagged else partial(paragraphs, markup=self.markup, flows=self.flows)
        examples = Examples()
        end, is_open = 0, False
        for paragraph in find(text, flags):
            raw = _fold(text, flags, paragraph, stand_ins)
            if self.markup:
                inline(raw.text, raw.flags, labels)
            is_row = paragraph[0].closes
            if not is_row or _BLANK.search(text, end, paragraph[0].start):
                examples.end_table()
            is_cut = is_open and LEFT_OUT in flags[end : paragraph[0].start]  # by a block of code, say
            end = paragraph[-1].end
            for column, part in enumerate(_NOT_BREAK.finditer(raw.flags)):
                if is_licence(raw.text[part.start() : part.end()]):
                    continue
                marked = bool(raw.flags[part.start()] & FRAGMENT)
                fragment = marked or paragraph[0].fragment or is_fragment(text, raw.offsets[part.start()])
                view = _keep(raw, *part.span())
                fragment = fragment or (is_cut and starts_small(view.text))
                is_open = (is_cut or not fragment) and is_open_ended(view.text)
                is_bad = examples.is_bad_cell(view.text, column) if is_row else examples.is_bad(view.text, fragment)
                yield view, fragment, is_bad


def _follow_style(document: _Document) -> Iterator[Sentence]:
    """The sentences, with those as fragments that end or begin a block as it is the style of their document.

    A long document is read twice: for its style, and for its sentences.
    """
    kept = None if len(document.text) > LONG_TEXT else list(document.read())
    ends, begins = _find_style(document.read() if kept is None else kept)
    for each in document.read() if kept is None else kept:
        ends_so = ends and each.last and ends_open(each.text)
        if not each.fragment and (ends_so or (begins and each.first and starts_small(each.text))):
            each = replace(each, fragment=True)
        yield each


def _find_style(sentences: Iterable[Sentence]) -> tuple[bool, bool]:
    """Whether several blocks have no mark at their end, and whether several begin with a small letter."""
    open_ends = small_starts = 0
    for each in sentences:
        if not each.fragment:
            open_ends += each.last and ends_open(each.text)
            small_starts += each.first and starts_small(each.text)
            if open_ends >= SEVERAL and small_starts >= SEVERAL:
                break
    return open_ends >= SEVERAL, small_starts >= SEVERAL


def _layers(flags: bytearray) -> Iterator[bytearray]:
    """The flags of the text around asides, and those of the asides, if there are any."""
    around = flags.translate(_AROUND_ASIDES)
    yield around
    if any(flag & ASIDE for flag in set(flags)):
        yield flags.translate(_INSIDE_ASIDES)


def _split_parts(text: str, tidy: str, parts: Iterator[Part], kind: str) -> Iterator[Sentence]:
    """The sentences of the parts of `text`, without those that "edit-gec: ignore" leaves out."""
    ignored = bytearray(len(text))
    mark_ignored(tidy, ignored)
    for part in parts:
        for sentence in find_sentences(part.text, format=part.format):
            placed = _to_document(text, part, sentence, kind)
            if not any(ignored[placed.offsets[0] : placed.offsets[-1]]):
                yield placed


def _to_document(text: str, part: Part, sentence: Sentence, kind: str) -> Sentence:
    """The same sentence with its place in the document, of this kind, that the part is of."""
    places = [part.offsets[at] for at in sentence.offsets[:-1]]
    last = places[-1] + part.widths.get(sentence.offsets[len(places) - 1], 1)
    dense = last - places[0] == len(places)
    folds = {
        at: text[part.offsets[sentence.offsets[at]] : part.offsets[sentence.offsets[at] + len(characters)]]
        for at, characters in sentence.folds
    }
    escaped = [at for at, place in enumerate(sentence.offsets[:-1]) if place in part.widths and at not in folds]
    folds |= {at: text[places[at] : places[at] + part.widths[sentence.offsets[at]]] for at in escaped}
    return replace(
        sentence,
        offsets=range(places[0], last + 1) if dense else (*places, last),
        protected=_add_characters(sentence.protected, escaped),
        kept=None if sentence.kept is None else _add_characters(sentence.kept, escaped),
        folds=tuple(sorted(folds.items())),
        fragment=sentence.fragment or part.fragment,
        special=sentence.special + SPECIAL.get(kind, ""),
        in_code=kind == "code",
    )


def _add_characters(spans: tuple[tuple[int, int], ...], places: list[int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((*spans, *((at, at + 1) for at in places)))) if places else spans


def _line(text: str, start: int, end: int, markup: bool) -> Sentence:
    raw = _View(text[start:end], range(start, end), bytearray(end - start), {})
    if markup:
        inline(raw.text, raw.flags)
    view = _keep(raw, 0, end - start)
    view = _keep_shown(view, find_shown(view.text, is_marked=False))
    return replace(_sentence(view, 0, len(view.text)) or Sentence("", range(start, start + 1), ()), alone=True)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Spans of lines as files have them: str.splitlines would also break at U+2028 and lose step with other files."""
    start = 0
    for found in re.finditer(r"\r\n|[\n\r]", text):
        yield start, found.start()
        start = found.end()
    if start < len(text):
        yield start, len(text)


def _fold(text: str, flags: bytearray, paragraph: list[Line], stand_ins: StandIns) -> _View:
    """The lines of a paragraph joined by single spaces; what is left out is still in."""
    first = paragraph[0]
    view = _read(text, flags, first, stand_ins)
    if len(paragraph) == 1:
        return view
    raw = [view.text]
    marks = view.flags
    folds = view.folds
    offsets = list(view.offsets)
    for before, line in pairwise(paragraph):
        at = before.end
        while not text[at].isspace():  # the backslash of a hard break, a comment
            at += 1
        folds[at] = text[at : line.start]
        view = _read(text, flags, line, stand_ins)
        raw += [" ", view.text]
        offsets += [at, *view.offsets]
        marks += bytes([FOLD | flags[at] & (PROTECTED | FRAGMENT | BREAK)]) + view.flags
        folds |= view.folds
    return _View("".join(raw), offsets, marks, folds)


def _read(text: str, flags: bytearray, line: Line, stand_ins: StandIns) -> _View:
    """A line with what is read in the place of its markup."""
    at = line.start
    end = line.end
    if not stand_ins or not _IS_FOLD.search(flags, at, end):
        return _View(text[at:end], range(at, end), flags[at:end], {})
    raw: list[str] = []
    offsets: list[int] = []
    marks = bytearray()
    folds = {}
    while at < end:
        found = _IS_FOLD.search(flags, at, end)
        start = found.start() if found else end
        raw.append(text[at:start])
        offsets += range(at, start)
        marks += flags[at:start]
        at = start
        if found:
            at, shown = stand_ins.get(start, (start + 1, " "))
            last = start + len(shown) - 1
            raw.append(shown)
            offsets += range(start, last + 1)
            marks += bytes([flags[start] & ~FOLD]) * (len(shown) - 1) + flags[start : start + 1]
            folds[last] = text[last:at]
    return _View("".join(raw), offsets, marks, folds)


def _keep(raw: _View, start: int, end: int) -> _View:
    """raw[start:end] without what is left out, protected spans found."""
    kept: list[tuple[int, int]] = []
    for run in _KEPT.finditer(raw.flags, start, end):
        doubled = kept and raw.text[kept[-1][1] - 1] == " " == raw.text[run.start()]  # "see ![](icon.png) below"
        kept.append((run.start() + 1 if doubled else run.start(), run.end()))
    if len(kept) == 1:
        start, end = kept[0]
        view = _View(raw.text[start:end], raw.offsets[start:end], raw.flags[start:end], raw.folds)
    else:
        view = _View(
            "".join(raw.text[start:end] for start, end in kept),
            [offset for start, end in kept for offset in raw.offsets[start:end]],
            bytearray().join(raw.flags[start:end] for start, end in kept),
            raw.folds,
        )
    for start, end in protected.find(view.text):
        mark(view.flags, start, end, PROTECTED)
    for line_break in LINE_BREAK.finditer(view.text):  # inside a line: U+2028, a form feed
        mark(view.flags, *line_break.span(), PROTECTED)
    return view


def _keep_shown(view: _View, spans: Iterable[tuple[int, int]]) -> _View:
    """The view with these spans protected, which hold errors that are shown."""
    before = bytearray(view.flags)
    for start, end in spans:
        mark(view.flags, start, end, PROTECTED)
    return view if before == view.flags else view._replace(before=before)


def _sentences(view: _View, fragment: bool, special: str) -> Iterator[Sentence]:
    """The sentences of one block."""
    start = 0
    before = None
    for end in boundaries(view.text, view.flags if view.before is None else view.before):
        found = _sentence(view, start, end)
        start = end
        if found is None:
            continue
        if before is not None:
            yield before
        before = replace(found, first=before is None, fragment=fragment, special=special)
    if before is not None:
        yield replace(before, last=True)


def _sentence(view: _View, start: int, end: int) -> Sentence | None:
    """view[start:end] without outer white space; None where there is nothing else."""
    while start < end and view.text[start].isspace():
        start += 1
    while end > start and view.text[end - 1].isspace():
        end -= 1
    if start == end:
        return None
    first = view.offsets[start]
    last = view.offsets[end - 1]
    last += len(view.folds[last]) if view.flags[end - 1] & FOLD else 1
    dense = last - first == end - start
    folds = (fold.start() for fold in _IS_FOLD.finditer(view.flags, start, end))
    protected = _find_protected(view.flags, start, end)
    kept = protected if view.before is None else _find_protected(view.before, start, end)
    return Sentence(
        view.text[start:end],
        range(first, last + 1) if dense else (*view.offsets[start:end], last),
        protected,
        tuple((at - start, view.folds[view.offsets[at]]) for at in folds),
        kept=None if kept == protected else kept,
    )


def _find_protected(flags: bytearray, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """The protected spans of a sentence, counted from its start."""
    return tuple((found.start() - start, found.end() - start) for found in _IS_PROTECTED.finditer(flags, start, end))


# --- sentences after their edits ----------------------------------------------------------------------------------


def move(sentence: Sentence, by: int) -> Sentence:
    """The sentence in a document that has so many characters more before it."""
    offsets = sentence.offsets
    moved = (
        range(offsets.start + by, offsets.stop + by) if isinstance(offsets, range) else tuple(at + by for at in offsets)
    )
    return replace(sentence, offsets=moved)


def revise(sentence: Sentence, edits: Sequence[Edit]) -> list[Sentence]:
    """What stands in the place of a sentence once these edits of its document are made, in order: one sentence or more.

    [] where an edit takes markup or a line break along.
    """
    spans = [sentence.span_of(edit) for edit in edits]
    if any(sentence.text[a:b] != edit.original for (a, b), edit in zip(spans, edits, strict=True)):
        return []
    starts = [a for a, _ in spans]
    growths = [0, *accumulate(len(edit.replacement) - len(edit.original) for edit in edits)]

    def moved(at: int) -> int:
        return at + growths[bisect_left(starts, at)]

    text = apply_changes(
        sentence.text, [Change(a, b, edit.replacement, 1.0) for (a, b), edit in zip(spans, edits, strict=True)]
    )
    offsets = _revise_offsets(sentence, edits, spans)
    folds = {offsets[moved(at)]: characters for at, characters in sentence.folds}
    flags = bytearray(len(text))
    for at, _ in sentence.folds:
        mark(flags, moved(at), moved(at) + 1, FOLD)
    before = None if sentence.kept is None else bytearray(flags)
    for some, protecting in ((flags, sentence.protected), (before, sentence.kept)):
        if some is not None:
            for start, end in (*((moved(a), moved(b)) for a, b in protecting or ()), *protected.find(text)):
                mark(some, start, end, PROTECTED)
    view = _View(text, offsets[:-1], flags, folds, before)
    whole = [_sentence(view, 0, len(text))] if sentence.alone else _sentences(view, sentence.fragment, sentence.special)
    parts = [part for part in whole if part is not None]
    return [
        replace(
            sentence,
            text=part.text,
            offsets=part.offsets,
            protected=part.protected,
            kept=part.kept,
            folds=part.folds,
            first=sentence.first and n == 0,
            last=sentence.last and n == len(parts) - 1,
        )
        for n, part in enumerate(parts)
    ]


def _revise_offsets(sentence: Sentence, edits: Sequence[Edit], spans: Sequence[tuple[int, int]]) -> Sequence[int]:
    """The offsets of a sentence once its edits, which lie at `spans` of its text, are made."""
    growth = sum(len(edit.replacement) - len(edit.original) for edit in edits)
    if isinstance(sentence.offsets, range):
        return range(sentence.offsets.start, sentence.offsets.stop + growth)
    offsets: list[int] = []
    done = growth = 0
    for edit, (start, end) in zip(edits, spans, strict=True):
        offsets += [at + growth for at in sentence.offsets[done:start]]
        offsets += range(edit.start + growth, edit.start + growth + len(edit.replacement))
        growth += len(edit.replacement) - len(edit.original)
        done = end
    return [*offsets, *(at + growth for at in sentence.offsets[done:])]
