"""Sentence -> tags, lemmas and dependency tree: the small spaCy pipeline that ERRANT needs.

ERRANT asks for en_core_web_sm, which no package index carries. The pipeline in `syntax_en/` has only the parts that
ERRANT reads: tagger, part of speech, lemma, dependencies.

    Doc(words=["He", "go", "home"])  ->  PRP/PRON he nsubj, VBP/VERB go ROOT, RB/ADV home advmod
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from edit_gec.errors import InputError, MissingExtraError

SHIPPED = Path(__file__).parent / "syntax_en"


def load_pipeline(name: str | None = None) -> Any:
    """The spaCy pipeline `name` (installed package or folder), or the shipped one.

    Raises MissingExtraError where spaCy is missing, InputError where the pipeline is.
    """
    try:
        import errant  # noqa: F401  # scoring needs it later: report it now
        import spacy
    except ImportError:
        raise MissingExtraError("scoring needs spaCy and ERRANT: pip install '.[score]' in edit-gec's folder") from None
    if name is None and not SHIPPED.is_dir():
        raise InputError(f"no pipeline in {SHIPPED}: install edit-gec again")
    try:
        return spacy.load(name or SHIPPED, exclude=["ner"])
    except OSError:
        raise InputError(f"spaCy pipeline '{name}' is not installed: pip install it, or leave the option out") from None


def identify_pipeline(nlp: Any) -> str:
    """Name, version and hash of the weights: en_edit_gec_ewt-1.0+1a2b3c4d. Two equal strings parse alike."""
    digest = hashlib.sha256()
    for part in sorted(nlp.pipe_names):
        digest.update(nlp.get_pipe(part).to_bytes(exclude=["vocab"]))
    return f"{nlp.meta['lang']}_{nlp.meta['name']}-{nlp.meta['version']}+{digest.hexdigest()[:8]}"
