"""Edits -> the same edits with their ERRANT type and a message that a writer understands.

    text  "She go home."   edit go -> goes   ->   type R:VERB:SVA, message "subject-verb agreement: 'go' -> 'goes'"

The types come from ERRANT itself, on the parse of the sentence before and after all its edits.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from edit_gec.text.edits import Edit
from edit_gec.text.sentences import Sentence, split

NAMES = {
    "ADJ": "adjective",
    "ADJ:FORM": "form of the adjective",
    "ADV": "adverb",
    "CONJ": "conjunction",
    "CONTR": "contraction",
    "DET": "article or determiner",
    "MORPH": "form of the word",
    "NOUN": "noun",
    "NOUN:INFL": "plural form",
    "NOUN:NUM": "singular or plural",
    "NOUN:POSS": "possessive",
    "ORTH": "capital letters, spaces or hyphens",
    "OTHER": "wording",
    "PART": "particle",
    "PREP": "preposition",
    "PRON": "pronoun",
    "PUNCT": "punctuation",
    "SPELL": "spelling",
    "VERB": "verb",
    "VERB:FORM": "verb form",
    "VERB:INFL": "verb ending",
    "VERB:SVA": "subject-verb agreement",
    "VERB:TENSE": "verb tense",
    "WO": "word order",
}
LONGEST = 2_000  # characters of a sentence that is parsed
_NO_WORD = re.compile(r"\S{100}")
WORD = re.compile(r"[\w'’]{2}")  # two characters of one word
MARKS = {",": "comma", ".": "full stop", "?": "question mark", "!": "exclamation mark", ":": "colon", ";": "semicolon"}


@dataclass
class _Passage:
    """A sentence, or several that an edit joins: characters with their document offsets, and the edits in them."""

    text: str
    offsets: list[int]  # one more than characters, as in Sentence
    edits: list[int] = field(default_factory=list)

    def spans(self, edits: Sequence[Edit]) -> list[tuple[int, int, int, int]]:
        """Characters [start, end) of `text` for each edit, then of the corrected text."""
        out, shift = [], 0
        for i in self.edits:
            start, end = (min(bisect_left(self.offsets, at), len(self.text)) for at in (edits[i].start, edits[i].end))
            length = len(edits[i].replacement)
            out.append((start, end, start + shift, start + shift + length))
            shift += length - (end - start)
        return out

    def corrected(self, edits: Sequence[Edit]) -> str:
        parts, at = [], 0
        for i, (start, end, *_) in zip(self.edits, self.spans(edits), strict=True):
            parts += [self.text[at:start], edits[i].replacement]
            at = end
        return "".join([*parts, self.text[at:]])


def explain(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The edits of a document, in order, with `type` and `message` filled in; R:OTHER in what cannot be parsed.

    Raises InputError where ERRANT, spaCy or the pipeline is missing.
    """
    if not edits:
        return []
    annotator = _annotator()
    windows = [w for w in _group_edits(split(text), edits) if w.edits and parseable(w.text)]
    before = list(annotator.nlp.pipe(w.text for w in windows))
    after = list(annotator.nlp.pipe(w.corrected(edits) for w in windows))
    out = list(edits)
    for window, source, target in zip(windows, before, after, strict=True):
        for i, span in zip(window.edits, window.spans(edits), strict=True):
            kind, message = _classify(annotator, source, target, *span)
            out[i] = replace(edits[i], type=kind, message=message)
    return [e if e.type else replace(e, type="R:OTHER", message="wording") for e in out]


def parseable(sentence: str) -> bool:
    """Whether it is short enough, and its words are: spaCy takes 5 s for 8,000 characters of "(*`<" in one word."""
    return len(sentence) <= LONGEST and not _NO_WORD.search(sentence)


@contextmanager
def spacy_memory_zone() -> Iterator[None]:
    """What spaCy learns inside, it forgets: each new word costs it some 300 bytes for good, much in a large corpus.

    Not for several threads, and not to be nested.
    """
    with _annotator().nlp.memory_zone():
        yield


@cache
def _annotator() -> Any:
    from edit_gec.annotation.errant_edits import load_extractor

    return load_extractor(None).errant


def _group_edits(sentences: Sequence[Sentence], edits: Sequence[Edit]) -> list[_Passage]:
    windows: list[_Passage] = []
    at = 0  # the next edit to place
    for sentence in sentences:
        if not sentence.text:
            continue
        window = _Passage(sentence.text, list(sentence.offsets))
        if windows and windows[-1].edits and edits[windows[-1].edits[-1]].end > window.offsets[0]:
            last = windows.pop()
            # The blank between them stands where the first one ends.
            window = _Passage(f"{last.text} {window.text}", last.offsets + window.offsets, last.edits)
        while at < len(edits) and edits[at].start <= window.offsets[-1]:
            window.edits.append(at)
            at += 1
        windows.append(window)
    return windows


def _classify(
    annotator: Any, source: Any, target: Any, start: int, end: int, c_start: int, c_end: int
) -> tuple[str, str]:
    """ERRANT's type and our message for one edit, given as characters of source and target."""
    # Whole tokens on both sides: a letter added to a word changes the word.
    while True:
        o = _tokens(source, start, end)
        c = _tokens(target, c_start, c_end)
        left = max((start - source[o[0]].idx) if o[0] < o[1] else 0, (c_start - target[c[0]].idx) if c[0] < c[1] else 0)
        right = max(_end(source, o) - end if o[0] < o[1] else 0, _end(target, c) - c_end if c[0] < c[1] else 0)
        if left <= 0 and right <= 0:
            break
        start, c_start = start - max(left, 0), c_start - max(left, 0)
        end, c_end = end + max(right, 0), c_end + max(right, 0)
    edit = annotator.import_edit(source, target, [*o, *c])
    if edit.o_str == edit.c_str:
        return "R:ORTH", "spacing"
    return edit.type, message(edit.type, _words(source, edit.o_toks), _words(target, edit.c_toks))


def _tokens(doc: Any, start: int, end: int) -> tuple[int, int]:
    """Tokens that share a character with [start, end), or have the point start == end inside them."""
    first = sum(t.idx + len(t) <= start for t in doc)
    last = sum(t.idx < end for t in doc)
    return first, max(first, last)


def _end(doc: Any, span: tuple[int, int]) -> int:
    token = doc[span[1] - 1]
    return int(token.idx + len(token))


def _words(doc: Any, tokens: Any) -> str:
    """The text of the tokens in whole words: spaCy makes two of "don't", a writer sees one."""
    if not tokens:
        return ""
    text, start, end = doc.text, tokens[0].idx, _end(doc, (0, tokens[-1].i + 1))
    while WORD.fullmatch(text[max(start - 1, 0) : start + 1]):
        start -= 1
    while WORD.fullmatch(text[end - 1 : end + 1]):
        end += 1
    return str(text[start:end])


def message(kind: str, old: str, new: str) -> str:
    """'R:VERB:SVA', 'go', 'goes' -> "subject-verb agreement: 'go' -> 'goes'"."""
    operation, _, category = kind.partition(":")
    name = NAMES.get(category, "wording")
    if category == "PUNCT":
        name = MARKS.get((new if operation == "M" else old).split(" ")[0], name)
    prefix = {"M": "missing ", "U": "unnecessary "}.get(operation, "")
    shown = f"'{old}' -> '{new}'" if old and new else f"'{old or new}'"
    return f"{prefix}{name}: {shown}"
