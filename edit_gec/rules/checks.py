r"""Checks: why an edit is not made. The first one that holds refuses it, by its name.

For any text:

    invents_a_word        they occupy it        -> occupys          no word
    turns_the_meaning     it is useless         -> useful           the opposite
    brings_brackets       run --help            -> --help()
    splits_a_compound     the filesystem        -> file system
    moves_a_hyphen        an e-mail, reuse      -> email, re-use    both are right
    lowers_a_name         of the Company        -> company          an institution, in a contract or a report
    stops_a_shout         No no, I mean it.     -> No,              kept.py has these seven
    guesses_a_sound       an nginx module       -> a nginx module
    changes_a_term        a udev rule           -> used
    asks_a_title          How we decide on pay  -> How do we decide
    parts_an_opening      Of course it will.    -> Of course,
    cuts_a_clause         impact, for example   -> impact. For
    changes_a_saying      Easy come, easy go.   -> came

In documents; a line that is taken by itself has none around it:

    changes_quotes        you don’t know        -> don't            another apostrophe
    fills_a_gap           process  ID           -> process -  ID    a mark in a wide gap
    ends_a_block          see [the list](a.md)  -> [the list.](a)   a full stop in or behind markup
    raises_a_label        docs: name the option -> Docs:            what a subject is about; "i. first", sort.Slice
    raises_a_rest         > we were\n\n> there   -> There            quoted lines that stand apart
    completes_a_comment   # find longest match  -> the longest      an article, the first capital or a dash in code
    completes_a_note      * Fix crash in parser -> the parser       an article where there is no subject
    is_right_already      these also run        -> runs             a plural subject, also of two names
                          bugs that need fixing -> to fix           both are right
    breaks_a_habit        each User, a classpath -> user            what stands three times in the document
    renames_code          We build Thinc now.   -> Think            a word that stands in code, too
    respells_a_term       the ulong type        -> long             a short unknown word
    narrows_a_gap         the  process  ID      -> the process      where the document is justified
    joins_sentences       it was I . he knew    -> I. he            "I." before a small letter ends no sentence
    is_unsure             stay at home          -> in home          where writers choose an edit has to be surer
"""

from __future__ import annotations

import re

from edit_gec.rules import kept
from edit_gec.rules.placed_edit import PlacedEdit
from edit_gec.rules.usage import HABIT, count_word, find_code_words, has_wide_spaces, is_habit
from edit_gec.rules.words import word_set
from edit_gec.text.boundaries import is_full_stop
from edit_gec.text.edits import Provenance
from edit_gec.text.words import HYPHENATED_WORD, WORD

LINE = 300  # characters of a quoted line and what stands below it
TITLE = 72  # characters of a block that may be a title
TERM = 6  # letters of a word that is rather a term; even learners' are misspelt in half of the cases only
SURE = 0.95  # confidence from which on an edit is sure wherever it is
# Log-odds that an edit needs in addition where writers choose; fitted on edited documents (profiles/LOG.md).
CHOICE = 0.9
ARTICLE = 0.4
COMMA = 0.15
_QUOTES = str.maketrans("’‘ʼ“”´`", "''" + "'" + '""' + "''")
_END_MARKS = frozenset(".!?")
_MARKS = frozenset(".,;:!?-–—")
_BRACKETS = frozenset("()[]{}<>")
_ARTICLES = frozenset(("the", "a", "an"))
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}
_PLURAL_SUBJECT = re.compile(
    r"(?:(?P<before>\w+)\s+)?\b(?P<subject>(?:these|those)(?=\s+\w)|they|we|you|I)"  # not "these question"
    r"(?:\s+(?:also|always|never|often|usually|only|still|just|then|now|both|all))?\s+\Z",
    re.IGNORECASE,
)
_TWO_NAMES = re.compile(
    r"[\w`*.()]+\s+and\s+(?!(?:it|he|she|this|that|there|(?:every|some|any|no)(?:one|body|thing))\b)[\w`*.()-]+\s+\Z",
    re.IGNORECASE,
)
_NEEDS = re.compile(r"\b(?:needs?|needed|requires?|worth)\s+\Z")
_PLURAL_PHRASE = re.compile(
    r"\s*(?:[a-z-]+\s+){0,2}[a-z-]+[b-hj-rtv-z]s"
    r"(?=\s*(?:[^\w\s]|\Z)|\s+(?:is|are|and|or|of|in|to|for|with|that|which|on|from)\b)"
)
_OBJECT = re.compile(r"\s+(?:an?|the|this|that|all|each|its|your)\b")
_TEXT = re.compile(r"\S")
_STOP = re.compile(r"\.\s+(\w+)")
_OPEN_QUOTE = re.compile(r"^[ \t]*>[^\n]*[\w,;][ \t]*\n(?:[ \t>]*\n)+[ \t]*>[ \t>]*\Z", re.MULTILINE)
_NUMBER = re.compile(r"(?:[ivxl]{1,5}|[a-z])[.)]")
_DOTTED = re.compile(r"\.\w")
_IDENTIFIER = re.compile(r"(?:\w*[a-z][A-Z]\w*|\w+_\w+|\w+\(\))\s+\Z")
_OPPOSITE = re.compile(r"(.{3,})(?:less|ful)(ly|ness)?")

_GAPS = re.compile(r"[\s-]+")


def find_refusal(place: PlacedEdit) -> str | None:
    """The name of the first check that refuses an edit, or None."""
    checks = ANYWHERE if place.sentence.alone else (*ANYWHERE, *IN_DOCUMENTS)
    return next((check.__name__ for check in checks if check(place)), None)


# ---------------------------------------------------------------- for any text


def invents_a_word(place: PlacedEdit) -> bool:
    """Whether known words become one that is no word: "occupy" -> "occupys"."""
    if place.after[:1] in ("'", "’"):
        return False  # a part of "doesn't"
    before, after = WORD.findall(place.old), WORD.findall(place.new)
    made = [word for word in after if word.islower() and len(word) > 2 and not place.knows(word) and word not in before]
    return bool(made and before) and all(map(place.knows, before))


def turns_the_meaning(place: PlacedEdit) -> bool:
    """Whether "useless" becomes "useful"."""
    before, after = _OPPOSITE.fullmatch(place.old), _OPPOSITE.fullmatch(place.new)
    return before is not None and after is not None and before[1] == after[1] and place.old != place.new


def brings_brackets(place: PlacedEdit) -> bool:
    """Whether nothing but brackets is written."""
    return not place.old and bool(place.new) and _BRACKETS.issuperset(place.new)


def splits_a_compound(place: PlacedEdit) -> bool:
    """Whether a compound becomes two words, neither of them one that belongs apart ("infact", "alot")."""
    parts = place.new.casefold().split()
    is_split = len(parts) == 2 and "".join(parts) == place.edit.original.casefold()
    return is_split and word_set("apart_word").isdisjoint(parts)


def moves_a_hyphen(place: PlacedEdit) -> bool:
    """Whether a hyphen behind a short prefix comes or goes: "e-mail", "co-operate"."""
    old, new = place.edit.original, place.edit.replacement
    with_hyphen, without = (old, new) if "-" in old else (new, old)
    is_prefix = with_hyphen.find("-") in (1, 2) and with_hyphen[:2].casefold() not in word_set("apart_word")
    return without.isalpha() and is_prefix and with_hyphen.replace("-", "", 1) == without


def lowers_a_name(place: PlacedEdit) -> bool:
    """Whether an institution loses its capital."""
    old, new = place.edit.original, place.edit.replacement
    return new == old.lower() and old.istitle() and new in word_set("institution")


# ---------------------------------------------------------------- in documents


def changes_quotes(place: PlacedEdit) -> bool:
    """Whether nothing but the form of quotation marks and apostrophes changes."""
    return place.edit.original.translate(_QUOTES) == place.edit.replacement.translate(_QUOTES)


def fills_a_gap(place: PlacedEdit) -> bool:
    """Whether a mark is written into a gap of two and more spaces, as justified lines have them."""
    if place.old or not place.new or not set(place.new) <= _MARKS:
        return False
    beside = (place.before[-1:], place.after[:1])
    gap = sum(map(str.isspace, beside)) + len(place.edit.original)
    return gap > 1 and (bool(place.edit.original) or all(map(str.isspace, beside)))


def ends_a_block(place: PlacedEdit) -> bool:
    """Whether an end mark comes to a block whose end is markup, code or an address, or that may be a title."""
    edit, sentence, document = place.edit, place.sentence, place.document
    if place.old or place.new not in _END_MARKS or not sentence.last or edit.start < sentence.offsets[-2]:
        return False
    if not place.before[-1:].isalnum() or place.after[:1].strip():
        return True
    if sentence.protected and sentence.protected[-1][1] == len(sentence.text):
        return True
    begin = document.rfind("\n", 0, edit.start) + 1
    below = document.find("\n", edit.end)
    neighbours = [_line_at(document, begin - 1) if begin else "", _line_at(document, below + 1) if below >= 0 else ""]
    is_title = sentence.first and edit.start - begin < TITLE and not any(map(str.strip, neighbours))
    if place.new == "?" and kept.is_question(place):
        return False
    return is_title and bool(_TEXT.search(document, 0, begin) or _TEXT.search(document, edit.start))


def _line_at(document: str, at: int) -> str:
    """The line that a character is in."""
    end = document.find("\n", at)
    return document[document.rfind("\n", 0, at) + 1 : len(document) if end < 0 else end]


def raises_a_label(place: PlacedEdit) -> bool:
    """Whether a word before a colon, the number of an item, or the first part of a name with a full stop gets a
    capital."""
    old = place.edit.original
    if not old.islower() or place.edit.replacement != old.capitalize():
        return False
    is_number = place.is_first and _NUMBER.fullmatch(old + place.after[:1]) is not None
    return place.after[:1] == ":" or is_number or _DOTTED.match(place.after) is not None


def raises_a_rest(place: PlacedEdit) -> bool:
    """Whether the first word of a quoted paragraph gets a capital that goes on with the quoted one above."""
    start = place.edit.start
    is_raised = place.sentence.first and place.old != "i" and place.new == place.old.capitalize() != place.old
    return is_raised and _OPEN_QUOTE.search(place.document[max(0, start - LINE) : start]) is not None


def completes_a_comment(place: PlacedEdit) -> bool:
    """Whether a comment of code gets what comments leave out, an article or the first capital, or loses a dash."""
    if not place.sentence.in_code:
        return False
    is_raised = place.is_first and place.old != "i" and place.new == place.old.capitalize() and place.old != ""
    return _adds_article(place) or is_raised or set(place.old) == {"-"}


def completes_a_note(place: PlacedEdit) -> bool:
    """Whether a list item, heading or table cell that has no subject ("Fix crash in parser") gets an article."""
    sentence = place.sentence
    if sentence.unmarked or not (sentence.fragment and sentence.first and _adds_article(place)):
        return False
    word = WORD.search(sentence.text)
    return word is not None and word[0].casefold() not in word_set("starter")


def _adds_article(place: PlacedEdit) -> bool:
    return not place.old and place.new.casefold() in _ARTICLES


def is_right_already(place: PlacedEdit) -> bool:
    """Whether grammar allows what stands there, and not what is proposed, or both."""
    old, new = place.old, place.new
    if not old:
        return new in ("a", "an") and _PLURAL_PHRASE.match(place.after) is not None
    if old.endswith("ing") and new.startswith("to "):
        return _NEEDS.search(place.before) is not None
    if not (_adds_s(old, new) or _adds_s(new, old)):
        return False
    if place.before.rstrip().endswith(":"):
        return True  # what does it is before the colon
    if _adds_s(new, old) and _IDENTIFIER.search(place.before):
        return True  # "OpenFiles returns": a name in the plural
    if not _adds_s(old, new):
        return False
    if place.is_first:
        return _OBJECT.match(place.after) is not None
    return (old in _SINGULAR and _TWO_NAMES.search(place.before) is not None) or _has_plural_subject(place)


def _has_plural_subject(place: PlacedEdit) -> bool:
    """Whether a pronoun in the plural stands before a verb, and no preposition before the pronoun ("one of those")."""
    found = _PLURAL_SUBJECT.search(place.before)
    if found is None or (found["subject"] == "I" and place.old == "were"):
        return False
    is_object = (found["before"] or "").lower() in word_set("preposition")
    return not is_object or found["subject"].lower() in ("i", "we", "they")


def _adds_s(old: str, new: str) -> bool:
    """Whether a verb becomes one of the third person singular."""
    return _SINGULAR.get(old.lower()) == new.lower() or new in (f"{old}s", f"{old}es", f"{old[:-1]}ies")


def breaks_a_habit(place: PlacedEdit) -> bool:
    """Whether what the document writes three times loses a capital, a space or a hyphen, or is a word of its own.

    Misspellings of common words ("becuase") and what a rule finds ("dont") are corrected however often they stand.
    """
    words = HYPHENATED_WORD.findall(place.edit.original)
    if place.edit.provenance == Provenance.RULE or not place.new or not words:
        return False
    if min(count_word(word, place.document) for word in words) < HABIT:
        return False
    if _letters(place.old) == _letters(place.new) and not (place.old.islower() and place.old == place.new.casefold()):
        return len(words) == 1 or is_habit(place.edit.original, place.document)
    is_own = not place.knows(words[0]) if place.sentence.in_code else place.is_new(words[0])
    return len(words) == 1 and place.words is not None and is_own  # "kwds" is near "kids", and a name in the code


def _letters(text: str) -> str:
    return _GAPS.sub("", text).casefold()


def renames_code(place: PlacedEdit) -> bool:
    """Whether an unknown word that stands in the code or the paths of a document with markup is replaced."""
    if place.sentence.unmarked or place.words is None:
        return False
    gone = set(WORD.findall(place.edit.original)) - set(WORD.findall(place.edit.replacement))
    new = {word.casefold() for word in gone if place.is_new(word) or (word[0].isupper() and not place.knows(word))}
    return bool(new) and not new.isdisjoint(find_code_words(place.document))


def respells_a_term(place: PlacedEdit) -> bool:
    """Whether a short unknown word, no misspelling of a common one, becomes another word."""
    word = place.edit.original
    is_short = word.isalpha() and word.islower() and len(word) <= TERM
    return is_short and place.new != "" and place.edit.provenance != Provenance.RULE and place.is_new(word)


def narrows_a_gap(place: PlacedEdit) -> bool:
    """Whether a gap closes in a document whose gaps are wide."""
    return place.edit.original.isspace() and not place.new and has_wide_spaces(place.document)


def joins_sentences(place: PlacedEdit) -> bool:
    """Whether the stop behind an edit ended a sentence and ends none any more."""
    stop = _STOP.match(place.after)
    heads = [place.before + text for text in (place.edit.original, place.edit.replacement)]
    if not stop or not all(map(str.strip, heads)):
        return False
    was, ends = (is_full_stop(head, stop[1], whole=False) for head in heads)
    return was and not ends


def is_unsure(place: PlacedEdit) -> bool:
    """Whether an edit that no rule proposes is not sure enough for a place where writers choose.

    In plain prose only swaps of small words are: it may be a learner's, whose errors the other edits often correct.
    """
    sentence, edit = place.sentence, place.edit
    is_edited = sentence.in_code or not sentence.unmarked or _swaps_small_words(place)
    if not is_edited or edit.provenance == Provenance.RULE or edit.confidence >= SURE:
        return False
    return place.margin < extra_odds(place)


def extra_odds(place: PlacedEdit) -> float:
    """The log-odds above the threshold that an edit of an edited document needs.

    Most of them where a known word becomes another one, "tests" or "in" for "test" or "at", where one other than an
    article comes or goes, where a full stop takes the place of a comma, and where a word loses its capital. Some for an
    article, a few for a comma. "an" for "a" needs none, nor does what is often confused, "is" and "are", "its" and
    "it's".
    """
    old, new = place.old, place.new
    if not old and new == ",":
        return COMMA
    if not (old and new) and not _ARTICLES.isdisjoint((old.lower(), new.lower())):
        return ARTICLE
    if not new:
        return CHOICE if old.isalpha() else 0.0
    if not old:
        return CHOICE if new.lower() in word_set("added") else 0.0
    is_stop = old[0] == "," and new[0] == "."
    is_lowered = old.istitle() and new == old.lower()
    if _swaps_small_words(place) or is_stop or is_lowered:
        return CHOICE
    is_word = old.isalpha() and new.isalpha() and old.casefold() != new.casefold()
    is_confused = not word_set("confused").isdisjoint((old.lower(), new.lower()))
    return CHOICE if is_word and not is_confused and place.knows(old) else 0.0


def _swaps_small_words(place: PlacedEdit) -> bool:
    """Whether one small word takes the place of another: "in" for "at"."""
    return place.old != place.new and word_set("swapped").issuperset((place.old, place.new))


ANYWHERE = (
    invents_a_word, turns_the_meaning, brings_brackets, splits_a_compound, moves_a_hyphen, lowers_a_name, *kept.CHECKS,
)  # fmt: skip
IN_DOCUMENTS = (
    changes_quotes, fills_a_gap, ends_a_block, raises_a_label, raises_a_rest, completes_a_comment, completes_a_note,
    is_right_already, breaks_a_habit, renames_code, respells_a_term, narrows_a_gap,
    joins_sentences, is_unsure,
)  # fmt: skip
