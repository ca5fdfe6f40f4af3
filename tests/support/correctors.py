"""Correctors that no folder holds: of a network in memory, or with a verifier of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.corrector import Corrector
from edit_gec.editing.document_edits import Projection
from edit_gec.editing.predictor import EdiT5Predictor, Predictor, Window
from edit_gec.editing.thresholds import Thresholds
from edit_gec.text.sentences import Sentence

if TYPE_CHECKING:
    from edit_gec.backends.network import Network
    from edit_gec.editing.lexicon import WordList
    from edit_gec.modeling.tokenizer import Pieces, Tokens
    from edit_gec.speculative.verifier import Verifier


def edit5_corrector(
    network: Network,
    tokens: Tokens,
    thresholds: Thresholds | None = None,
    *,
    folder: Path = Path("none"),
    spelling: WordList | None = None,
    **given: Any,
) -> Corrector:
    """A corrector with nothing but this network."""
    return corrector_of(EdiT5Predictor(network, tokens, thresholds or Thresholds(), spelling), folder, **given)


def corrector_of(
    predictor: Predictor, folder: Path = Path("none"), dictionary: frozenset[str] = frozenset(), **given: Any
) -> Corrector:
    """A corrector with this predictor."""
    projection = Projection(predictor.edit5.spelling, dictionary, None, predictor.edit5.threshold)
    return Corrector(predictor, projection, folder=folder, **given)


def verified_by(corrector: Corrector, verifier: Verifier) -> Corrector:
    """The corrector with the text of a target, for which its EdiT5 drafts."""
    from edit_gec.speculative.verified import Verified

    return corrector.with_predictor(Verified.drafted_by(corrector.edit5, verifier))


def verifier_of(corrector: Corrector) -> Verifier:
    """The verifier of a corrector that has one."""
    from edit_gec.speculative.verified import Verified

    assert isinstance(corrector.predictor, Verified)
    return corrector.predictor.verifier


def window_of(pieces: Pieces) -> Window:
    """Pieces of a sentence that is a text of its own."""
    text = pieces.source
    return Window(0, Sentence(text, range(len(text) + 1), ()), pieces)


def windows_of(corrector: Corrector, *texts: str) -> list[Window]:
    """The windows of sentences."""
    return corrector.prepare(texts, lines=True)
