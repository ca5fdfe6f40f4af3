"""Errors that a rule can see: what it proposes is scored by the model as spelling candidates are (spelling.py).

    >>> for match in find_certain("i dont know why he could of went ."): print(match.start, match.end, *match.texts)
    0 1 I
    2 6 don't
    19 27 could have

A rule proposes an edit but never decides on it: the tags must doubt the words at least a little, and the decoder compares
the proposal with the source. Rules are right far more often than the model believes, so on the scale of confidence they
have an offset of their own, and what the model says counts less (confidence.py).
"""

# ruff: noqa: E501 - a pattern stays in one piece

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

Propose = Callable[["re.Match[str]"], Sequence[str]]


class Certain(NamedTuple):
    """text[start:end], whole words, and what may stand there instead."""

    start: int
    end: int
    texts: tuple[str, ...]


def find_certain(text: str) -> list[Certain]:
    """What the rules find in a sentence, in order; of matches that overlap the first one, and the longest of these."""
    words = set(_WORD.findall(text.lower()))
    rules = [RULES[n] for n in {n for word in words for n in _RULES_OF.get(word, ())} | _ALWAYS]
    matches = (match for rule in rules for match in _apply(text, rule))
    found = sorted(matches, key=lambda match: (match.start, -match.end, match.texts))
    kept: list[Certain] = []
    for match in found:
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept


def _apply(text: str, rule: Rule) -> Iterator[Certain]:
    for match in re.compile(rule.pattern).finditer(text):  # compiled once, when a sentence first needs it
        original = match["it"]
        if len(original) > 1 and original.isupper():
            continue  # an abbreviation, or all of it in capitals
        texts = tuple(_cased(each, original) for each in rule.propose(match))
        if texts and original not in texts:
            yield Certain(match.start("it"), match.end("it"), texts)


def _cased(new: str, original: str) -> str:
    return new[0].upper() + new[1:] if original[0].isupper() else new


# ---------------------------------------------------------------- words and their forms

_PAST = dict(
    pair.split(":")  # past: base, participle
    for pair in (
        "went:go/gone came:come/come saw:see/seen took:take/taken gave:give/given ate:eat/eaten wrote:write/written "
        "knew:know/known did:do/done was:be/been were:be/been had:have/had made:make/made got:get/got bought:buy/bought "
        "told:tell/told found:find/found thought:think/thought felt:feel/felt said:say/said spoke:speak/spoken "
        "began:begin/begun broke:break/broken drove:drive/driven ran:run/run swam:swim/swum sang:sing/sung "
        "slept:sleep/slept spent:spend/spent taught:teach/taught understood:understand/understood met:meet/met "
        "paid:pay/paid sent:send/sent won:win/won lost:lose/lost kept:keep/kept built:build/built brought:bring/brought "
        "caught:catch/caught chose:choose/chosen drank:drink/drunk fell:fall/fallen flew:fly/flown forgot:forget/forgotten "
        "grew:grow/grown heard:hear/heard held:hold/held rode:ride/ridden sat:sit/sat sold:sell/sold stood:stand/stood "
        "stole:steal/stolen threw:throw/thrown woke:wake/woken wore:wear/worn became:become/become showed:show/shown"
    ).split()
)
_BASE = {past: forms.split("/")[0] for past, forms in _PAST.items()}
_PARTICIPLE = {past: forms.split("/")[1] for past, forms in _PAST.items() if forms.split("/")[1] != past}
_PAST_OF = {  # participle or past: past, where it is one word for all persons
    form: past for past, forms in _PAST.items() if past not in ("was", "were") for form in (past, forms.split("/")[1])
}
_LATER = dict(  # past: participle, of verbs that no other rule knows
    pair.split(":")
    for pair in (
        "rose:risen arose:arisen drew:drawn blew:blown froze:frozen shook:shaken tore:torn swore:sworn rang:rung sank:sunk "
        "shrank:shrunk sprang:sprung forgave:forgiven mistook:mistaken overcame:overcome withdrew:withdrawn"
    ).split()
)
_REGULAR = (
    "want need like work live look play talk walk ask help love hate watch use try study call start stop finish listen "
    "visit travel wait open close clean cook dance enjoy learn remember laugh move pass stay turn wash wish worry smoke"
).split()
_VERBS = [*dict.fromkeys(_BASE[past] for past in _BASE if _BASE[past] != "be"), *_REGULAR]


def _third(verb: str) -> str:
    if verb in {"have", "do", "go"}:
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "ch", "sh")) else "s")


def _past(verb: str) -> str:
    irregular = next((past for past, base in _BASE.items() if base == verb), None)
    if irregular:
        return irregular
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ped" if verb == "stop" else "ed")


def _ing(verb: str) -> str:
    doubled = {"get", "run", "swim", "win", "sit", "stop", "forget", "begin"}
    if verb in doubled:
        return verb + verb[-1] + "ing"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") and verb != "be" else verb) + "ing"


_THIRD = {_third(verb): verb for verb in _VERBS}
_BASES = {**{past: base for past, base in _BASE.items() if base != "be"}, **_THIRD, **{_past(v): v for v in _REGULAR}}
_NO_BASES = [word for word in _BASES if word not in {"found", "fell", "saw"}]  # to found a company, to saw wood
_COMPARATIVES = (
    "better worse bigger smaller taller older younger faster slower larger longer shorter cheaper easier harder stronger "
    "higher lower earlier nicer closer deeper richer poorer warmer colder newer busier happier safer cleaner lighter "
    "heavier healthier prettier wider stronger simpler funnier"
).split()
_NAMES = (
    "monday tuesday wednesday thursday friday saturday sunday january february april june july september october november "
    "december english french german spanish italian japanese chinese russian portuguese korean american european african "
    "london paris berlin madrid rome moscow tokyo england france germany spain italy portugal russia japan brazil mexico "
    "canada australia europe africa america christmas easter british irish scottish greek dutch swedish"
).split()
_APART = {
    "alot": "a lot", "aswell": "as well", "infact": "in fact", "eventhough": "even though", "atleast": "at least",
    "eachother": "each other", "noone": "no one", "ofcourse": "of course", "everytime": "every time",
    "inspite": "in spite", "thankyou": "thank you", "highschool": "high school", "incase": "in case",
}  # fmt: skip
_TOGETHER = [
    *(f"{first} {second}" for first in ("every", "some", "any") for second in ("thing", "body")), "every one", "some one",
    *(f"{first} self" for first in ("my", "your", "him", "her", "it")), "them selves", "our selves", "no thing",
    "some times", "an other", "now a days", "home work", "team work", "class room", "with out",
]  # fmt: skip
_SECOND_HALVES = {each.split(" ")[-1] for each in _TOGETHER}
_NOT = {f"{verb}nt": f"{verb}n't" for verb in
        "do does did is are was were could should would has have had must".split()}  # fmt: skip
_ELIDED = {
    **_NOT, "ive": "I've", "im": "I'm", "hes": "he's", "shes": "she's", "theyre": "they're", "youre": "you're",
    "weve": "we've", "youve": "you've", "theyve": "they've", "thats": "that's", "whats": "what's", "theres": "there's",
    "wheres": "where's", "whos": "who's", "isnt": "isn't", "theyll": "they'll", "youll": "you'll",
}  # fmt: skip
_UNCOUNTABLE = "information advice homework furniture equipment luggage baggage knowledge scenery".split()
_NO_NOUNS = "the this that these those is are was were to in on of and or".split()
_SINGULAR = {"are": "is", "were": "was", "have": "has"}
_JOBS = (
    "doctor teacher student nurse engineer lawyer dentist driver waiter waitress journalist secretary farmer actor actress "
    "singer pilot architect scientist housewife policeman hairdresser mechanic accountant programmer"
).split()
_NO_NOUN_VERBS = (  # verbs that are no nouns
    "go eat learn become choose get take make know see have be do come give write speak buy tell think say begin understand "
    "send lose keep bring catch forget grow hear sell improve create reduce develop explain discover prepare "
    "protect solve avoid decide enjoy remember arrive communicate spend teach read cook relax celebrate organise organize "
    "achieve describe earn"
).split()
_WORST = {"worse": "worst", "better": "best"}
_AMOUNTED = (
    "person country city place thing reason way film game friend part subject hobby language student opportunity company "
    "hour day week month year minute child member meter metre kilometer kilometre euro dollar brother sister"
).split()
_NOUNS = (
    "book friend day week month year hour minute chair table country city house car dog cat student teacher brother sister "
    "boy girl film song game shop school language word picture room bottle ticket person child man woman thing problem "
    "question animal bird tree flower lesson exam job letter cup bag box family party baby foot tooth"
).split()
_ODD_PLURALS = {
    "person": "people",
    "child": "children",
    "man": "men",
    "woman": "women",
    "foot": "feet",
    "tooth": "teeth",
}
_PERSONS = (
    "best friend,friend,sister,brother,mother,father,son,daughter,wife,husband,boss,uncle,aunt,cousin,teacher,cat,dog"
).split(",")
_FEMALE = frozenset("sister mother daughter wife aunt".split())
_MALE = frozenset("brother father son husband uncle".split())
_PAST_TIME = r"(?:[Yy]esterday|[Ll]ast (?:night|week|weekend|month|year|summer|winter|spring|autumn|[A-Z][a-z]+day))"
_TOO = (
    "much many late expensive big small heavy hot cold tired young old hard difficult fast busy long short far early loud dark "
    "weak dangerous"
).split()
_OWNED = "fault idea turn job car house book phone bag side responsibility decision birthday money dog cat pen".split()
_DAYS = "mon tues wednes thurs fri satur sun".split()
_MONTHS = "january february april june july august september october november december".split()
_ASKING = "where why when how what".split()
_MANY = "two three four five six seven eight nine ten many several few these those".split()
_SHORT = "tall fast big small old young cheap easy hard strong high low nice rich poor warm cold new short long happy busy lucky funny pretty heavy dirty healthy lazy noisy early safe".split()


def _plural(noun: str) -> str:
    if noun in _ODD_PLURALS:
        return _ODD_PLURALS[noun]
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("x", "ch", "sh", "s")) else "s")


_INGS = [_ing(verb) for verb in _VERBS]
_GERUNDS = {_ing(verb): verb for verb in _NO_NOUN_VERBS}
_SINGLE = {_plural(noun): noun for noun in _AMOUNTED if noun != "person"}


def _graded(adjective: str, ending: str) -> str:
    if adjective.endswith("y"):
        return adjective[:-1] + "i" + ending
    doubled = adjective[-1] if adjective in {"big"} else ""
    return adjective + doubled + (ending[1:] if adjective.endswith("e") else ending)


def _words(words: Sequence[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


# ---------------------------------------------------------------- the rules

_AMOUNTS = "few|lot|lots|number|couple|dozen|hundred|thousand|million|variety|many|handful|range|series|bunch|total|set|pair|host"
_NO_TAIL = r"(?![\w'’-])"
_PHRASE_END = (
    r"(?=$|[.,!?;:]| (?:in|at|on|for|and|or|of|to|from|with|who|that|which|is|are|was|were|here|there|when|but|because|"
    r"about|by|near|before|after|ago|later)\b)"
)
_SUBJECT = r"(?:^|\b(?i:and|but|because|since|so|when|which|who|if|what|how|why|where|than|think|know|say|sure) |[,;:.!?] |[^\w\s.,'’-]+ )"


_NOT_AFTER_WHAT = "".join(f"(?<![Ww]hat {subject} )" for subject in ("I", "you", "he", "she", "we", "they"))
_WE = r"\b(?:[Ww]e|[Tt]hey)"  # subjects wherever they stand; "you" may be an object
_NO_INVERSION = r"(?![^?]* (?:can|could|will|would|should|may|must|do|does|did|is|are|was|were) (?:I|you|we|they|he|she|it|there)\b)"  # "When I have time, can we meet?"
_ONE_MORE = re.compile(
    r"(?:(?:^|[,;:.!?] |\b(?:that|because|when|if|but|so|[Dd]o|[Dd]oes|[Dd]id) )(?i:(?:my|your|his|her|its|our|their|the|an?) (?:[\w-]+ )?[\w'’-]+|i|you|s?he|it|we|they)|\b[A-Z][\w'’-]+) $"
)


_RELATIVE = re.compile(r"\b(?:[Tt]he|[Tt]hose|[Tt]hese|[Aa]ny|[Ee]very|[Aa]ll) [^,.;:]*\b(?:I|you|he|she|it|we|they) $")


class Rule(NamedTuple):
    """What a pattern finds in a sentence becomes what `propose` says; every match has one of the `words`, if any."""

    words: frozenset[str]
    pattern: str
    propose: Propose


def _rule(words: str | Iterable[str], pattern: str, propose: Propose) -> Rule:
    return Rule(frozenset(words.split() if isinstance(words, str) else words), pattern, propose)


def _fixed(*texts: str) -> Propose:
    return lambda _: texts


def _table(table: dict[str, str]) -> Propose:
    return lambda match: (table[match["it"].lower()],)


def _swap(old: str, new: str) -> Propose:
    return lambda match: (re.sub(rf"\b{old}\b", new, match["it"]),)


def _article(match: re.Match[str]) -> Sequence[str]:
    if match["next"] in _UNCOUNTABLE or match["next"] in _NO_NOUNS:
        return ()
    sounds_vowel = re.match(
        r"(?!uni(?![nmd])|unidir|unimod|unanim|unary|us[aeu]|eu|ewe|one\b|once|ur[aeil]|ut[eio]|ubi|uk[eu])[aeiou]|hour|hone?st|hono|heir",
        match["next"],
    )
    return ("an" if sounds_vowel else "a",)


def _if_singular(propose: Propose) -> Propose:
    """Nothing for the second half of a compound subject ("my brother and he")."""

    def propose_for_one(match: re.Match[str]) -> Sequence[str]:
        before = match.string[max(0, match.start() - 60) : match.start()]
        return () if match[0].lower().startswith("and ") and _ONE_MORE.search(before) else propose(match)

    return propose_for_one


def _without_pronoun(match: re.Match[str]) -> Sequence[str]:
    """Nothing where the pronoun is another person ("my wife he has never met")."""
    person, _, pronoun = match["it"].rpartition(" ")
    return () if person in (_MALE if pronoun == "she" else _FEMALE) else (person,)


def _nor(match: re.Match[str]) -> Sequence[str]:
    """Nothing where a verb may follow ("neither knows or cares")."""
    either = match["first"], match["second"]
    is_verb = any(word in _THIRD or word in _PAST or word.endswith("ed") for word in either)
    return () if is_verb and not match["determiner"] else ("nor",)


def _later(match: re.Match[str]) -> Sequence[str]:
    """Nothing where the participle of a relative clause is left out ("the problems we have arose later")."""
    before = match.string[max(0, match.start() - 60) : match.start()]
    return () if _RELATIVE.search(before) else (_LATER[match["it"]],)


def _base(match: re.Match[str]) -> Sequence[str]:
    return (_BASES[match["it"]],)


DOUBLE = frozenset(  # words that may stand twice
    "had that is so very no bye ha blah long many much really never again hear there now more far too knock tut boo pop "
    "well please ok okay yes hi la na one two do can log foo bar night half ever deep "
    "her you it what who did does was are were chop hush win true false".split()
)
_PARTICLES = frozenset("in on by up out off over down through".split())
_WITH_PARTICLE = re.compile(  # verbs that end in a particle, which a preposition may follow: "log in in the morning"
    r"\b(?:(?:log|sign|check|turn|mov|carr|pass|sit|stay|look|liv|hand|fill|plug|jump|join|step|call|bring|break|pull|push|"
    r"pick|drop|kick|cut|set|put|let|go|com|get|giv|tak|hold|keep|run|stand|hang)"
    r"(?:e|s|es|ed|ing|y|ies|ied|[gnpt](?:ed|ing))?|went|came|got|gave|given|took|taken|held|kept|ran|stood|hung|sat|brought|"
    r"broke|broken|him|her|it|me|you|us|them) $"
)


def may_stand_twice(word: str, text: str, start: int) -> bool:
    """Whether a word in lower case, which begins at text[start], can stand twice there in correct English.

    >>> may_stand_twice("her", "her her", 0), may_stand_twice("in", "log in in", 4), may_stand_twice("in", "is in in", 3)
    (True, True, False)
    """
    return word in DOUBLE or (word in _PARTICLES and _WITH_PARTICLE.search(text, max(0, start - 20), start) is not None)


RULES = [
    # doubled words
    _rule("", rf"(?<![\w'’-])(?P<it>(?P<word>[a-z]{{2,}}) (?P=word)){_NO_TAIL}",
          lambda match: () if may_stand_twice(match["word"], match.string, match.start()) else (match["word"],)),
    # capitals
    _rule("i", r"(?<![\w.'’-])(?<!letter )(?<!variable )(?<!index )(?<!Let )(?<!let )(?<!for )(?<!\()(?P<it>i)(?= (?!is\b|be\b|and\b|or\b)[a-z]|['’](?:m|ve|ll|d)\b)",
        _fixed("I"),
    ),
    _rule([*_NAMES, *(name + "s" for name in _NAMES)], rf"(?<![\w.'’/-])(?P<it>{_words(_NAMES)})s?{_NO_TAIL}", lambda match: (match["it"].capitalize(),)),
    _rule("may march", rf"\b(?:in|since|until) (?P<it>may|march)(?:{_PHRASE_END}|(?= (?:this|last|next|I|we|he|she|they|\d{{4}})\b))", lambda match: (match["it"].capitalize(),)),
    # apostrophes
    _rule(_ELIDED, rf"(?<![\w'’])(?i:(?P<it>{_words(list(_ELIDED))})){_NO_TAIL}", _table(_ELIDED)),
    _rule("cant wont", rf"\b(?:I|i|you|You|we|We|they|They|he|He|she|She|it|It) (?P<it>cant|wont){_NO_TAIL}",
          lambda match: (match["it"][:-1] + "'t",)),
    _rule("its", r"\b(?P<it>[Ii]ts) (?:a|an|the|not|going to|been|raining|snowing|because|too|really|just|always|never|so|"
          r"hard to|easy to|important to|time to|my|your|our)\b", _fixed("it's")),
    _rule("it", r"(?<!kind )\b(?:of|in|on|with|for|from|by|around|changed|lost|has|have) (?P<it>it['’]s) (?=[a-z])(?!not\b|a\b|the\b|going\b|been\b)",
          _fixed("its")),
    _rule("your", r"\b(?P<it>[Yy]our) (?:(?:coming|welcome|wrong|late)(?=$|[.,!?;]| (?:to|here|home|for|with|about|again|back|and|but|because)\b)|going to|not|too|looking|doing|getting|the best)",
          _fixed("you're")),
    # words that sound alike
    _rule("could should would might must couldn shouldn wouldn mightn mustn", r"\b(?P<it>(?:[Cc]ould|[Ss]hould|[Ww]ould|[Mm]ight|[Mm]ust)(?:n['’]t)? of)\b(?! course)", _swap("of", "have")),
    _rule("their", r"\b(?P<it>[Tt]heir) (?:is|are|was|were|isn['’]t|aren['’]t|will be|has been|have been)\b", _fixed("there")),
    _rule("there", r"\b(?P<it>[Tt]here) own\b", _fixed("their")),
    _rule("they", r"\b(?:left|lost|took|take|bring|brought|with|of|in|for|love|sold|forgot) (?P<it>they['’]re) [a-z]+", _fixed("their")),
    _rule("then", rf"\b(?:(?:more|less) [a-z]+|{_words(_COMPARATIVES)}|rather) (?P<it>then) (?!again\b|and\b|or\b|but\b)(?=\w)", _fixed("than")),
    _rule(_TOO, rf"\b(?:is|are|was|were|am|be|it['’]s|not|much|way|far) (?P<it>to) (?:{_words(_TOO)}){_NO_TAIL}", _fixed("too")),
    _rule("loose", r"(?<!due )(?:\b(?:to|not|will|can|could|might|may|would|should|must)|n['’]t) (?P<it>loose)\b", _fixed("lose")),
    _rule("by", r"\b(?:want|wants|wanted|going|need|needs|needed|like|have|has|had|decided|able) to (?P<it>by) (?=a |an |the |some |new |it\b|them\b|my |your |her |his )", _fixed("buy")),
    _rule("effect", r"(?:\b(?:not|will|can|could|would|may|might)|n['’]t) (?P<it>effect)\b(?! (?:an? |the |some |any |real |lasting )?(?:\w+ )?changes?\b)", _fixed("affect")),
    _rule("affect", r"\b(?:[Aa]n|[Tt]he|[Nn]o|any|big|good|bad|great|strong) (?P<it>affect)\b(?! (?:display|heuristic|regulation|theory|of (?:the|his|her) patients?)\b)", _fixed("effect")),
    _rule("quiet", r"\b(?P<it>quiet) (?:a|an|good|nice|big|often|well|easy|hard|different|difficult|interesting|expensive|cheap)\b", _fixed("quite")),
    _rule("who", rf"\b(?P<it>[Ww]ho['’]s) (?:{_words(_OWNED)})\b(?=\?| (?:is|was|are|were|do|did|does)\b)", _fixed("whose")),
    # one word for two
    _rule(_APART, rf"(?<![\w'’-])(?i:(?P<it>{_words(list(_APART))})){_NO_TAIL}", _table(_APART)),
    _rule(_SECOND_HALVES, rf"(?<![\w'’-])(?P<it>{_words(list(_TOGETHER))})(?! of\b){_NO_TAIL}", lambda match: (match["it"].replace(" ", ""),)),
    # articles by sound
    _rule("a", r"(?<![\w.'’-])(?P<it>a|^A) (?P<next>[aeiou][a-z]{2,}|hour|honest|heir)(?![\w])", _article),
    _rule("an", r"(?<![\w.'’-])(?P<it>[Aa]n) (?P<next>(?!herb|histor|hors )(?=[a-z]*[aeiouy])[b-df-hj-np-tv-z][a-z]{2,}|uni(?![nmd])[a-z]+|use[a-z]*|european|one)(?![\w])", _article),
    # forms of verbs
    _rule(_BASES, rf"{_NOT_AFTER_WHAT}\b(?:can|could|will|would|should|must|might|did|didn['’]?t|don['’]?t|doesn['’]?t|does|can['’]t|couldn['’]t|won['’]t|"
          rf"wouldn['’]t|shouldn['’]t|cannot)(?: not| never| I| you| he| she| it| we| they)? (?P<it>{_words(_NO_BASES)}){_NO_TAIL}", _base),
    _rule(_BASES, rf"\b(?:Does|Did|Can|Could|Will|Would|Should|Must)(?:n['’]t)? (?:I|you|he|she|it|we|they) (?P<it>{_words(_NO_BASES)}){_NO_TAIL}", _base),
    _rule(_BASES, rf"\b(?:want|wants|wanted|need|needs|needed|going|decided|able|try|tried|like|have|has|had|hope|hoped) to (?P<it>{_words(_NO_BASES)}){_NO_TAIL}", _base),
    _rule("must should", r"\b(?P<it>(?:[Mm]ust|[Ss]hould) to) [a-z]+", _swap(" to", "")),
    _rule(_PARTICIPLE, rf"\b(?:have|has|had|having|['’]ve) (?:never |already |just |not |ever )?(?P<it>{_words([past for past in _PARTICIPLE if past not in ('was', 'were')])}){_NO_TAIL}",
          lambda match: (_PARTICIPLE[match["it"]],)),
    _rule(_LATER, rf"\b(?:have|has|had|having|['’]ve) (?:never |already |just |not |ever )?(?P<it>(?!rose (?:or|and|with|in the)\b)(?:{_words(list(_LATER))}))(?:{_PHRASE_END}|(?= (?:so|by|up|down|over|since|again|already|too|very|it|him|her|them|a|the|my|his)\b))",
          _later),
    _rule(_BASE, rf"\b(?:should|could|would|might|must)(?:n['’]t| not)? (?P<it>{_words(list(_BASE))}){_NO_TAIL}",
          lambda match: (*_base(match), "have " + _PARTICIPLE.get(match["it"], match["it"])) if match["it"] in _BASES else ()),
    _rule("dont doesnt don doesn", rf"\b(?P<it>(?:don|doesn)['’]?t (?:{_words([word for word in _BASE if word in _BASES])})){_NO_TAIL}",
          lambda match: ("didn't " + _BASES[match["it"].split(" ")[1]],)),
    _rule("yesterday last", rf"^(?:[^\w]*){_PAST_TIME},? (?:I|you|he|she|it|we|they|my \w+) (?P<it>{_words(_VERBS)}){_NO_TAIL}(?! (?:is|are|was|were|has|had|will|did)\b)",
          lambda match: (_past(match["it"]),)),
    _rule("yesterday last", rf"^(?:[^\w]*){_PAST_TIME},? (?:I|you|he|she|it|we|they|my \w+) (?P<it>(?:have|has) (?:{_words(list(_PAST_OF))})){_NO_TAIL}",
          lambda match: (_PAST_OF[match["it"].split(" ")[1]],)),
    _rule(_INGS, rf"{_SUBJECT}(?:[Hh]e|[Ss]he|[Ii]t) (?P<it>{_words(_INGS)}){_NO_TAIL}",
          lambda match: ("is " + match["it"], "was " + match["it"])),
    _rule(_INGS, rf"{_SUBJECT}(?:[Ww]e|[Tt]hey) (?P<it>{_words(_INGS)}){_NO_TAIL}",
          lambda match: ("are " + match["it"], "were " + match["it"])),
    # agreement
    _rule(_VERBS, rf"{_SUBJECT}(?:[Hh]e|[Ss]he|[Ii]t) (?:always |often |never |usually |sometimes |also )?(?P<it>{_words(_VERBS)}){_NO_TAIL}",
          _if_singular(lambda match: (_third(match["it"]), _past(match["it"])))),
    _rule(_VERBS, rf"{_SUBJECT}(?:[Mm]y|[Hh]is|[Hh]er) (?:{_words(_PERSONS)}) (?:always |often |never |usually )?(?P<it>{_words(_VERBS)}){_NO_TAIL}",
          _if_singular(lambda match: (_third(match["it"]), _past(match["it"])))),
    _rule("he she", rf"{_SUBJECT}(?<!than )[Mm]y (?P<it>(?:{_words(_PERSONS)}) (?:he|she)) (?:is|was|has|does|doesn['’]t|likes|works|lives|wants|loves|always)\b(?! (?:with|for|never|ever)\b)", _without_pronoun),
    _rule("don dont", rf"(?<!and )\b(?:[Hh]e|[Ss]he|[Ii]t|(?:[Mm]y|[Hh]is|[Hh]er) (?:{_words(_PERSONS)})) (?P<it>don['’]?t)", _fixed("doesn't")),
    _rule("do", r"(?:^|\b(?:[Ww]hat|[Ww]hen|[Ww]here|[Ww]hy|[Hh]ow|[Ww]ho) )(?P<it>[Dd]o) (?:he|she)\b(?![-,]| (?:and|or)\b)", _fixed("does")),
    _rule("was", rf"(?:{_WE}|{_SUBJECT}[Yy]ou) (?P<it>was)\b", _fixed("were")),
    _rule("has", rf"(?:{_WE}|{_SUBJECT}(?:I|[Yy]ou)) (?P<it>has)\b", _fixed("have")),
    _rule("is", rf"(?:{_WE}|{_SUBJECT}[Yy]ou) (?P<it>is)\b", _fixed("are")),
    _rule("are", rf"{_SUBJECT}(?:[Hh]e|[Ss]he|[Ii]t) (?P<it>are)\b", _if_singular(_fixed("is"))),
    _rule("everyone everybody everything someone somebody something nobody one nothing", rf"{_SUBJECT}(?:[Ee]very(?:one|body|thing)|[Ss]ome(?:one|body|thing)|[Nn]obody|[Nn]o one|[Nn]othing) (?P<it>are|were|have)\b", _table(_SINGULAR)),
    _rule("everyone everybody someone somebody nobody one", rf"{_SUBJECT}(?:[Ee]veryone|[Ee]verybody|[Ss]omeone|[Ss]omebody|[Nn]obody|[Nn]o one) (?P<it>{_words(_VERBS)}){_NO_TAIL}", lambda match: (_third(match["it"]), _past(match["it"]))),
    _rule("every each", rf"{_SUBJECT}(?:[Ee]very|[Ee]ach) [a-z]+ (?:(?:in|of|at|on) (?:my|the|our|this|his|her) [a-z]+ )?(?P<it>are|were|have)\b", _table(_SINGULAR)),
    _rule("this", rf"^This (?P<it>are|have){_NO_TAIL}", lambda match: ({"are": "is", "have": "has"}[match["it"]],)),
    _rule("there", rf"\b[Tt]here (?P<it>are) an? (?!(?:\w+ )?(?:{_AMOUNTS})\b|(?:estimated|additional|further|extra|average)\b|\w+ (?:\d|{_words(_MANY)}|hundred|thousand|million)\b)[a-z]", _fixed("is")),
    _rule(_THIRD, rf"(?:{_WE}|{_SUBJECT}(?:I|[Yy]ou)) (?P<it>{_words(list(_THIRD))}){_NO_TAIL}", lambda match: (_THIRD[match["it"]], _past(_THIRD[match["it"]]))),
    _rule("there", r"\b(?:[Tt]here) (?P<it>is|was) (?:many|several|some people|two|three|four|five|six|ten|lots of|a lot of people|too many|so many)(?![\w-])",
          lambda match: ({"is": "are", "was": "were"}[match["it"]],)),
    _rule("people children men women", rf"{_SUBJECT}(?:(?:[Mm]any|[Mm]ost|[Ss]ome|[Aa]ll|[Tt]he|[Yy]oung|[Oo]ld|[Oo]ther) )?(?:[Pp]eople|[Cc]hildren|[Mm]en|[Ww]omen) (?P<it>is|was|has)\b",
          lambda match: ({"is": "are", "was": "were", "has": "have"}[match["it"]],)),
    # what goes with a word
    _rule("enjoy enjoys enjoyed finish finished avoid mind", rf"(?<!my )(?<!your )(?<!his )(?<!her )\b(?:enjoys?|enjoyed|finish|finished|avoid|mind) (?P<it>to (?:{_words(_VERBS)})){_NO_TAIL}",
          lambda match: (_ing(match["it"].removeprefix("to ")),)),
    _rule("enjoy enjoys enjoyed forward avoid", rf"\b(?:enjoys?|enjoyed|look(?:s|ed|ing)? forward to|avoid) (?P<it>{_words(_NO_NOUN_VERBS)}){_NO_TAIL}",
          lambda match: (_ing(match["it"]),)),
    _rule("about", r"\b(?P<it>[Dd]iscuss(?:ed|es|ing)? about)\b", _swap(" about", "")),
    _rule("depend depends depended depending", r"\b[Dd]epend(?:s|ed|ing)? (?P<it>of|from)\b(?! course)", _fixed("on")),
    _rule("similar married listen listens listened listening", r"\b(?:similar|[Ll]isten(?:s|ed|ing)?|married(?= with)) (?P<it>with|at)\b(?= (?:an?|my|the|him|her|his|this|me|you) )", _fixed("to")),
    _rule("interested", r"\binterested (?P<it>on|for|about|at)\b", _fixed("in")),
    _rule("arrive arrives arrived arriving", r"\b[Aa]rriv(?:e|es|ed|ing) (?P<it>to) (?=(?:the|my|our|his|her|their|your|this|that|a|an|school|work|[A-Z][a-z]+)\b)", _fixed("at", "in")),
    _rule("explain explains explained", r"\b[Ee]xplain(?:ed|s)? (?P<it>(?:me|us|him)\b(?! to\b)|(?:her|them)(?= (?:the|how|why|what|that|everything)\b))", lambda match: ("to " + match["it"],)),
    _rule("more", rf"\b(?P<it>more (?:{_words(_COMPARATIVES)}))\b", lambda match: (match["it"].removeprefix("more "), "much " + match["it"][5:])),
    _rule("childrens womens mens", rf"(?<![\w'’-])(?P<it>[Cc]hildrens|[Ww]omens|[Mm]ens(?! (?:rea|sana)\b)){_NO_TAIL}(?! [A-Z])", lambda match: (match["it"][:-1], match["it"][:-1] + "'s")),
    _rule([noun + "s" for noun in _UNCOUNTABLE], rf"\b(?i:(?P<it>(?:{_words(_UNCOUNTABLE)})s)){_NO_TAIL}", lambda match: (match["it"][:-1],)),
    # number
    _rule(_NOUNS, rf"\b(?i:{_words(_MANY)}) (?P<it>{_words(_NOUNS)}){_PHRASE_END}", lambda match: (_plural(match["it"]),)),
    _rule("one", rf"\b[Oo]ne of (?:my|the|his|her|our|their|your|these|those) (?P<it>{_words([noun for noun in _NOUNS if noun not in ('family', 'party')])})(?:{_PHRASE_END}|(?= (?:has|had|will|can|could|would|lives|lived|works|worked|told|said|asked|came|comes|went|goes|likes|wants|wanted)\b))", lambda match: (_plural(match["it"]),)),
    _rule("this", rf"\b(?P<it>[Tt]his) (?:{_words([_plural(noun) for noun in _NOUNS])}){_PHRASE_END}", _fixed("these")),
    _rule(_AMOUNTED, rf"(?<![\w./])(?i:many|several|various|few|two|three|four|five|six|seven|eight|nine|ten|[2-9]|[1-9]\d) (?P<it>{_words(_AMOUNTED)}){_PHRASE_END}", lambda match: (_plural(match["it"]),)),
    _rule("one", rf"\b[Oo]ne of (?:the|my|our|their|your) (?:most |best |biggest |worst )(?:[a-z]+ )?(?P<it>{_words(_AMOUNTED)}){_PHRASE_END}", lambda match: (_plural(match["it"]),)),
    _rule("each every another", rf"\b(?:[Ee]ach|[Ee]very|[Aa]nother) (?P<it>{_words(list(_SINGLE))}){_NO_TAIL}", lambda match: (_SINGLE[match["it"]],)),
    _rule("others", rf"\b(?P<it>others) (?:{_words([_plural(noun) for noun in _AMOUNTED])}){_NO_TAIL}", _fixed("other")),
    _rule("much", rf"(?<![Hh]ow )\b(?P<it>[Mm]uch) (?:{_words([_plural(noun) for noun in _AMOUNTED])}){_NO_TAIL}", _fixed("many")),
    # comparison
    _rule("most", rf"\b(?P<it>most (?:{_words([_graded(word, 'est') for word in _SHORT])}|best|worst))\b", lambda match: (match["it"].removeprefix("most "),)),
    _rule("more", rf"\b(?P<it>more (?:{_words(_SHORT)})) than\b", lambda match: (_graded(match["it"].removeprefix("more "), "er"),)),
    _rule("most", rf"\b(?:the|my|his|her|its|our|their) (?P<it>most (?:{_words(_SHORT)})) (?!of\b)", lambda match: (_graded(match["it"].removeprefix("most "), "est"),)),
    _rule("ever", r"\bthe (?P<it>worse|better) [a-z]+ (?:that )?(?:I|we|you|he|she|they)(?: (?:have|has|had)|['’](?:ve|d|s)) ever\b", _table(_WORST)),
    _rule("neither", r"\b[Nn]either (?!of\b)(?P<determiner>(?:the|a|an|my|your|his|her|our|their|this|that) )?(?P<first>\w+) (?P<it>or) (?=(?P<second>\w+))", _nor),
    # more of what goes with a word
    _rule(_NO_NOUN_VERBS, rf"(?<!kind )(?<!sort )\b(?:of|without|by|about|before|after|for|from) (?P<it>{_words(_NO_NOUN_VERBS)}){_NO_TAIL}(?! (?:and|or)\b)", lambda match: (_ing(match["it"]),)),
    _rule("for", rf"\b(?P<it>for to) (?:{_words(_VERBS)})\b", _fixed("to")),
    _rule(_GERUNDS, rf"\b(?:can|could|should|must|might|['’]ll|will)(?: not|n['’]t)? (?P<it>{_words([_ing(verb) for verb in _NO_NOUN_VERBS])}){_NO_TAIL}", lambda match: (_GERUNDS[match["it"]],)),
    _rule("agree", r"\b(?P<it>(?:I am|I['’]m) agree)\b", _fixed("I agree")),
    _rule("most", r"\b(?P<it>[Mm]ost of) (?:people|students|children|women|men|countries)\b", _swap(" of", "")),
    _rule("almost", r"\b(?P<it>[Aa]lmost) (?:people|students|children|women|men|countries)\b", _fixed("most")),
    _rule("everyday", r"\b(?P<it>everyday)(?=$|[.,!?;]| (?:and|in|at|on|because|from|to|for|with|I|we|he|she|they|you|but)\b)", _fixed("every day")),
    _rule("internet", rf"\b(?P<it>in) (?:the )?[Ii]nternet{_PHRASE_END}", _fixed("on")),
    _rule([day + s for day in _DAYS for s in ("day", "days")], rf"\b(?P<it>[Ii]n) (?:(?:next|last|every) )?(?:{_words([day.capitalize() for day in _DAYS])})days?(?![\w'’])", _fixed("on")),
    _rule(_MONTHS, rf"(?<!\d )\b(?P<it>on|at) (?:{_words([month.capitalize() for month in _MONTHS])})\b(?!['’-]| \d| the\b| [A-Z]| [a-z]+(?:th|rst|nd|rd)\b)", _fixed("in")),
    _rule("hand hands", r"(?:^|(?<=[,.;:] ))(?P<it>(?:[Ii]n|[Bb]y|[Aa]t|[Ff]rom) the other hand(?=,)|[Oo]n (?:other hand|the other hands))\b", _fixed("on the other hand")),
    _rule("opinion", r"(?:^|(?<=[,.;:] )|(?<=\b(?:and|but) ))(?P<it>(?:[Oo]n|[Ff]rom|[Aa]t) my opinion)\b", _fixed("in my opinion")),
    _rule("view", r"(?:^|(?<=[,.;:] ))(?P<it>(?:[Ii]n|[Oo]n|[Aa]t|[Tt]o) my point of view)\b", _fixed("from my point of view")),
    _rule("despite", r"\b(?P<it>[Dd]espite of)\b", _swap(" of", "")),
    _rule("spite", r"\b(?P<it>[Ii]n spite) (?!of\b)", _fixed("in spite of")),
    _rule("least", r"\b(?P<it>last but not the least)\b", _fixed("last but not least")),
    _rule("home shopping swimming fishing camping skiing abroad downtown", rf"\b(?:go|goes|went|going|come|came|back|return|returned) (?P<it>to (?:home|shopping|swimming|fishing|camping|skiing|abroad|downtown)){_PHRASE_END}", _swap("to ", "")),
    _rule("afraid", r"\bafraid (?P<it>from)\b", _fixed("of")),
    _rule("according", r"\b[Aa]ccording (?P<it>my|the|his|her)\b", lambda match: ("to " + match["it"],)),
    _rule("thanks thank", rf"\b[Tt]hank(?:s| you) for (?P<it>{_words(_NO_NOUN_VERBS)}){_NO_TAIL}", lambda match: (_ing(match["it"]),)),
    _rule("listen listens listened listening", r"\b(?P<it>[Ll]isten(?:s|ed|ing)?) (?=(?:the |this |that |my )?(?:music|radio|songs?|podcasts?)\b)", lambda match: (match["it"] + " to",)),
    _rule("since", r"\b(?P<it>since) (?:(?:two|three|four|five|six|seven|eight|nine|ten|many|several|\d+) (?:days|weeks|months|years|hours))\b(?! ago)", _fixed("for")),
    _rule("suggest suggests suggested", rf"(?<!is )(?<!are )(?<!was )(?<!were )(?<!been )(?<!be )(?<!ly )(?<!you )\b[Ss]uggest(?:s|ed)? (?P<it>to (?:{_words(_VERBS)})){_NO_TAIL}", lambda match: (_ing(match["it"].removeprefix("to ")),)),
    _rule("interested good bad", rf"\b(?:interested|good|bad) (?:in|at) (?P<it>{_words(_VERBS)}){_NO_TAIL}", lambda match: (_ing(match["it"]),)),
    _rule("make makes made let lets", rf"\b(?:make|makes|made|let|lets) (?:me|him|her|us|them|you) (?P<it>to (?:{_words(_VERBS)})){_NO_TAIL}", lambda match: (match["it"].removeprefix("to "),)),
    _rule("interested", r"\b(?:interested) (?P<it>(?!(?:during|including|regarding|concerning|being)\b)[a-z]+ing|football|music|history|art|sports?)\b", lambda match: ("in " + match["it"],)),
    _rule("forward", r"\blook(?:s|ed|ing)? forward (?P<it>the|this|my|your|our)\b", lambda match: ("to " + match["it"],)),
    _rule("if", r"(?:^(?:[^\w]*)|[,;:.!?] |\b(?:and|but) |\bwould be (?:\w+ )?\w+ )[Ii]f (?:I|you|he|she|it|we|they) (?P<it>would have) (?:more|a|an|the|enough|any|some|no|time|money|lots|my)\b(?! (?:seat|look|word|moment)\b)", _fixed("had")),
    # word order of questions
    _rule("means", r"^(?:[^\w]*)[Ww]hat (?P<it>means (?:(?:this|that|the) [a-z]+|this|that))(?=\?)", lambda match: (f"does {match['it'].removeprefix('means ')} mean",)),
    _rule(_ASKING, r"^(?:[^\w]*)(?:[Ww]here|[Ww]hy|[Ww]hen|[Hh]ow(?: long| much| many)?|[Ww]hat(?: time)?) (?P<it>(?:I|you|he|she|it|we|they) "
          rf"(?:are|is|was|were|have|has|can|could|will|would|should|did|didn['’]t|don['’]t|do|does))\b(?=[^.,]*\?){_NO_INVERSION}",
          lambda match: (" ".join(reversed(match["it"].split(" "))),)),
    _rule(_ASKING, rf"^(?:[^\w]*)(?:[Ww]here|[Ww]hy|[Ww]hen|[Hh]ow|[Ww]hat(?: time)?) (?P<it>(?:I|you|we|they) (?:{_words(_VERBS)}))\b(?=[^.,]*\?){_NO_INVERSION}",
          lambda match: ("do " + match["it"], "did " + match["it"])),
    _rule(_ASKING, rf"^(?:[^\w]*)(?:[Ww]here|[Ww]hy|[Ww]hen|[Hh]ow|[Ww]hat(?: time)?) (?P<it>(?:he|she|it) (?:{_words([_third(verb) for verb in _VERBS])}))\b(?=[^.,]*\?){_NO_INVERSION}",
          lambda match: (f"does {match['it'].split(' ')[0]} {_THIRD[match['it'].split(' ')[1]]}",)),
    # articles that are missing
    _rule(_JOBS, rf"\b(?:is|was|am|['’]m|become|became|as) (?P<it>{_words(_JOBS)})(?! of\b){_PHRASE_END}", lambda match: (("an " if match["it"][0] in "aeiou" else "a ") + match["it"],)),
    _rule(_NOUNS, rf"\b(?:[Hh]ave|[Hh]as|[Hh]ad|bought|buy|need|needs|want|wants) (?P<it>{_words([noun for noun in _NOUNS if noun not in ('school', 'time', 'child', 'game', 'man', 'word', 'room', 'family', 'language')])}){_PHRASE_END}",
          lambda match: (("an " if match["it"][0] in "aeiou" else "a ") + match["it"],)),
]  # fmt: skip

_WORD = re.compile("[a-z]+")
_ALWAYS = {n for n, rule in enumerate(RULES) if not rule.words}
_RULES_OF: dict[str, list[int]] = {}  # numbers of the rules that a word can match
for _number, _each in enumerate(RULES):
    for _word in _each.words:
        _RULES_OF.setdefault(_word, []).append(_number)
