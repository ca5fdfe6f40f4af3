"""LanguageTool's protocol: requests of its clients -> what to check, and edits -> its answers.

    language=en-US&text=She go home.   ->  CheckRequest   ->  text, threshold, which rules
    edits of the text                  ->  build_answer   ->  {"matches": [{"offset": 4, "length": 2, ...}], ...}

Positions count UTF-16 code units of text and markup together. Every field that some client needs is always present;
`confidence` and `provenance` are our own. A match that only inserts or only deletes also covers the word next to it,
because editors can neither underline nothing nor show an empty button. Applying the first replacement of every match
gives the same text as Corrector.correct.
"""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.text.annotated import NOWHERE, Annotated, parse, plain, to_document_spans
from edit_gec.text.edits import Edit, offsets
from edit_gec.text.formats import PLAIN, check_format
from edit_gec.text.kinds import NAMES
from edit_gec.text.language_id import Language
from edit_gec.text.render import describe, rule_id

MOST_NESTED = 8  # sentences that begin behind the one around an edit and end before it, at most
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
RENAMED_FIELDS = {  # old name -> what to send instead
    "enabled": "enabledRules",
    "disabled": "disabledRules",
    "preferredvariants": "preferredVariants",
    "autodetect": "language=auto",
}
TEXT_LEVEL_ONLY = "textLevelOnly"  # asks for rules about the whole text only; we have none
AROUND = 250  # characters of its sentence, before and after an edit: answers would grow with the square of a sentence
CONTEXT_CHARACTERS = 40  # before and after a match
Span = tuple[int, int]  # start and end


class Category(NamedTuple):
    """A category of LanguageTool's rules."""

    id: str
    name: str
    issue_type: str


GRAMMAR = Category("GRAMMAR", "Grammar", "grammar")
CATEGORIES = {  # by ERRANT's category; all others are grammar
    "SPELL": Category("TYPOS", "Possible Typo", "misspelling"),
    "PUNCT": Category("PUNCTUATION", "Punctuation", "typographical"),
    "ORTH": Category("CASING", "Capitalization and Spacing", "typographical"),
}


@dataclass(frozen=True)
class CheckRequest:
    """The text to check, and the requested matches. Rules and categories are ids."""

    text: Annotated
    language: str
    format: str = PLAIN
    detects_language: bool = False
    is_picky: bool = False
    is_text_level_only: bool = False
    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    is_enabled_only: bool = False

    @property
    def utf16_length(self) -> int:
        """UTF-16 units of text and markup together."""
        return len(self.text.document.encode("utf-16-le")) // 2

    def to_fields(self, given: Mapping[str, str], *, is_english: bool) -> dict[str, str]:
        """The fields that were given, for another server. A text that we hold for English is called so."""
        if not (is_english and self.detects_language):
            return dict(given)
        kept = {name: value for name, value in given.items() if name != "preferredVariants"}
        return {**kept, "language": self.language}

    @property
    def is_english(self) -> bool:
        """Whether the client says that the text is English."""
        return self.language in VARIANTS

    @property
    def dialect(self) -> str | None:
        """The spelling, British or American, that the language implies; None if it implies neither."""
        if self.detects_language or self.language in ("en", "en-CA"):
            return None
        return "en-US" if self.language == "en-US" else "en-GB"

    def includes(self, edit: Edit) -> bool:
        """Whether the client asks for matches of this edit's rule. An enabled rule overrides a disabled category."""
        rule = rule_id(edit)
        category = _category_of(edit).id
        if self.is_enabled_only:
            return rule in self.enabled or category in self.enabled
        return rule in self.enabled or not {rule, category} & self.disabled


def parse_request(fields: Mapping[str, str], *, knows_others: bool = False) -> CheckRequest:
    """The request in these form fields; its language is English unless the server `knows_others`.

    Raises InputError; clients see `Error: ...` with status 400.
    """
    for old, new in RENAMED_FIELDS.items():
        if old in fields:
            raise InputError(f"'{old}' is of version 1 of the protocol; use '{new}'")
    language = fields.get("language", "")
    if not language:
        raise InputError("missing 'language' parameter, e.g. 'language=en-US' or 'language=auto'")
    preferred = _split_list(fields, "preferredVariants")
    if preferred and language != "auto":
        raise InputError("'preferredVariants' only goes with 'language=auto'")
    enabled = frozenset(_split_list(fields, "enabledRules") + _split_list(fields, "enabledCategories"))
    disabled = frozenset(_split_list(fields, "disabledRules") + _split_list(fields, "disabledCategories"))
    enabled_only = fields.get("enabledOnly", "").lower() in ("true", "yes")
    if enabled_only and disabled:
        raise InputError("'enabledOnly' does not go with disabled rules or categories")
    if enabled_only and not enabled:
        raise InputError("'enabledOnly' needs 'enabledRules' or 'enabledCategories'")
    detects_language = language == "auto"
    if detects_language:
        language = next((variant for variant in preferred if variant.startswith("en")), "en-US")
    return CheckRequest(
        text=_parse_text(fields),
        language=_find_variant(language, knows_others=knows_others),
        format=_parse_format(fields),
        detects_language=detects_language,
        is_picky=fields.get("level", "default").lower() == "picky",
        is_text_level_only=fields.get("mode") == TEXT_LEVEL_ONLY,
        enabled=enabled,
        disabled=disabled,
        is_enabled_only=enabled_only,
    )


def _parse_text(fields: Mapping[str, str]) -> Annotated:
    if ("text" in fields) == ("data" in fields):
        raise InputError("give either 'text' or 'data'")
    if "text" in fields:
        text = plain(fields["text"])
    else:
        try:
            text = parse(json.loads(fields["data"]))
        except InputError:
            raise
        except (ValueError, RecursionError):  # ValueError: not JSON, or a number of thousands of digits
            raise InputError("'data' is not valid JSON") from None
    return Annotated(require_utf8(text.document), require_utf8(text.view), text.offsets)


def _parse_format(fields: Mapping[str, str]) -> str:
    """The format of the text. With `data`, the client has marked the markup itself."""
    if "format" in fields and "data" in fields:
        raise InputError("'format' goes with 'text', not with 'data'")
    return check_format(fields.get("format", PLAIN))


def require_utf8(text: str) -> str:
    """The text itself. Raises InputError if it cannot be written in UTF-8."""
    if re.search(r"[\ud800-\udfff]", text):
        raise InputError("the text holds half of a surrogate pair")
    return text


def _split_list(fields: Mapping[str, str], name: str) -> list[str]:
    return [item.strip() for item in fields.get(name, "").split(",") if item.strip()]


def _find_variant(code: str, *, knows_others: bool) -> str:
    """The variant that a code names; case does not matter. An unknown variant of English is plain English."""
    given = code
    known = {variant.casefold(): variant for variant in VARIANTS}
    code = code.casefold().replace("_", "-")
    if code in known:
        return known[code]
    if re.fullmatch(r"en(-[a-z0-9]{1,20})+", code):
        return "en"
    if knows_others:
        return given
    raise InputError("only English is known: 'language' must be 'auto' or one of " + ", ".join(VARIANTS))


# --- answers -----------------------------------------------------------------------------------------------------


def _category_of(edit: Edit) -> Category:
    return CATEGORIES.get((edit.type or "").partition(":")[2], GRAMMAR)


def describe_software(version: str) -> dict[str, Any]:
    """Name and version of the server, with the fields that clients expect."""
    return {
        "name": "edit-gec",
        "version": version,
        "buildDate": "",
        "apiVersion": 1,
        "premium": False,
        "premiumHint": "",
        "status": "",
    }


def build_answer(
    request: CheckRequest, edits: Sequence[Edit], sentences: Sequence[Span], *, version: str, detected: Language
) -> dict[str, Any]:
    """The body of an answer. Edits and sentences are spans of the view.

    The language is the requested one. If the client asked for detection, it is `detected`, or the client's preferred
    variant of English.
    """
    code = request.language
    name = VARIANTS[request.language]
    if detected.code != "en":
        code, name = detected.code, detected.name
    return {
        "software": describe_software(version),
        "warnings": {"incompleteResults": False},
        "language": {
            "name": name,
            "code": code,
            "detectedLanguage": {
                "name": name,
                "code": code,
                "confidence": detected.confidence,
                "source": "function words",
            },
        },
        "matches": build_matches(request, edits, sentences),
        "sentenceRanges": _sentence_ranges(request.text, sentences),
    }


def build_matches(request: CheckRequest, edits: Sequence[Edit], sentences: Sequence[Span]) -> list[dict[str, Any]]:
    """The edits that the client asks for as LanguageTool's matches, in order."""
    text = request.text
    found = list(to_document_spans(text, edits, request.includes))
    places = _to_utf16(text.document, [place for each in found for place in (each.start, each.end)])
    matches: list[dict[str, Any]] = []
    ordered = sorted(sentences)
    for number, (start, end, replacement, edit, alternatives) in enumerate(found):
        first, last = _find_sentence(ordered, edit) or (0, len(text.view))
        offset, stop = places[2 * number : 2 * number + 2]
        matches.append(
            {
                "message": f"{describe(edit)}. {edit.reason}" if edit.reason else describe(edit),
                "shortMessage": _short_message(edit),
                "replacements": [
                    {"value": replacement, "confidence": round(edit.confidence, 4)},
                    *({"value": each} for each in alternatives),
                ],
                "offset": offset,
                "length": stop - offset,
                "context": _build_context(text.document, start, end),
                "sentence": text.view[max(first, edit.start - AROUND) : min(last, edit.end + AROUND)],
                "type": {"typeName": "UnknownWord" if _category_of(edit).id == "TYPOS" else "Other"},
                "rule": _build_rule(edit),
                "ignoreForIncompleteSentence": False,
                "contextForSureMatch": 0,
                "confidence": round(edit.confidence, 4),
                "provenance": edit.provenance,
            }
        )
    return matches


def _find_sentence(ordered: Sequence[Span], edit: Edit) -> Span | None:
    """The innermost of the sentences around an edit; a footnote stands inside another sentence."""
    last = bisect_right(ordered, (edit.start, sys.maxsize))
    return next((span for span in reversed(ordered[max(0, last - MOST_NESTED) : last]) if edit.end <= span[1]), None)


def _to_utf16(text: str, places: Sequence[int]) -> list[int]:
    return [place.utf16 for place in offsets(text, places)]


def _short_message(edit: Edit) -> str:
    return NAMES.get((edit.type or "").partition(":")[2], "wording").capitalize()


def _build_rule(edit: Edit) -> dict[str, Any]:
    category = _category_of(edit)
    return {
        "id": rule_id(edit),
        "description": _short_message(edit),
        "issueType": category.issue_type,
        "category": {"id": category.id, "name": category.name},
        "isPremium": False,
    }


def _build_context(text: str, start: int, end: int) -> dict[str, Any]:
    """Some text around text[start:end] on one line, and the place of the match in it."""
    first = max(0, start - CONTEXT_CHARACTERS)
    last = min(len(text), end + CONTEXT_CHARACTERS)
    before = ("..." if first else "") + text[first:start]
    after = text[end:last] + ("..." if last < len(text) else "")
    shown = re.sub(r"[\n\r\t]", " ", before + text[start:end] + after)
    offset, stop = _to_utf16(shown, [len(before), len(before) + end - start])
    return {"text": shown, "offset": offset, "length": stop - offset}


def _sentence_ranges(text: Annotated, sentences: Sequence[Span]) -> list[list[int]]:
    """Sentences as spans of the document, from the first to the last of their characters that it holds."""
    spans: list[tuple[int, int]] = []
    for start, end in sentences:
        held = [place for place in text.offsets[start:end] if place != NOWHERE]
        if held:
            spans.append((held[0], held[-1] + 1))
    places = sorted({place for span in spans for place in span})  # a footnote stands inside another sentence
    units = dict(zip(places, _to_utf16(text.document, places), strict=True))
    return [[units[start], units[end]] for start, end in spans]
