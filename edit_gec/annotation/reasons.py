"""Why an edit is right, in one sentence for writers: by the words themselves, else by their ERRANT type.

    >>> give_reason("R:CONTR", "its", "it's")
    '“Its” shows what belongs to it; “it’s” means “it is” or “it has”.'
    >>> give_reason("R:SPELL", "becuase", "because")
    'This word is spelt “because”.'

A reason states the rule. It does not claim that the model followed it.
"""

from __future__ import annotations

import re

_ITS = "“Its” shows what belongs to it; “it’s” means “it is” or “it has”."
_YOUR = "“Your” shows what belongs to you; “you’re” means “you are”."
_THEIR = "“Their” shows what belongs to them, “there” is a place, and “they’re” means “they are”."
_TO = "“Too” means “also” or “more than enough”, “two” is the number, and “to” stands before a verb or a place."
_THAN = "“Than” compares; “then” says when, or what follows."
_WHOSE = "“Whose” asks to whom something belongs; “who’s” means “who is” or “who has”."
_LOSE = "“Lose” is the opposite of “find”; “loose” is the opposite of “tight”."
_AFFECT = "“Affect” is mostly a verb, to influence; “effect” is mostly a noun, the result."
_OF = "After “could”, “should” or “would” comes “have”; “of” only sounds like it."
_ARTICLE = "“An” stands before a vowel sound, “a” before any other sound."
_DEMONSTRATIVE = "“This” and “that” stand with one thing, “these” and “those” with several."
_GROUPS = (
    ("its it's", _ITS),
    ("your you're", _YOUR),
    ("their there they're", _THEIR),
    ("to too two", _TO),
    ("then than", _THAN),
    ("whose who's", _WHOSE),
    ("lose loose loses looses", _LOSE),
    ("affect effect affects effects", _AFFECT),
    ("of have 've", _OF),
    ("a an", _ARTICLE),
    ("this these that those", _DEMONSTRATIVE),
    ("where were we're", "“Were” is the past of “are”, “where” asks for a place, and “we’re” means “we are”."),
    ("weather whether wether", "“Whether” means “if”; the “weather” is sunshine and rain."),
    ("advice advise", "“Advice” is the noun, “advise” the verb."),
    ("less fewer", "“Fewer” goes with what can be counted, “less” with what cannot."),
    ("much many", "“Many” goes with what can be counted, “much” with what cannot."),
    ("who whom which", "“Who” and “whom” stand for people, “which” for things."),
    ("quite quiet", "“Quiet” means “without noise”; “quite” means “rather” or “entirely”."),
    ("passed past", "“Passed” is the past of “pass”; “past” is what is over, or “beyond”."),
    ("brake break", "A “brake” stops a car; a “break” is a pause or a crack."),
    ("don't doesn't", "“Doesn’t” goes with he, she and it, “don’t” with all others."),
    ("dont doesn't", "“Doesn’t” goes with he, she and it, “don’t” with all others."),
    ("doesnt don't", "“Doesn’t” goes with he, she and it, “don’t” with all others."),
    ("good well", "“Good” describes a thing, “well” how something is done."),
)
_SAME_GROUP = {
    (old, new): reason for words, reason in _GROUPS for old in words.split() for new in words.split() if old != new
}
_BY_TYPE = {
    "R:ADJ:FORM": "This is the form of the adjective that fits here, as in “big, bigger, biggest”.",
    "R:CONTR": "An apostrophe stands for the letters that are left out.",
    "M:DET": "A single thing that can be counted needs a word such as “a”, “the” or “my” before it.",
    "U:DET": "No article is needed here.",
    "R:DET": "Another article or determiner fits here.",
    "R:MORPH": "The sentence needs another form of this word.",
    "R:NOUN:INFL": "This noun forms its plural in another way, or has none.",
    "R:NOUN:NUM": "The number of this noun does not fit the words around it.",
    "R:NOUN:POSS": "The apostrophe shows that something belongs to someone.",
    "M:NOUN:POSS": "The apostrophe shows that something belongs to someone.",
    "M:PREP": "A preposition is needed to join these words.",
    "U:PREP": "These words go together without a preposition.",
    "R:PREP": "With these words another preposition is usual.",
    "M:PRON": "A pronoun is missing here.",
    "U:PRON": "The sentence says this already.",
    "R:PRON": "Another pronoun fits what it stands for.",
    "R:SPELL": "This word is spelt “{new}”.",
    "R:VERB:FORM": "The words before the verb ask for another form of it.",
    "M:VERB:FORM": "A part of the verb is missing.",
    "U:VERB:FORM": "This part of the verb is not needed.",
    "R:VERB:INFL": "This verb forms its past or its endings in another way.",
    "R:VERB:SVA": "The verb agrees with its subject: “he goes”, “they go”.",
    "R:VERB:TENSE": "Another tense fits the time that the text speaks of.",
    "M:VERB:TENSE": "This tense needs a helping verb.",
    "U:VERB:TENSE": "This tense needs no helping verb here.",
    "M:VERB": "A verb is missing here.",
    "R:WO": "English puts these words in another order.",
    "R:PART": "With these words another particle or preposition is usual.",
}
_MISSING_MARKS = {
    ",": "A comma parts what comes before it from the rest of the sentence.",
    ".": "A sentence ends with a full stop.",
    "?": "A question ends with a question mark.",
    "!": "An exclamation ends with an exclamation mark.",
    ":": "A colon announces what follows.",
    ";": "A semicolon parts two clauses that could stand alone.",
    "'": "The apostrophe shows that letters are left out, or that something belongs to someone.",
}
_CAPITALS = {
    "i": "The word “I” is always written with a capital.",
    "name": "Names, days, months, languages and the first word of a sentence begin with a capital.",
    "small": "No capital is needed here.",
}


_CONTRACTIONS = frozenset({"it's", "you're", "they're", "who's", "we're"})


def are_confused(old: str, new: str) -> bool:
    """Whether the words are often written for each other."""
    return (_fold(old), _fold(new)) in _SAME_GROUP


def is_contraction(old: str, new: str) -> bool:
    """Whether a contraction is written with its apostrophe ("lets"), or in place of what sounds like it ("your")."""
    before, after = _fold(old), _fold(new)
    return "'" in after and (_letters(before) == _letters(after) or (after in _CONTRACTIONS and are_confused(old, new)))


def _fold(words: str) -> str:
    return words.strip().lower().replace("’", "'")


def give_reason(kind: str, old: str, new: str) -> str | None:
    """One sentence about an edit of an ERRANT type, old words and new ones; None where there is nothing to say."""
    before, after = _fold(old), _fold(new)
    if (before, after) in _SAME_GROUP:
        return _SAME_GROUP[before, after]
    if before == after != "":
        return _about_capitals(old.strip(), new.strip())
    if before and _letters(before) == _letters(after):
        return _about_spaces(before, after)
    if kind.endswith(":PUNCT"):
        return _about_marks(kind, before, after)
    reason = _BY_TYPE.get(kind)
    return reason.format(new=new.strip()) if reason else None


def _letters(words: str) -> str:
    return re.sub(r"[\s'-]", "", words)


def _about_capitals(old: str, new: str) -> str | None:
    if old == new:
        return "The space does not belong here."
    if new == "I":
        return _CAPITALS["i"]
    return _CAPITALS["name" if sum(map(str.isupper, new)) > sum(map(str.isupper, old)) else "small"]


def _about_spaces(old: str, new: str) -> str | None:
    """Words that differ in spaces, hyphens or apostrophes."""
    if old.count("'") != new.count("'"):
        return _MISSING_MARKS["'"]
    if old.count("-") != new.count("-"):
        return "Words that act as one are joined by a hyphen." if "-" in new else "No hyphen is needed here."
    return "This is written as one word." if " " in old else "These are separate words."


def _about_marks(kind: str, old: str, new: str) -> str | None:
    if kind.startswith("U"):
        return "No punctuation mark is needed here."
    return _MISSING_MARKS.get(new[-1:]) or "Another mark is usual here."
