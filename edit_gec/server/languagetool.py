"""LanguageTool's messages: what its clients ask, what they want to hear.

    language=en-US&text=She go home.   ->  Question   ->  view, threshold, which rules
    edits of the view                  ->  answer     ->  {"matches": [{"offset": 4, "length": 2, ...}], ...}

All positions are UTF-16 code units, text plus markup. Every field that one of the clients cannot do without is always
there; `confidence` and `provenance` are ours. A match covers at least one word: where something is only inserted or
only deleted, the word beside it is taken along, because editors can neither underline nothing nor show an empty button.
Applying the first replacement of all matches gives what Corrector.correct gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from edit_gec.annotation.explain import NAMES
from edit_gec.errors import InputError
from edit_gec.text.annotated import NOWHERE, Annotated, parse, plain
from edit_gec.text.edits import Edit, offsets
from edit_gec.text.render import describe, rule_id

VARIANTS = {
    "en": "English",
    "en-US": "English (US)",
    "en-GB": "English (GB)",
    "en-AU": "English (Australia)",
    "en-CA": "English (Canada)",
    "en-NZ": "English (New Zealand)",
    "en-ZA": "English (South Africa)",
}
LANGUAGES = [{"name": name, "code": "en", "longCode": code} for code, name in VARIANTS.items()]
RENAMED = {
    "enabled": "enabledRules",
    "disabled": "disabledRules",
    "preferredvariants": "preferredVariants",
    "autodetect": "language=auto",
}
TEXT_LEVEL = "textLevelOnly"  # rules about the whole text, of which we have none
CONTEXT = 40  # characters around a match

# ERRANT category -> LanguageTool's category, its name, its issue type; all others are grammar.
CATEGORIES = {
    "SPELL": ("TYPOS", "Possible Typo", "misspelling"),
    "PUNCT": ("PUNCTUATION", "Punctuation", "typographical"),
    "ORTH": ("CASING", "Capitalization and Spacing", "typographical"),
}
GRAMMAR = ("GRAMMAR", "Grammar", "grammar")


@dataclass(frozen=True)
class Question:
    """What a client wants checked, and which answers it wants."""

    text: Annotated
    language: str
    automatic: bool = False
    picky: bool = False
    text_level: bool = False
    enabled: frozenset[str] = frozenset()  # rule and category ids
    disabled: frozenset[str] = frozenset()
    enabled_only: bool = False

    def wants(self, edit: Edit) -> bool:
        """Does this edit's rule pass the client's lists? Being enabled by name beats a disabled category."""
        rule, category = rule_id(edit), _category(edit)[0]
        if self.enabled_only:
            return rule in self.enabled or category in self.enabled
        return rule in self.enabled or not {rule, category} & self.disabled


def question(fields: Mapping[str, str]) -> Question:
    """A request's fields. Raises InputError, which LanguageTool's clients get as `Error: ...` with status 400."""
    for old, new in RENAMED.items():
        if old in fields:
            raise InputError(f"'{old}' is of version 1 of the protocol; use '{new}'")
    language = fields.get("language", "")
    if not language:
        raise InputError("missing 'language' parameter, e.g. 'language=en-US' or 'language=auto'")
    preferred = _list(fields, "preferredVariants")
    if preferred and language != "auto":
        raise InputError("'preferredVariants' only goes with 'language=auto'")
    enabled = frozenset(_list(fields, "enabledRules") + _list(fields, "enabledCategories"))
    disabled = frozenset(_list(fields, "disabledRules") + _list(fields, "disabledCategories"))
    enabled_only = fields.get("enabledOnly", "").lower() in ("true", "yes")
    if enabled_only and disabled:
        raise InputError("'enabledOnly' does not go with disabled rules or categories")
    if enabled_only and not enabled:
        raise InputError("'enabledOnly' needs 'enabledRules' or 'enabledCategories'")
    return Question(
        text=_text(fields),
        language=_variant(
            next((v for v in preferred if v.startswith("en")), "en-US") if language == "auto" else language
        ),
        automatic=language == "auto",
        picky=fields.get("level", "default").lower() == "picky",
        text_level=fields.get("mode") == TEXT_LEVEL,
        enabled=enabled,
        disabled=disabled,
        enabled_only=enabled_only,
    )


def _text(fields: Mapping[str, str]) -> Annotated:
    if ("text" in fields) == ("data" in fields):
        raise InputError("give either 'text' or 'data'")
    if "text" in fields:
        text = plain(fields["text"])
    else:
        try:
            text = parse(json.loads(fields["data"]))
        except (json.JSONDecodeError, RecursionError):
            raise InputError("'data' is not valid JSON") from None
    return Annotated(whole(text.document), whole(text.view), text.offsets)


def whole(text: str) -> str:
    """The text. Raises InputError for one that has no UTF-8."""
    if re.search(r"[\ud800-\udfff]", text):
        raise InputError("the text holds half of a surrogate pair")
    return text


def _list(fields: Mapping[str, str], name: str) -> list[str]:
    return [item.strip() for item in fields.get(name, "").split(",") if item.strip()]


def _variant(code: str) -> str:
    """The variant that a code names, in whatever case; an unknown variant of English is English."""
    known = {variant.casefold(): variant for variant in VARIANTS}
    code = code.casefold().replace("_", "-")
    if code in known:
        return known[code]
    if re.fullmatch(r"en(-[a-z0-9]{1,20})+", code):
        return "en"
    raise InputError("only English is known: 'language' must be 'auto' or one of " + ", ".join(VARIANTS))


# --- answers -----------------------------------------------------------------------------------------------------


def _category(edit: Edit) -> tuple[str, str, str]:
    return CATEGORIES.get((edit.type or "").partition(":")[2], GRAMMAR)


def software(version: str) -> dict[str, Any]:
    """Who answers."""
    return {
        "name": "edit-gec",
        "version": version,
        "buildDate": "",
        "apiVersion": 1,
        "premium": False,
        "premiumHint": "",
        "status": "",
    }


def answer(
    asked: Question, edits: Sequence[Edit], sentences: Sequence[tuple[int, int]], *, version: str, confidence: float
) -> dict[str, Any]:
    """The body of an answer. Edits and sentences are spans of the view; `confidence` is that the text is English."""
    code = asked.language
    return {
        "software": software(version),
        "warnings": {"incompleteResults": False},
        "language": {
            "name": VARIANTS[code],
            "code": code,
            "detectedLanguage": {
                "name": VARIANTS[code],
                "code": code,
                "confidence": confidence,
                "source": "function words",
            },
        },
        "matches": matches(asked, edits, sentences),
        "sentenceRanges": _ranges(asked.text, sentences),
    }


def matches(asked: Question, edits: Sequence[Edit], sentences: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """The edits that the client wants, as LanguageTool's matches, in order."""
    view, found = asked.text.view, list(placed(asked.text, edits, asked.wants))
    places = _utf16(asked.text.document, [place for start, end, *_ in found for place in (start, end)])
    out, at = [], 0
    for number, (start, end, shown, edit) in enumerate(found):
        while at + 1 < len(sentences) and sentences[at][1] < edit.end:
            at += 1
        first, last = sentences[at] if sentences else (0, len(view))
        begin, stop = places[2 * number : 2 * number + 2]
        out.append(
            {
                "message": describe(edit),
                "shortMessage": _name(edit),
                "replacements": [{"value": shown.replacement, "confidence": round(edit.confidence, 4)}],
                "offset": begin,
                "length": stop - begin,
                "context": _context(asked.text.document, start, end),
                "sentence": view[first:last],
                "type": {"typeName": "UnknownWord" if _category(edit)[0] == "TYPOS" else "Other"},
                "rule": _rule(edit),
                "ignoreForIncompleteSentence": False,
                "contextForSureMatch": 0,
                "confidence": round(edit.confidence, 4),
                "provenance": edit.provenance,
            }
        )
    return out


def placed(
    text: Annotated, edits: Sequence[Edit], wanted: Callable[[Edit], bool]
) -> Iterator[tuple[int, int, Edit, Edit]]:
    """(start, end, shown, edit) of the wanted edits that have a place in the document, in order.

    [start, end) is of the document; `shown` is the edit over at least one word where that can be.
    """
    low = 0
    for number, edit in enumerate(edits):
        if not wanted(edit):
            continue
        high = edits[number + 1].start if number + 1 < len(edits) else len(text.view)
        for shown in (widened(text.view, edit, low, high), edit):
            if span := text.project(shown.start, shown.end, shown.replacement):
                yield *span, shown, edit
                low = shown.end
                break


def _utf16(text: str, places: Sequence[int]) -> list[int]:
    return [place.utf16 for place in offsets(text, places)]


def _name(edit: Edit) -> str:
    return NAMES.get((edit.type or "").partition(":")[2], "wording").capitalize()


def _rule(edit: Edit) -> dict[str, Any]:
    category, name, issue = _category(edit)
    return {
        "id": rule_id(edit),
        "description": _name(edit),
        "issueType": issue,
        "category": {"id": category, "name": name},
        "isPremium": False,
    }


def _context(text: str, start: int, end: int) -> dict[str, Any]:
    """Some text around text[start:end], on one line, and where in it that stands."""
    first, last = max(0, start - CONTEXT), min(len(text), end + CONTEXT)
    before = ("..." if first else "") + text[first:start]
    after = text[end:last] + ("..." if last < len(text) else "")
    shown = re.sub(r"[\n\r\t]", " ", before + text[start:end] + after)
    begin, stop = _utf16(shown, [len(before), len(before) + end - start])
    return {"text": shown, "offset": begin, "length": stop - begin}


def _ranges(text: Annotated, sentences: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Sentences as spans of the document, from the first character of theirs that is in it to the last."""
    places: list[int] = []
    for start, end in sentences:
        if real := [place for place in text.offsets[start:end] if place != NOWHERE]:
            places += [real[0], real[-1] + 1]
    units = _utf16(text.document, places)
    return [units[at : at + 2] for at in range(0, len(units), 2)]


_WORD_BEFORE, _WORD_AFTER = re.compile(r"[\w'’-]{1,60}\Z|\S\Z"), re.compile(r"[\w'’-]{1,60}|\S")


def widened(view: str, edit: Edit, low: int, high: int) -> Edit:
    """The same change over at least one word, where one can be had between `low` and `high`."""
    start, end = edit.start, edit.end
    if edit.original.strip() and edit.replacement.strip():
        return edit
    before = _WORD_BEFORE.search(view, max(low, start - 60), start)
    after = _WORD_AFTER.match(view, end, min(high, end + 60))
    if before:
        start = before.start()
    elif after:
        end = after.end()
    return replace(
        edit,
        start=start,
        end=end,
        original=view[start:end],
        replacement=view[start : edit.start] + edit.replacement + view[edit.end : end],
    )
