"""What stays, whoever proposes an edit of it: checks (checks.py).

No no, I mean it.      meant repetition: interjections, and any word of a shout that stands three times
an nginx module        a/an before code and words that the lexicon does not know: it depends on how they are read
a udev rule            words of the trade: commands, options, types, file names
How we decide on pay   a title that begins with a question word is no question; "how do i pay" is one
Of course it will.     an opening before a clause of a few words needs no comma
We really KNOW them.   capitals that mean emphasis
Easy come, easy go.    sayings
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from rapidfuzz.distance import OSA

from edit_gec.rules.placed_edit import PlacedEdit
from edit_gec.rules.terms import is_name, is_term
from edit_gec.rules.words import column
from edit_gec.text.edits import Edit
from edit_gec.text.fragments import is_open_ended
from edit_gec.text.kinds import is_spelling
from edit_gec.text.words import WORD

_READABLE = re.compile(  # a word that begins otherwise may be read letter by letter: nginx, xterm
    r"(?:[bcdfghjklmnpqrstvwz]|[bcfgps]l|[bcdfgkpt]r|[dst]w|s[cfkmnpqt]|sc[hr]|s[hpt]r|[cgprstw]h|[ct]hr|spl|[gkp]n"
    r"|ps|wr|qu"
    r"|squ|kl|ts)?[aeiouy]"
)
_BEHIND = re.compile(r"[^\w]*")
_SMALL = frozenset(  # words that stand twice or three times only by mistake
    "the a an of to in on at for with by from and or but if as is are be this these those i we he she they my your his "
    "its our their not been being about into than then when which would could should will can may might must".split()
)
_MEANT = frozenset(  # and words that are meant so
    "oh hey na yeah yes yep nope ah ha haha ho hi hello bye no la da dum doo shoo wow whoa please sorry thanks wait "
    "stop come run go look listen right well okay ok now why ouch ow my very really so too more many much never ever "
    "again long far old big good had that knock tick tock hush boo yum yay aye quick slow love home work money".split()
)
_QUESTION = re.compile(r"\W*(?:\d+[.)]\s*)?(?:how|what|why|when|where|who|which|whose)\b(?!.*\?)", re.IGNORECASE)
_AUXILIARY = re.compile(r"\b(?:do|does|did)\b|\?", re.IGNORECASE)
_INVERTED = re.compile(
    r"\b(?:am|is|are|was|were|do|does|did|have|has|had|can|could|will|would|shall|should|may|might|must)"
    r" (?:i|you|he|she|it|we|they|there)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:of course|in fact|in time|at least|no doubt|in truth|at last|at first|for now|by now|of late|in short|sure|"
    r"surely|maybe|perhaps|then|now|soon|again|still)\Z",
    re.IGNORECASE,
)
SHORT = 7  # letters of an unknown word that may be read letter by letter
_SUBJECT = re.compile(
    r"\s*(?:(?:and|but|so)\s+)?(?:i|you|he|she|it|we|they|this|that|there|these|those|my|your|his|her|our|their|the)\b",
    re.IGNORECASE,
)
_ATTACHED = re.compile(r"\s*(?:when|while|which|whose?|where)\b")
_FEW = 4  # words of a clause behind an opening that needs no comma
_PRONOUN = re.compile(r"\s*(?:i|you|he|she|it|we|they|this|that|there)\b", re.IGNORECASE)


def stops_a_shout(place: PlacedEdit) -> bool:
    """Whether a repeated word is deleted that may be repeated, or "had had" becomes something else."""
    text, edit = place.document, place.edit
    old, new = (WORD.findall(side.casefold()) for side in (edit.original, edit.replacement))
    if old == ["had", "had"]:
        return True
    if len(set(old)) != 1 or len(new) >= len(old) or not {*new} <= {*old}:
        return False
    word = old[0]
    before = WORD.findall(text[max(0, edit.start - 60) : edit.start].casefold())
    behind = WORD.findall(text[edit.end : edit.end + 60].casefold())
    times = len(old) + _count_first(word, before[::-1]) + _count_first(word, behind)
    return times > 1 and (word in _MEANT or (times > 2 and word not in _SMALL))


def _count_first(word: str, words: list[str]) -> int:
    """How many of the words are this one, before the first other one."""
    return next((n for n, each in enumerate(words) if each != word), len(words))


def guesses_a_sound(place: PlacedEdit) -> bool:
    """Whether "a" or "an" becomes another word before code or a word in small letters that is not known."""
    sentence, edit = place.sentence, place.edit
    if edit.original.strip().casefold() not in ("a", "an") or not edit.replacement.strip().isalpha():
        return False
    _, end = sentence.span_of(edit)
    behind = _BEHIND.match(sentence.text, end)
    at = behind.end() if behind else end
    if any(low < at + 1 and end <= low <= at for low, _ in sentence.protected):
        return not sentence.text[at : at + 1].isdigit()
    word = WORD.match(sentence.text, at)
    if word is None or not word[0][0].islower():
        return False
    is_odd = not _READABLE.match(word[0]) or is_term(word[0])
    return is_odd or (len(word[0]) <= SHORT and not place.knows(word[0]))  # a longer one is rather misspelt


def changes_a_term(place: PlacedEdit) -> bool:
    """Whether a word becomes another one that is a word of the trade, or a name inside a sentence."""
    start, _ = place.sentence.span_of(place.edit)
    new = set(WORD.findall(place.edit.replacement.casefold()))
    for found in WORD.finditer(place.edit.original):
        word = found[0]
        if word.casefold() in new:
            continue
        is_inside = start + found.start() > 0
        if is_term(word) or (is_inside and is_name(word)):
            return True
    return False


def keep_known_words(edit: Edit, is_known: Callable[[str], bool]) -> Edit:
    """The edit, or the respelling in it alone where a neighbour comes or goes with it.

    "adress book" -> "address" is "adress" -> "address"; "alot" -> "a lot" stays.
    """
    old, new = WORD.findall(edit.original), WORD.findall(edit.replacement)
    if len(old) == len(new) or OSA.distance("".join(old), "".join(new), score_cutoff=1) < 2:
        return edit
    unknown = [found for found in WORD.finditer(edit.original) if not is_known(found[0])]
    if len(unknown) != 1:
        return edit
    wrong = unknown[0]
    right = min(new, key=lambda word: OSA.distance(wrong[0].casefold(), word.casefold()), default="")
    if right == wrong[0] or not is_spelling(wrong[0].casefold(), right.casefold()):
        return edit
    start = edit.start + wrong.start()
    return replace(edit, start=start, end=start + len(wrong[0]), original=wrong[0], replacement=right)


def asks_a_title(place: PlacedEdit) -> bool:
    """Whether a block without an end mark that begins with a question word becomes a question."""
    sentence, edit = place.sentence, place.edit
    if is_question(place) or not (sentence.first and sentence.last and _AUXILIARY.search(edit.replacement)):
        return False
    is_new = len(_AUXILIARY.findall(edit.replacement)) > len(_AUXILIARY.findall(edit.original))
    return is_new and is_open_ended(sentence.text) and _QUESTION.match(sentence.text) is not None


def is_question(place: PlacedEdit) -> bool:
    """Whether a line of prose, no heading or item of a list, begins as a question: "how would i do it"."""
    sentence = place.sentence
    begin = _QUESTION.match(sentence.text)
    is_prose = not sentence.fragment and "\n" not in place.document[sentence.offsets[0] : sentence.offsets[-1]]
    return begin is not None and is_prose and _INVERTED.search(sentence.text, begin.end()) is not None


def parts_an_opening(place: PlacedEdit) -> bool:
    """Whether nothing but a comma comes between an opening and a clause of a few words."""
    sentence, edit = place.sentence, place.edit
    if edit.original.strip() or edit.replacement.strip() != ",":
        return False
    start, _ = sentence.span_of(edit)
    clause = sentence.text[start:]
    is_short = len(WORD.findall(clause)) <= _FEW and _PRONOUN.match(clause) is not None
    return is_short and _OPENING.match(sentence.text[:start]) is not None


def cuts_a_clause(place: PlacedEdit) -> bool:
    """Whether a full stop takes the place of a comma before "when" and its like; in documents, before anything that is
    no clause with a subject."""
    edit = place.edit
    if not edit.original.startswith(",") or edit.replacement[:1] != ".":
        return False
    if _ATTACHED.match(place.document, edit.start + 1):
        return True
    return not place.sentence.alone and _SUBJECT.match(place.document, edit.start + 1) is None


def changes_a_saying(place: PlacedEdit) -> bool:
    """Whether words of a saying change, whose grammar is its own, or "So that" loses its second word."""
    start, end = place.sentence.span_of(place.edit)
    sayings = _sayings().finditer(place.sentence.text)
    return any(found.start() < end and start < found.end() for found in sayings)


@cache
def _sayings() -> re.Pattern[str]:
    words = "|".join(map(re.escape, column("saying")))
    return re.compile(rf"\A\W*So that\b|\b(?i:{words})\b")


CHECKS = (
    stops_a_shout, guesses_a_sound, changes_a_term, asks_a_title, parts_an_opening, cuts_a_clause, changes_a_saying,
)  # fmt: skip
