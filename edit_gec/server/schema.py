"""The messages of our own endpoints, and the OpenAPI description of LanguageTool's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from edit_gec.runtime.async_corrector import Stages
from edit_gec.server.languagetool import require_utf8
from edit_gec.text import render
from edit_gec.text.edits import Edit as TextEdit
from edit_gec.text.edits import Places
from edit_gec.text.formats import PLAIN, UNDERSTOOD


class CorrectionRequest(BaseModel):
    """A text to correct."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"text": "She go home becuase its late."}]}
    )

    text: str
    min_confidence: float | None = Field(
        None, ge=0, le=1, description="Leave out less confident edits; the default is the model's own."
    )
    strictness: Literal["sure", "low", "default", "high"] | None = Field(
        None, description="In place of min_confidence. From few edits to many; default is the server's own."
    )
    format: str = Field(
        "markdown",
        description=f"What the text is: {', '.join(UNDERSTOOD[:-1])}, plain, or the name of a programming language, "
        "of which comments and docstrings are corrected.",
    )
    markup: bool = Field(True, description="False means that the text is plain, whatever its format.")
    dialect: Literal["en-GB", "en-US"] | None = Field(
        None, description="Correct the spelling of the other side; by default each word stays on its side."
    )
    explain: bool = Field(False, description="Name each edit: its ERRANT type and a message.")
    suggest: bool = Field(
        False,
        description="Name alternatives of each edit, and hints: words that are surely wrong, where no replacement "
        "is sure enough.",
    )

    _require_utf8 = field_validator("text")(require_utf8)

    def known_format(self) -> str:
        """The format that the text is read as."""
        return self.format if self.markup else PLAIN


class Edit(BaseModel):
    """Replace text[start:end], which is `original`, by `replacement`. `end` is the place after the last one."""

    start: int = Field(description="In code points, as Python counts.")
    end: int
    start_utf8: int = Field(description="In bytes of UTF-8.")
    end_utf8: int
    start_utf16: int = Field(description="In UTF-16 code units, as JavaScript and Java count.")
    end_utf16: int
    line: int = Field(description="From 1.")
    column: int = Field(description="From 1, in code points.")
    original: str
    replacement: str
    confidence: float
    provenance: str
    kind: str | None = Field(description="What it changes: spelling, case, punctuation, ..., known without ERRANT.")
    type: str | None
    message: str | None
    reason: str | None = Field(description="One sentence that says why, where edits are explained.")
    alternatives: list[str] = Field([], description="Up to three other replacements, where they are asked for.")


class Timing(BaseModel):
    """Where the time of this request went. Model times are those of the batches that held its sentences."""

    total_ms: float
    prepare_ms: float = Field(description="Splitting into sentences and pieces.")
    queue_ms: float = Field(description="Waiting for the model and for other texts of the batches.")
    encoder_ms: float
    steps: int = Field(description="Steps of the insertion decoder.")
    steps_ms: float
    other_ms: float = Field(description="Tags, re-ordering, plans.")
    verify_ms: float = Field(description="Verification by the target, if there is one.")
    suggest_ms: float = Field(description="Finding alternatives and hints, where they are asked for.")
    explain_ms: float = Field(description="Naming the edits.")
    sentences: int
    cached: int = Field(description="Sentences that were corrected before.")

    @classmethod
    def from_stages(cls, stages: Stages, total_s: float) -> Timing:
        """The times of one request that took `total_s` seconds."""
        encoder_s = sum(batch.encoder_s for batch in stages.batches)
        steps_s = sum(batch.steps_s for batch in stages.batches)
        other_s = sum(batch.other_s for batch in stages.batches)
        verify_s = sum(batch.verify_s for batch in stages.batches)
        known_s = stages.prepare_s + stages.suggest_s + stages.explain_s + encoder_s + steps_s + other_s + verify_s
        times = {
            "total_ms": total_s,
            "prepare_ms": stages.prepare_s,
            "queue_ms": max(0.0, total_s - known_s),
            "encoder_ms": encoder_s,
            "steps_ms": steps_s,
            "other_ms": other_s,
            "verify_ms": verify_s,
            "suggest_ms": stages.suggest_s,
            "explain_ms": stages.explain_s,
        }
        return cls(
            **{name: round(seconds * 1000, 2) for name, seconds in times.items()},
            steps=sum(batch.steps for batch in stages.batches),
            sentences=stages.sentences,
            cached=stages.cached,
        )


class OtherLanguage(BaseModel):
    """A language that we do not correct."""

    code: str
    name: str


class CorrectionResponse(BaseModel):
    """A corrected text."""

    corrected: str
    edits: list[Edit]
    refused: list[Edit] = Field(
        description="Edits that were drafted and that the target, if there is one, did not make; not in `corrected`."
    )
    hints: list[Edit] = Field(
        [],
        description="Edits of errors that are shown on purpose and of titles that something refers to, and, where they "
        "are asked for, those that are not sure enough to be made; not in `corrected`.",
    )
    timing: Timing
    language: OtherLanguage | None = Field(
        None, description="What the text is if it is surely not English; nothing of it is corrected then."
    )


class Offer(BaseModel):
    """What the server has, and what a request may ask for."""

    model: str
    strictness: list[str] = Field(description="The names that a request may give.")
    dialect: str | None = Field(description="The server's own; it wins over that of a request.")
    words: bool = Field(description="Whether this client may list and change the user's words, see /v2/words.")
    characters: int = Field(description="The longest text of a request, markup included.")


class Language(BaseModel):
    """A language in LanguageTool's list."""

    name: str
    code: str
    longCode: str


class Detail(BaseModel):
    """What went wrong."""

    detail: str


def to_messages(text: str, found: Sequence[TextEdit], places: Places | None = None) -> list[Edit]:
    """Edits of the text with their offsets in all units; of a few edits by the `places` of their text."""
    return [Edit(**edit) for edit in render.json_edits(text, found, places)]


# --- the OpenAPI document ----------------------------------------------------------------------------------------

_ERROR_REASONS = {
    400: "The request is not valid.",
    408: "The body came too slowly.",
    413: "The text or the body is too long.",
    429: "Too many requests at a time from one address; see Retry-After.",
    503: "Too many sentences are waiting, or this took too long; see Retry-After.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Detail, "description": reason} for status, reason in _ERROR_REASONS.items()
}
STREAM: dict[int | str, dict[str, Any]] = ERRORS | {
    200: {"description": "One line for each sentence.", "content": {"application/x-ndjson": {}}}
}
_PLAIN = {"text/plain": {"schema": {"type": "string"}}}
CHECK: dict[int | str, dict[str, Any]] = {
    200: {"description": "LanguageTool's answer.", "content": {"application/json": {"schema": {"type": "object"}}}},
    **{status: {"description": reason, "content": _PLAIN} for status, reason in _ERROR_REASONS.items()},
}
WORDS: dict[int | str, dict[str, Any]] = {
    status: {"description": reason, "content": _PLAIN}
    for status, reason in {**_ERROR_REASONS, 403: "Only for programs on the user's machine."}.items()
}
_FIELDS = {
    "text": "The text; this or `data`.",
    "data": 'JSON: {"annotation": [{"text": ...}, {"markup": ..., "interpretAs": ...}]}.',
    "language": "`en`, a variant such as `en-GB`, or `auto`.",
    "preferredVariants": "Which English `auto` means.",
    "level": "`default`, or `picky` for less confident edits too.",
    "enabledRules": "Rule ids, separated by commas.",
    "disabledRules": "Rule ids, separated by commas.",
    "enabledCategories": "Category ids, separated by commas.",
    "disabledCategories": "Category ids, separated by commas.",
    "enabledOnly": "`true`: only what is enabled.",
    "mode": "`textLevelOnly` finds nothing.",
    "format": "Our own: what `text` is, as for /v1/correct; the default is `plain`.",
}
CHECK_GET: dict[str, Any] = {
    "parameters": [
        {"name": name, "in": "query", "description": text, "required": name == "language", "schema": {"type": "string"}}
        for name, text in _FIELDS.items()
    ]
}
CHECK_POST: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "required": ["language"],
                    "properties": {name: {"type": "string", "description": text} for name, text in _FIELDS.items()},
                }
            }
        },
    }
}
