"""Misspelt words written as the list of words has them, before a target reads the sentence.

source    I recieved it becuase she go .
respelt   I received it because she go .             what the target verifies; both changes are the list's
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from edit_gec.editing.decode import Prediction
from edit_gec.editing.second_pass import apply_to_pieces
from edit_gec.modeling.tokenizer import Pieces, Tokens
from edit_gec.text.edits import Change
from edit_gec.tracing import Stage, span


class Respelt(NamedTuple):
    """The windows of a batch as the target reads them, and what was changed in those that are not as they were."""

    windows: list[Pieces]
    changes: dict[int, list[Change]]  # of the window at this place


def respell(windows: Sequence[Pieces], predictions: Sequence[Prediction], tokens: Tokens) -> Respelt:
    """The windows with the words that were chosen from the list, and with nothing else that was predicted."""
    read = list(windows)
    changes: dict[int, list[Change]] = {}
    with span(Stage.DRAFT):
        for n, (pieces, prediction) in enumerate(zip(windows, predictions, strict=True)):
            if prediction.respelt:
                changes[n] = list(prediction.changes(pieces, tokens, respelt=True))
                read[n] = apply_to_pieces(pieces, changes[n], tokens)
    return Respelt(read, changes)
