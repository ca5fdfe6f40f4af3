"""Misspelt words are written before a target reads the sentence, and nothing else of the prediction is."""

from __future__ import annotations

from edit_gec.editing.alignment import align
from edit_gec.editing.decode import Prediction
from edit_gec.editing.plan import spans, unchanged
from edit_gec.editing.respelling import respell
from edit_gec.modeling.tokenizer import Pieces, Tokens

SOURCE = "I recieved it becuase she go home."
TARGET = "I received it because she goes home."


def predict(tokens: Tokens, words: set[str]) -> tuple[Pieces, Prediction]:
    """The correction of SOURCE, in which these words were chosen from the list."""
    pieces = tokens.encode(SOURCE)
    plan = align(pieces.ids, tokens.encode(TARGET).ids, tokens)
    changed = spans(plan, pieces, tokens)
    confidence = {first: 0.9 for _, _, _, (first, _) in changed}
    places = [(SOURCE.index(word), SOURCE.index(word) + len(word)) for word in words]
    chosen = {
        first for start, end, _, (first, _) in changed if any(start < stop and begin <= end for begin, stop in places)
    }
    return pieces, Prediction(plan, confidence, respelt=frozenset(chosen))


def test_only_words_of_the_list_are_written(shipped: Tokens) -> None:
    pieces, prediction = predict(shipped, {"recieved"})
    assert prediction.respelt and len(prediction.respelt) < len(prediction.confidence)
    found = respell([pieces], [prediction], shipped)
    assert found.windows[0].source == SOURCE.replace("recieved", "received")
    assert list(found.changes) == [0]
    (change,) = found.changes[0]
    assert SOURCE[: change.start] + change.replacement + SOURCE[change.end :] == found.windows[0].source


def test_a_window_without_such_words_is_as_it_was(shipped: Tokens) -> None:
    pieces, prediction = predict(shipped, set())
    other, respelt = predict(shipped, {"becuase"})
    found = respell([pieces, other], [prediction, respelt], shipped)
    assert found.windows[0] is pieces and list(found.changes) == [1]
    assert found.windows[1].source == SOURCE.replace("becuase", "because")


def test_nothing_is_predicted(shipped: Tokens) -> None:
    pieces = shipped.encode(SOURCE)
    found = respell([pieces], [Prediction(unchanged(len(pieces.ids) + 1))], shipped)
    assert found.windows == [pieces] and found.changes == {}
