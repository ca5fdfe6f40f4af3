r"""British and American spelling: variants of the same word, and which side writes which.

    >>> keep_spelling("the colour are", "the color is", None)
    'the colour is'
    >>> [change.replacement for change in find_other_side("We analyzed its behavior.", "en-GB", str.isalpha)]
    ['analysed', 'behaviour']

A correction never changes the side of a word, unless a dialect is asked for. The families are closed lists written for
this file, with the endings that each takes; only verbs in -ise are open, and there a word list must know the American
form. British -ize (Oxford) is right in en-GB. Pairs that mean different things on one side ("tyre" and "tire", "metre"
and "meter") are changed towards the other only, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from edit_gec.errors import InputError
from edit_gec.text.edits import Change, Edit, Provenance, trim
from edit_gec.text.words import WORD

DIALECTS = ("en-GB", "en-US")
CONFIDENCE = 0.95  # of a change that a rule makes
Known = Callable[[str], bool]  # whether a word in lower case is on a list

# Stem, and the endings that it takes on both sides: colour -> colours, coloured ...
_OUR = (
    "arb arm behavi cand clam clang col demean discol disfav dishon endeav enam ferv fav flav harb hon hum lab "
    "ard dol unfav unhon unsav vig misbehavi misdemean neighb od parl ranc rig rum "
    "sav savi splend succ tum val vap watercol"
)
_OUR_ENDINGS = " s ed ing er ers ful fully less able ably al ally ly y ite ites itism hood hoods ings"
_RE = "accout calib cent fib lit lust meag mit och sab scept sepulch somb spect theat amphitheat goit nit tit"
_METRES = "kilo centi milli nano"
_DOUBLED = (  # in British English before -ed, -ing and -er, though the last syllable is not stressed
    "apparel barrel bevel cancel channel chisel counsel cudgel devil dial dishevel drivel duel enamel equal fuel "
    "funnel gambol gravel grovel imperil initial jewel kennel label level libel marshal marvel model panel pedal "
    "pencil pummel quarrel refuel revel rival shovel shrivel signal snivel spiral stencil swivel symbol total towel "
    "travel trowel tunnel unlabel unravel yodel carol caramel relabel remodel backpedal empanel victual"
)
_DOUBLED_ENDINGS = "ed ing er ers ings ors or able ous ously"
_PARTS = (  # British and American letters within a word, whatever its endings
    ("anaesth", "anesth"), ("anaemi", "anemi"), ("diarrhoea", "diarrhea"),
    ("gynaecolog", "gynecolog"), ("haemoglobin", "hemoglobin"), ("haemorrh", "hemorrh"), ("haemophil", "hemophil"),
    ("haematolog", "hematolog"), ("leukaemi", "leukemi"), ("oesophag", "esophag"), ("oestrogen", "estrogen"),
    ("orthopaed", "orthoped"), ("paediatr", "pediatr"), ("paedophil", "pedophil"), 
     ("aluminium", "aluminum"),
    ("moustache", "mustache"), ("sceptic", "skeptic"), ("smoulder", "smolder"), ("pyjama", "pajama"),
    ("jewellery", "jewelry"), ("plough", "plow"), ("mould", "mold"), ("cosily", "cozily"), ("cosiness", "coziness"),
    ("artefact", "artifact"), ("greyish", "grayish"), ("caesium", "cesium"), ("skilful", "skillful"),
    ("wilful", "willful"), ("instalment", "installment"), ("enrolment", "enrollment"), ("fulfilment", "fulfillment"),
    ("woollen", "woolen"), ("mollusc", "mollusk"),
)  # fmt: skip
_PAIRS = (  # whole words
    "grey gray, greys grays, greyer grayer, greyest grayest, cosy cozy, cosier cozier, defence defense, "
    "defences defenses, defenceless defenseless, offence offense, offences offenses, pretence pretense, "
    "pretences pretenses, fulfil fulfill, fulfils fulfills, enrol enroll, enrols enrolls, distil distill, "
    "distils distills, instil instill, instils instills, mum mom, mums moms, centred centered, "
    "centring centering, centrepiece centerpiece, centrefold centerfold, epicentre epicenter, epicentres epicenters, "
    "sombrely somberly, meagrely meagerly, manoeuvre maneuver, manoeuvres maneuvers, manoeuvred maneuvered, "
    "manoeuvring maneuvering, manoeuvrable maneuverable, manoeuvrability maneuverability, "
    "fibreglass fiberglass, behaviourism behaviorism, behaviourist behaviorist, "
    "colourist colorist"
)
_TO_AMERICAN_ONLY = (  # the American word is one of British English as well, with another meaning or use
    "tyre tire, tyres tires, kerb curb, kerbs curbs, cheque check, cheques checks, metre meter, metres meters, "
    "programme program, programmes programs, storey story, storeys stories, draught draft, draughts drafts, "
    "practise practice, practises practices, practised practiced, practising practicing, licenced licensed, "
    "foetus fetus, foetuses fetuses, foetal fetal, sulphur sulfur, sulphate sulfate, sulphates sulfates, "
    "sulphide sulfide"
)
_NEVER = (  # both are written on one side or on both
    "licence license, licences licenses, practice practise, disc disk, discs disks, dialogue dialog, "
    "dialogues dialogs, catalogue catalog, catalogues catalogs, analogue analog, analogues analogs, "
    "judgement judgment, judgements judgments, acknowledgement acknowledgment, ageing aging, axe ax, "
    "doughnut donut, doughnuts donuts, towards toward, afterwards afterward, backwards backward, "
    "forwards forward, upwards upward, downwards downward, whilst while, amongst among, amidst amid, learnt learned, "
    "burnt burned, spelt spelled, dreamt dreamed, leapt leaped, leant leaned, spoilt spoiled, spilt spilled, "
    "smelt smelled, enquiry inquiry, enquiries inquiries, enquire inquire, enquired inquired, yoghurt yogurt, "
    "likeable likable, sizeable sizable, saleable salable, maths math, orientated oriented, speciality specialty, "
    "specialities specialties, omelette omelet, omelettes omelets, encyclopaedia encyclopedia, "
    "archaeology archeology, archaeological archeological, aesthetic esthetic, mediaeval medieval, "
    "adviser advisor, advisers advisors, focussed focused, focussing focusing, "
    "cancellation cancelation, glamour glamor, travelogue travelog"
)
_ISE = re.compile(r"(\w{3,})i([sz])(e|ed|er|ers|es|ing|ings|able|ation|ations|ational|ationally)")
_YSE = re.compile(r"(\w*(?:anal|paral|catal|dial|hydrol|electrol|breathal))y([sz])(e|ed|er|ers|es|ing)")
_NOT_ISE = frozenset(  # their -ise is no ending: nobody writes "advertize"; nor is the -ize of the last line one
    "surpr enterpr exerc expert comprom advert merchand compr superv exc exorc appr prom prec pra adv prem parad disgu "
    "conc sunr cru desp rev franch dev pract bru surm treat dem cha turquo val improv imprec moonr appra fundra marqu "
    "porpo chast mayonna disenfranch repr telev enfranch mort circumc inc pla reappra likew otherw clockw unw tort "
    "res downs caps overs outs unders sup ups".split()
)
_COLLECTIVE = re.compile(
    r"(?<!\bin )(?<!\bof )(?<!\bat )(?<!\bfrom )\b(?:the|our|my|your|his|her|their|this|that)\s+"
    r"(?:team|government|family|committee|staff|company|band|police|crew|council|board|public|media|audience|couple|"
    r"department|club|crowd|class|party|majority|minority|group|management|jury|press|union|firm|bank|squad|army|navy|"
    r"choir|orchestra|cabinet|parliament|opposition|ministry|community|university|side)\s+\Z",
    re.IGNORECASE,
)
_NUMBERS = {"are": "is", "were": "was", "have": "has", "do": "does", "aren't": "isn't", "weren't": "wasn't",
            "haven't": "hasn't", "don't": "doesn't"}  # fmt: skip


def check_dialect(dialect: str | None) -> None:
    """Raise InputError unless it is one of DIALECTS, or None."""
    if dialect not in (None, *DIALECTS):
        raise InputError(f"dialect {dialect!r}: expected {' or '.join(DIALECTS)}")


class _Spellings(NamedTuple):
    """Words in lower case -> how the other side spells them; and all variants -> the American one."""

    to_american: dict[str, str]
    to_british: dict[str, str]
    shared: dict[str, str]


def _families() -> Iterator[tuple[str, str]]:
    """British and American forms of the families with endings."""
    for stem in _OUR.split():
        for ending in _OUR_ENDINGS.split(" "):
            yield f"{stem}our{ending}", f"{stem}or{ending}"
    for stem in (*_RE.split(), *(f"{prefix}met" for prefix in _METRES.split())):
        for ending in ("", "s"):
            yield f"{stem}re{ending}", f"{stem}er{ending}"
    for stem in _DOUBLED.split():
        for ending in _DOUBLED_ENDINGS.split():
            yield f"{stem}l{ending}", f"{stem}{ending}"


def _pairs(listed: str) -> Iterator[tuple[str, str]]:
    for pair in listed.split(","):
        british, american = pair.split()
        yield british, american


@cache
def _spellings() -> _Spellings:
    both = dict([*_families(), *_pairs(_PAIRS)])
    one_way = dict(_pairs(_TO_AMERICAN_ONLY))
    never = dict(_pairs(_NEVER))
    to_british = {american: british for british, american in both.items()}
    shared = {word: american for british, american in (both | one_way | never).items() for word in (british, american)}
    return _Spellings(both | one_way, to_british, shared)


def keep_spelling(old: str, new: str, dialect: str | None, is_known: Known = lambda word: False) -> str:
    """What may replace `old` where `new` is proposed: the side of each word stays, or becomes that of the dialect.

    American forms in -ize are taken only where the word `is_known`.
    """
    before = WORD.findall(old)
    after = list(WORD.finditer(new))
    forms = [_shared_form(word) for word in before], [_shared_form(word[0]) for word in after]
    kept: dict[int, str] = {}
    for i, j, length in SequenceMatcher(None, *forms, autojunk=False).get_matching_blocks():
        for n in range(length):
            was = before[i + n]
            now = after[j + n][0]
            if was.lower() != now.lower() and (dialect is None or _own(was.lower(), dialect, is_known) != now.lower()):
                kept[j + n] = was
    parts = []
    done = 0
    for number, word in enumerate(after):
        chosen = kept.get(number, word[0])
        own = dialect and _own(chosen.lower(), dialect, is_known)
        parts += [new[done : word.start()], _with_case(own, chosen) if own else chosen]
        done = word.end()
    return "".join([*parts, new[done:]])


def find_other_side(text: str, dialect: str, is_known: Known) -> Iterator[Change]:
    """The words of a sentence that the dialect spells in another way. Names, capitals within the sentence, stay."""
    for word in WORD.finditer(text):
        if not (word[0].islower() or (word.start() == 0 and word[0].istitle())):
            continue
        if own := _own(word[0].lower(), dialect, is_known):
            yield Change(*word.span(), _with_case(own, word[0]), CONFIDENCE, Provenance.RULE)


def keep_side(text: str, edit: Edit, dialect: str | None, is_known: Known) -> Edit | None:
    """The edit of a text with the spellings that `keep_spelling` chooses; None where nothing is left to change.

    Nor is the verb after the name of a group made singular, unless the dialect is American.
    """
    before = text[max(0, edit.start - 40) : edit.start]
    if dialect != "en-US" and _is_number_of_group(before, edit.original, edit.replacement):
        return None
    kept = keep_spelling(edit.original, edit.replacement, dialect, is_known)
    if kept == edit.replacement:
        return edit
    start, end, new = trim(text, edit.start, edit.end, kept)
    if text[start:end] == new:
        return None
    return replace(edit, start=start, end=end, original=text[start:end], replacement=new)


def _is_number_of_group(before: str, old: str, new: str) -> bool:
    """Whether an edit only makes the verb after the name of a group singular: "the team are" is right in Britain."""
    return _NUMBERS.get(old.lower()) == new.lower() and _COLLECTIVE.search(before) is not None


def _with_case(word: str, like: str) -> str:
    return word.upper() if like.isupper() and len(like) > 1 else word.capitalize() if like[0].isupper() else word


def _shared_form(word: str) -> str:
    """One form for all variants of a word: the American one."""
    stem = re.split("['’]", word)[0]
    return _shared_stem(stem.lower()) + word[len(stem) :].lower().replace("’", "'")


def _shared_stem(word: str) -> str:
    if word in _spellings().shared:
        return _spellings().shared[word]
    for british, american in _PARTS:
        if british in word:
            return word.replace(british, american)
    return _swap_s(word, "z") or word


def _swap_s(word: str, letter: str) -> str | None:
    """A word in -ise or -yse with the other letter; None for other words."""
    found = _YSE.fullmatch(word)
    if found is None:
        found = _ISE.fullmatch(word)
        if found is None or found[1] in _NOT_ISE:
            return None
    return word[: found.start(2)] + letter + word[found.end(2) :]


def _own(word: str, dialect: str, is_known: Known) -> str | None:
    """How the dialect spells a word that the other side spells like this; None where it is right as it is."""
    stem = re.split("['’]", word)[0]
    own = _to_british(stem) if dialect == "en-GB" else _to_american(stem, is_known)
    return own and own + word[len(stem) :]


def _to_british(word: str) -> str | None:
    if found := _spellings().to_british.get(word):
        return found
    for british, american in _PARTS:
        if american in word and british not in word:
            return word.replace(american, british)
    return _swap_s(word, "s") if (match := _YSE.fullmatch(word)) and match[2] == "z" else None


def _to_american(word: str, is_known: Known) -> str | None:
    if found := _spellings().to_american.get(word):
        return found
    for british, american in _PARTS:
        if british in word:
            return word.replace(british, american)
    match = _YSE.fullmatch(word)
    if match:
        return _swap_s(word, "z") if match[2] == "s" and match[3] != "es" else None  # two "analyses"
    match = _ISE.fullmatch(word)
    other = _swap_s(word, "z") if match and match[2] == "s" else None
    return other if other is not None and is_known(other) else None
