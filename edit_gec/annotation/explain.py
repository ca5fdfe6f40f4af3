"""Edits -> the same edits with an ERRANT type, a message for writers, and a reason.

    text  "She go home."   edit go -> goes   ->   type R:VERB:SVA, message "subject-verb agreement: 'go' -> 'goes'",
                                                  reason "The verb agrees with its subject: “he goes”, “they go”."

ERRANT itself gives the types, from the parses of the sentence before and after all its edits. Two kinds are mended,
because its lemmatiser does not know misspelt words: "recieved" is a spelling error, not a wrong verb ending, and "its"
for "it's" is a contraction. Where a type is vague, the message names what the words show.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from edit_gec.annotation.reasons import are_confused, give_reason, is_contraction
from edit_gec.text.edits import Edit
from edit_gec.text.kinds import NAMES
from edit_gec.text.sentences import Sentence, split

LONGEST = 2_000  # characters of a sentence, above which it is not parsed
_NO_WORD = re.compile(r"\S{100}")
WORD = re.compile(r"[\w'’]{2}")  # two characters of one word
MARKS = {",": "comma", ".": "full stop", "?": "question mark", "!": "exclamation mark", ":": "colon", ";": "semicolon"}


class Explanation(NamedTuple):
    """The ERRANT type of an edit, its name with the changed words, and the reason, if there is a known one."""

    type: str
    message: str
    reason: str | None


UNPARSED = Explanation("R:OTHER", "wording", None)


class _Place(NamedTuple):
    """An edit in characters: [start, end) of the text, [new_start, new_end) of the corrected text."""

    start: int
    end: int
    new_start: int
    new_end: int


@dataclass
class _Passage:
    """A sentence, or several that an edit joins: its characters, their document offsets, and its edits."""

    text: str
    offsets: list[int]  # one more than there are characters, as in Sentence
    edits: list[int] = field(default_factory=list)

    def places(self, edits: Sequence[Edit]) -> list[_Place]:
        """Where each of its edits is."""
        out = []
        shift = 0
        for i in self.edits:
            start, end = (min(bisect_left(self.offsets, at), len(self.text)) for at in (edits[i].start, edits[i].end))
            length = len(edits[i].replacement)
            out.append(_Place(start, end, start + shift, start + shift + length))
            shift += length - (end - start)
        return out

    def corrected(self, edits: Sequence[Edit]) -> str:
        """Its text with its edits made."""
        parts = []
        at = 0
        for i, place in zip(self.edits, self.places(edits), strict=True):
            parts += [self.text[at : place.start], edits[i].replacement]
            at = place.end
        return "".join([*parts, self.text[at:]])


def explain(text: str, edits: Sequence[Edit], format: str = "markdown") -> list[Edit]:
    """The edits of a document, in order, with `type`, `message` and `reason`. In text that is not parsed, R:OTHER.

    `format` is what the document was read as. Raises InputError where ERRANT, spaCy or the pipeline is missing.
    """
    if not edits:
        return []
    annotator = _annotator()
    passages = [p for p in _group_edits(split(text, format=format), edits) if p.edits and parseable(p.text)]
    before = list(annotator.nlp.pipe(p.text for p in passages))
    after = list(annotator.nlp.pipe(p.corrected(edits) for p in passages))
    out = list(edits)
    for passage, source, target in zip(passages, before, after, strict=True):
        for i, place in zip(passage.edits, passage.places(edits), strict=True):
            out[i] = replace(edits[i], **_classify(annotator, source, target, place)._asdict())
    return [e if e.type else replace(e, **UNPARSED._asdict()) for e in out]


def parseable(sentence: str) -> bool:
    """Whether a sentence and its words are short enough. A word of 8,000 marks such as "(*`<" takes spaCy 5 s."""
    return len(sentence) <= LONGEST and not _NO_WORD.search(sentence)


@contextmanager
def spacy_memory_zone() -> Iterator[None]:
    """Frees what spaCy stores about new words when the block ends.

    spaCy keeps some 300 bytes for each new word, which adds up in a large corpus. The block must not be nested, nor
    entered by two threads.
    """
    with _annotator().nlp.memory_zone():
        yield


@cache
def _annotator() -> Any:
    from edit_gec.annotation.errant_edits import load_extractor

    return load_extractor(None).errant


def _group_edits(sentences: Sequence[Sentence], edits: Sequence[Edit]) -> list[_Passage]:
    passages: list[_Passage] = []
    at = 0  # the next edit to place
    for sentence in sentences:
        if not sentence.text:
            continue
        passage = _Passage(sentence.text, list(sentence.offsets))
        if passages and passages[-1].edits and edits[passages[-1].edits[-1]].end > passage.offsets[0]:
            last = passages.pop()
            # The space between them has the offset at which the first one ends.
            passage = _Passage(f"{last.text} {passage.text}", last.offsets + passage.offsets, last.edits)
        while at < len(edits) and edits[at].start <= passage.offsets[-1]:
            passage.edits.append(at)
            at += 1
        passages.append(passage)
    return passages


def _classify(annotator: Any, source: Any, target: Any, place: _Place) -> Explanation:
    """ERRANT's type, our message and the reason for one edit of a parsed sentence."""
    before, after = _cover_tokens(source, target, place)
    edit = annotator.import_edit(source, target, [*before, *after])
    if edit.o_str == edit.c_str:
        return Explanation("R:ORTH", "spacing", None)
    old, new = _words(source, edit.o_toks), _words(target, edit.c_toks)
    if not new and _is_repeated(source, *before):
        return Explanation(edit.type, f"repeated word: '{old}'", "This stands twice in a row.")
    kind = _mend_type(edit.type, old, new)
    return Explanation(kind, message(kind, old, new), give_reason(kind, old, new))


def _mend_type(kind: str, old: str, new: str) -> str:
    """R:SPELL if a word that ERRANT takes for badly inflected keeps its ending, R:CONTR for a contraction."""
    if kind in ("R:VERB:INFL", "R:NOUN:INFL") and old[-2:].lower() == new[-2:].lower():
        return "R:SPELL"
    if kind == "R:OTHER" and is_contraction(old, new):
        return "R:CONTR"
    if kind == "R:SPELL" and are_confused(old, new):
        return "R:OTHER"  # "then" is spelt correctly, and no dictionary should learn it
    return kind


def _is_repeated(doc: Any, first: int, last: int) -> bool:
    """Whether the tokens [first, last) stand again, right before or after."""
    words = [token.lower_ for token in doc]
    count = last - first
    return words[first:last] in (words[max(first - count, 0) : first], words[last : last + count])


def _cover_tokens(source: Any, target: Any, place: _Place) -> tuple[tuple[int, int], tuple[int, int]]:
    """The tokens of an edit in source and target. Both sides grow until they are whole tokens."""
    start, end, new_start, new_end = place
    while True:
        before = _tokens(source, start, end)
        after = _tokens(target, new_start, new_end)
        left = max(_overhang_left(source, before, start), _overhang_left(target, after, new_start))
        right = max(_overhang_right(source, before, end), _overhang_right(target, after, new_end))
        if left == right == 0:
            return before, after
        start -= left
        new_start -= left
        end += right
        new_end += right


def _overhang_left(doc: Any, tokens: tuple[int, int], start: int) -> int:
    """Characters of the first token before `start`."""
    first, last = tokens
    return max(start - doc[first].idx, 0) if first < last else 0


def _overhang_right(doc: Any, tokens: tuple[int, int], end: int) -> int:
    """Characters of the last token from `end` on."""
    first, last = tokens
    return max(_end(doc, tokens) - end, 0) if first < last else 0


def _tokens(doc: Any, start: int, end: int) -> tuple[int, int]:
    """The tokens that share a character with [start, end), or contain the point start == end."""
    first = sum(t.idx + len(t) <= start for t in doc)
    last = sum(t.idx < end for t in doc)
    return first, max(first, last)


def _end(doc: Any, span: tuple[int, int]) -> int:
    token = doc[span[1] - 1]
    return int(token.idx + len(token))


def _words(doc: Any, tokens: Any) -> str:
    """The text of the tokens in whole words: for spaCy "don't" is two tokens, for a writer one word."""
    if not tokens:
        return ""
    text = doc.text
    start = tokens[0].idx
    end = _end(doc, (0, tokens[-1].i + 1))
    while WORD.fullmatch(text[max(start - 1, 0) : start + 1]):
        start -= 1
    while WORD.fullmatch(text[end - 1 : end + 1]):
        end += 1
    return str(text[start:end])


def message(kind: str, old: str, new: str) -> str:
    """'R:VERB:SVA', 'go', 'goes' -> "subject-verb agreement: 'go' -> 'goes'"."""
    operation, _, category = kind.partition(":")
    prefix = {"M": "missing ", "U": "unnecessary "}.get(operation, "")
    shown = f"'{old}' -> '{new}'" if old and new else f"'{old or new}'"
    return f"{prefix}{_name(operation, category, old, new)}: {shown}"


def _name(operation: str, category: str, old: str, new: str) -> str:
    """The name of a type in a writer's words."""
    if category == "PUNCT":
        return MARKS.get((new if operation == "M" else old).split(" ")[0], NAMES[category])
    if category == "ORTH":
        return _name_writing(old, new)
    if category != "DET" and are_confused(old, new):
        return "words that are mixed up"
    return NAMES.get(category, "wording")


def _name_writing(old: str, new: str) -> str:
    """The name of a change that keeps the letters."""
    if old.lower() == new.lower():
        return "capital letter" if sum(map(str.isupper, new)) > sum(map(str.isupper, old)) else "small letter"
    if old.count("-") != new.count("-"):
        return "hyphen"
    if old.count(" ") != new.count(" "):
        return "one word" if " " in old else "two words"
    return NAMES["ORTH"]
