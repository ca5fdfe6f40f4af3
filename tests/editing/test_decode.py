"""Decisions: independent of the batch, the same cached and uncached, sure of what they say, and learnable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from support.strategies import brief, law, nasty

from edit_gec.backends.network import Network
from edit_gec.backends.torch_network import TorchMemory, TorchNetwork
from edit_gec.catalog import find_model
from edit_gec.editing import decode, insertion
from edit_gec.editing.confidence import NOT_ASKED, Evidence, EvidenceKind, Scale, log_odds
from edit_gec.editing.decode import Prediction, SentenceState, assemble, predict
from edit_gec.editing.insertion import InsertionDecoder, Slot, SlotQueue
from edit_gec.editing.plan import Plan, realize, spans, unchanged
from edit_gec.editing.pointer import Order, follow_points, walk
from edit_gec.editing.tags import choose_tags
from edit_gec.editing.thresholds import Thresholds, load_thresholds
from edit_gec.errors import ModelError
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import EOS, PAD, UNK, Pieces, Tokens

TEXTS = [
    "i was walking through the park when struck by bicycle.",
    "She walk to school.",
    "the the 🏠 café",
    "He has worked in this office for seven years, and he still enjoys it.",
    "Hi",
    "They was looking for small house with a garden",
    "x",
]
KINDS = [Thresholds(), Thresholds(sequential=True), Thresholds(keep_bias=0.5, neighbour_slope=0.5, min_confidence=0.2)]


def same(one: Prediction, other: Prediction) -> bool:
    return one.plan == other.plan and one.confidence == pytest.approx(other.confidence, abs=1e-4)


# --- laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_a_batch_is_its_sentences_alone(network: Network, tokens: Tokens, options: Thresholds) -> None:
    pieces = [tokens.encode(text) for text in TEXTS]
    alone = [predict(network, tokens, [p], options)[0] for p in pieces]
    assert sum(prediction.plan.changes for prediction in alone) >= 3
    for order in (range(len(pieces)), reversed(range(len(pieces)))):
        numbers = list(order)
        combine = predict(network, tokens, [pieces[n] for n in numbers], options)
        assert all(same(prediction, alone[n]) for n, prediction in zip(numbers, combine, strict=True))


@brief
@example(texts=["þ\x06Á[É\U0004cc08åu"], sequential=False, floor=0.0)
@given(texts=st.lists(nasty.filter(bool), min_size=1, max_size=4), sequential=st.booleans(), floor=st.floats(0, 0.3))
def test_what_a_prediction_is(
    network: Network, tokens: Tokens, texts: list[str], sequential: bool, floor: float
) -> None:
    pieces = [tokens.encode(text).window(0, network.config.max_pieces) for text in texts]
    options = Thresholds(min_confidence=floor, sequential=sequential)
    for source, prediction in zip(pieces, predict(network, tokens, pieces, options), strict=True):
        plan = prediction.plan
        assert plan.length == len(source) + 1 and plan.order[0] == 0
        assert len(set(plan.order)) == len(plan.order) and set(plan.order) <= set(range(plan.length))
        numbers = [k for k, _ in plan.insertions]
        assert numbers == sorted(set(numbers)) and set(numbers) <= set(range(1, len(plan.order) + 1))
        for _, ids in plan.insertions:
            assert 1 <= len(ids) < insertion.MAX_INSERTION and min(ids) > UNK and max(ids) < tokens.pieces
            assert "\ufffd" not in tokens.decode(ids), "bytes make whole characters"
        assert plan.changes == bool(prediction.confidence) and set(prediction.confidence) <= set(plan.order)
        assert all(max(floor, 1e-9) <= c <= 1 for c in prediction.confidence.values())
        for *_, (first, last) in spans(plan, source, tokens):
            assert floor <= prediction.between(first, last) <= 1
            assert any(first <= piece < last for piece in prediction.confidence), "every edit has a probability"
        longest = max((len(ids) + 1 for _, ids in plan.insertions), default=0)
        assert longest <= prediction.steps


@pytest.mark.parametrize(
    "options",
    [Thresholds(min_confidence=1.01), Thresholds(keep_bias=float("inf"))],
    ids=str,
)
def test_thresholds_that_change_nothing(network: Network, tokens: Tokens, options: Thresholds) -> None:
    pieces = [tokens.encode(text) for text in TEXTS]
    for source, prediction in zip(pieces, predict(network, tokens, pieces, options), strict=True):
        assert not prediction.plan.changes and prediction.confidence == {}
        assert realize(prediction.plan, source, tokens) == source.source


def test_a_higher_threshold_only_restores(network: Network, tokens: Tokens) -> None:
    """What is left of the edits is what they were; what is refused is the source again."""
    pieces = [tokens.encode(text) for text in TEXTS]
    every = [
        spans(p.plan, s, tokens) for s, p in zip(pieces, predict(network, tokens, pieces, Thresholds()), strict=True)
    ]
    counts = []
    for floor in (0.1, 0.3, 0.5, 0.7):
        counts.append(0)
        for source, found, prediction in zip(
            pieces, every, predict(network, tokens, pieces, Thresholds(min_confidence=floor)), strict=True
        ):
            left = spans(prediction.plan, source, tokens)
            counts[-1] += len(left)
            assert {span[:3] for span in left} <= {span[:3] for span in found}
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]


@pytest.mark.parametrize("slope", [0.0, 0.7])
def test_the_number_that_is_compared_is_the_one_that_is_shown(network: Network, tokens: Tokens, slope: float) -> None:
    """What a threshold leaves are the edits whose judged confidence reaches it, and nothing else decides."""
    pieces = [tokens.encode(text) for text in TEXTS]
    every = predict(network, tokens, pieces, Thresholds(neighbour_slope=slope))
    judged = [Thresholds(neighbour_slope=slope).judge(list(p.confidence.values())) for p in every]
    values = sorted(each for sentence in judged for each in sentence)
    least = values[len(values) // 2]
    options = Thresholds(neighbour_slope=slope, min_confidence=least)
    for free, sure, left in zip(every, judged, predict(network, tokens, pieces, options), strict=True):
        if not free.plan.moves:  # where pieces move it is all or nothing
            kept = {piece for piece, value in zip(free.confidence, sure, strict=True) if value >= least - 1e-9}
            assert set(left.confidence) == kept


CONFIDENCE = st.floats(1e-4, 1 - 1e-4)
SENTENCE = st.lists(st.tuples(CONFIDENCE, st.floats(0, 1)), min_size=1, max_size=5)


@given(SENTENCE, st.floats(0, 2), st.floats(0, 2), st.lists(CONFIDENCE, max_size=3))
def test_what_a_sentence_does_to_its_edits(
    edits: list[tuple[float, float]], doubt_slope: float, neighbour_slope: float, others: list[float]
) -> None:
    """Neighbours only support, doubt only takes away, and most from the edit that it concerns."""
    scale = Thresholds(doubt_slope=doubt_slope, neighbour_slope=neighbour_slope)
    own, doubts = [sure for sure, _ in edits], [doubt for _, doubt in edits]
    judged = scale.judge(own, doubts, others)
    alone = [scale.judge([sure], [doubt])[0] for sure, doubt in edits]
    assert all(a <= b + 1e-12 for a, b in zip(alone, judged, strict=True))
    calm = scale.judge(own, (), others)
    assert all(a <= b + 1e-12 for a, b in zip(judged, calm, strict=True))
    assert scale.judge([*own, 0.0], [*doubts, 0.0], others) == [*judged, 0.0], "the impossible neither gains nor gives"
    if neighbour_slope <= 1 and len(edits) > 1:
        first = scale.judge(own, [0.0, *doubts[1:]], others)
        lost = [log_odds(a) - log_odds(b) for a, b in zip(first, judged, strict=True)]
        assert max(lost[1:]) <= lost[0] + 1e-6
    assert scale.judge([0.7, 0.01], [0.0, 1.0])[0] == pytest.approx(0.7), (
        "a doubt falls on nothing that is sure beside it"
    )


@brief
@given(
    texts=st.lists(nasty.filter(bool), min_size=1, max_size=3),
    floor=st.floats(0, 0.9),
    neighbours=st.floats(0, 1.5),
    slopes=st.tuples(st.floats(0.2, 2), st.floats(0, 2), st.floats(0, 2)),
    offsets=st.lists(st.floats(-2, 2), min_size=5, max_size=5),
    sequential=st.booleans(),
)
def test_what_cannot_become_sure_is_not_written(
    model: EdiT5, tokens: Tokens, texts: list[str], floor: float, neighbours: float, slopes: tuple[float, float, float],
    offsets: list[float], sequential: bool,
) -> None:  # fmt: skip
    """The decoder writes less, and the result is the same as if it had written everything."""
    pieces = [tokens.encode(text).window(0, model.config.max_pieces) for text in [*TEXTS, *texts]]
    names = ("slope", "written_slope", "stays_slope", "offset", *(f"{kind}_offset" for kind in EvidenceKind))
    given = dict(zip((name for name in names if name != "replace_offset"), (*slopes, *offsets), strict=False))
    options = Thresholds(**given, neighbour_slope=neighbours, min_confidence=floor, sequential=sequential)
    written: list[int] = []
    found = []

    def count(*given: Any, **options: Any) -> int:
        written[-1] += len(given[1])
        return insertion.decode_insertions(*given, **options)

    for prune in (decode.prune_unlikely, lambda state, *_, **__: frozenset({*state.gaps, *state.order.links})):
        written.append(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(decode, "prune_unlikely", prune)
            patch.setattr(decode, "decode_insertions", count)
            found.append(predict(TorchNetwork(model), tokens, pieces, options))
    assert written[0] <= written[1] > 0
    assert all(same(*pair) for pair in zip(*found, strict=True))


def test_what_is_kept_may_have_to_stay_in_order(model: EdiT5, tokens: Tokens) -> None:
    """Without the pointer: the same tags, no piece moved."""
    pieces = [tokens.encode(text) for text in TEXTS]
    restless = deepcopy(model)
    torch.nn.init.zeros_(restless.point_distance)  # no habit of taking the next piece
    moved, kept = (predict(TorchNetwork(restless), tokens, pieces, Thresholds(reorder=reorder)) for reorder in (1, 0))
    assert any(list(p.plan.order) != sorted(p.plan.order) for p in moved), "the pointer has something to say"
    assert all(list(p.plan.order) == sorted(p.plan.order) for p in kept)
    assert any(p.plan.changes for p in kept)


def test_a_high_threshold_needs_no_decoder(model: EdiT5, tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [tokens.encode(text) for text in TEXTS]
    assert any(p.plan.insertions for p in predict(TorchNetwork(model), tokens, pieces, Thresholds()))
    monkeypatch.setattr(decode, "decode_insertions", None)
    assert not any(
        p.plan.changes for p in predict(TorchNetwork(model), tokens, pieces, Thresholds(min_confidence=1.01))
    )


# --- the insertion loop against one pass with the answer given ------------------------------------------------------


def teacher_forced(decoder: InsertionDecoder, slots: list[Slot]) -> torch.Tensor:
    """log-probabilities [T, V] of a row of slots, all at once and without a cache; T counts </s> of each slot."""
    written = [slot.pieces[: insertion.MAX_INSERTION - 1] for slot in slots]
    stream = [i for slot, ids in zip(slots, written, strict=True) for i in (decoder.tokens.slot(slot.index), *ids)]
    anchors = [slot.anchor for slot, ids in zip(slots, written, strict=True) for _ in range(len(ids) + 1)]
    memory = decoder.memory
    assert isinstance(memory, TorchMemory)
    model = memory.network.model
    embedded = model.embed_slots(torch.tensor([stream]), memory.states, torch.tensor([anchors]))
    cross = model.cross_bias(torch.tensor([anchors]), memory.mask)
    return model.output(model.decoder(embedded, memory.cross_keys, cross))[0].log_softmax(-1)


@pytest.mark.parametrize("sequential", [True, False])
@torch.inference_mode()
def test_insertions_are_the_argmax_step_by_step(model: EdiT5, tokens: Tokens, sequential: bool) -> None:
    pieces = tokens.encode(TEXTS[0])
    network = TorchNetwork(model)
    tags = [KEEP, REPLACE, REPLACE, INSERT, *[KEEP] * (len(pieces) - 4), INSERT]
    order = [i for i, tag in enumerate(tags) if tag in (KEEP, INSERT)]
    ranks = [*Plan(len(tags), tuple(order)).ranks(), len(order)]
    memory = network.remember(network.encode([tokens.wrap(pieces.ids)]), [0], [[*tags, KEEP]], [ranks])
    decoder = InsertionDecoder(memory, tokens)
    slots = insertion.open_slots(tags, order)
    assert [(slot.index, slot.after_piece, slot.anchor) for slot in slots] == [
        (1, 0, 1), (2, 3, 3), (len(order), len(tags) - 1, len(tags) - 1)
    ]  # fmt: skip
    steps = insertion.decode_insertions(decoder, slots, sequential=sequential)
    written = [len(slot.pieces) + slot.finished for slot in slots]
    assert steps == (sum(written) if sequential else max(written))
    rows = [slots] if sequential else [[slot] for slot in slots]
    forbidden = [PAD, UNK, *range(tokens.pieces, tokens.size)]
    for row in rows:
        expected = teacher_forced(decoder, row)
        expected[:, forbidden] = -1e9
        at = 0
        for slot in row:
            total = 0.0
            for wanted in [*slot.pieces, EOS][: insertion.MAX_INSERTION]:
                assert int(expected[at].argmax()) == wanted
                total += float(expected[at].max())
                at += 1
            assert total == pytest.approx(slot.log_probability, abs=1e-3)


@pytest.mark.parametrize(
    ("given", "finished"), [([5, EOS], True), ([5] * 32, False), ([EOS], True)], ids=["ends", "goes on", "empty"]
)
def test_slots_that_end_and_slots_that_do_not(tokens: Tokens, given: list[int], finished: bool) -> None:
    five = tokens.ids("I")[0]
    first, second = Slot(0, 1, 0, 0), Slot(0, 2, 1, 1)
    queue, current = SlotQueue([first, second]), tokens.slot(1)
    for choice in given:
        current = queue.advance(five if choice == 5 else choice, -0.5, tokens)
    assert first.finished == finished and queue.slot is second
    assert current == tokens.slot(2), "the next slot of the row is next"
    assert first.log_probability == -0.5 * len(given)


def test_half_a_character_is_never_inserted(tokens: Tokens) -> None:
    slot = Slot(0, 1, 0, 0)
    queue = SlotQueue([slot])
    for choice in (*tokens.ids("🏠")[1:3], EOS):
        queue.advance(choice, -0.1, tokens)
    assert not slot.finished


def test_no_slot_no_decoder(make_model: Callable[..., EdiT5], tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model()
    pieces = [tokens.encode(text) for text in TEXTS]
    calls: list[int] = []
    monkeypatch.setattr(model, "encode_plan", lambda *args: calls.append(1))
    with torch.no_grad():
        model.tag_head.weight.zero_()
        model.tag_head.bias.copy_(torch.tensor([9.0, 0, 0, 0]))  # all KEEP
    predictions = predict(TorchNetwork(model), tokens, pieces, Thresholds())
    assert not any(p.plan.changes or p.steps for p in predictions) and calls == []


def test_the_decoder_may_overrule_the_tags(make_model: Callable[..., EdiT5], tokens: Tokens) -> None:
    """Where it writes nothing a word is deleted; where it writes the word again nothing changes."""
    pieces = tokens.encode("We often walk")
    first, last = pieces.ids[:-2], list(pieces.ids[-2:])
    tags = [KEEP] * (len(first) + 1) + [DELETE] * len(last)
    chances = [[1.0, 0.0, 0.0, 0.0]] * (len(first) + 1) + [[0.1, 0.9, 0.0, 0.0]] * len(last)
    order = list(range(len(first) + 1))
    for written, changed in (([], True), (last, False)):
        (slot,) = insertion.open_slots(tags, order)
        slot.pieces, slot.finished, slot.unchanged, slot.stays = written, True, written == last, 0.4
        found = assemble(decided(tags, chances, Order(order, {}), [slot]), Thresholds(stays_slope=1.0))
        assert found.plan == (Plan(len(tags), tuple(order)) if changed else unchanged(len(tags)))
        assert bool(found.confidence) == changed


def test_doubts_of_the_decoder_count(make_model: Callable[..., EdiT5], tokens: Tokens) -> None:
    """score_sources says of each slot what score_candidates says of its source."""
    network = TorchNetwork(make_model(3))
    pieces = tokens.encode("We often walk in the park")
    tags = [KEEP, REPLACE, *[KEEP] * (len(pieces) - 2), INSERT]
    order = [0, *range(2, len(tags))]
    ranks = [*Plan(len(tags), tuple(order)).ranks(), len(order)]
    memory = network.remember(network.encode([tokens.wrap(pieces.ids)]), [0], [[*tags, KEEP]], [ranks])
    decoder = InsertionDecoder(memory, tokens)
    slots = insertion.open_slots(tags, order)
    state = SentenceState(pieces, list(tags), [], Order(order, {}))
    sources = [decode.deleted_ids(state, slot) for slot in slots]
    assert sources == [[pieces.ids[0]], []]
    slots[0].pieces, slots[1].pieces = sources[0], [pieces.ids[0]]
    insertion.score_sources(decoder, list(zip(slots, sources, strict=True)))
    expected = insertion.score_candidates(decoder, list(zip(slots, sources, strict=True)))
    assert [slot.stays for slot in slots] == pytest.approx(np.exp(expected).tolist())
    insertion.mark_unchanged(list(zip(slots, sources, strict=True)))
    assert [slot.unchanged for slot in slots] == [True, False]
    scale = Scale(stays_slope=1.0)
    sure = [scale.confidence(Evidence(0.7, 0.9, stays=stays)) for stays in (0.9, 0.5, 0.1, 0.001, 0.0)]
    assert sure == sorted(sure) and sure[1] == Scale().confidence(Evidence(0.7, 0.9)) and sure[3] == sure[4]


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_only_a_scale_that_weighs_what_stays_asks(
    make_model: Callable[..., EdiT5], tokens: Tokens, slope: float
) -> None:
    network = TorchNetwork(make_model(3))
    pieces = tokens.encode("We often walk")
    tags = [KEEP, REPLACE, *[KEEP] * (len(pieces) - 1)]
    order = Order([0, *range(2, len(tags))], {})
    state = decided(tags, [[0.2, 0.0, 0.8, 0.0]] * len(tags), order, insertion.open_slots(tags, order.pieces))
    state.pieces, state.likely = pieces, frozenset([0])
    ranks = [state.all_ranks]
    memory = network.remember(network.encode([tokens.wrap(pieces.ids)]), [0], [state.all_tags], ranks)
    decode.write_slots(InsertionDecoder(memory, tokens), [state], None, Thresholds(stays_slope=slope))
    assert state.slots
    assert (state.slots[0].stays == NOT_ASKED) == (slope == 0)


# --- tags and points -------------------------------------------------------------------------------------------------


@law
@given(st.integers(1, 12), st.data())
def test_the_walk_visits_each_kept_piece_once(length: int, data: st.DataObject) -> None:
    kept = [0, *sorted(data.draw(st.sets(st.integers(1, length))))]
    row = st.lists(st.floats(-1e9, 1e9) | st.just(float("-inf")), min_size=length + 2, max_size=length + 2)
    scores = data.draw(st.lists(row, min_size=length + 2, max_size=length + 2))
    order = walk(scores, kept)
    assert order[0] == 0 and sorted(order) == kept


@pytest.mark.parametrize(
    ("links", "order"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({0: 3, 4: 1, 2: 5}, [0, 3, 4, 1, 2]),  # the second half first
        ({0: 2, 1: 3, 2: 1}, [0, 2, 1, 3, 4]),
        ({1: 1}, [0, 1, 2, 3, 4]),  # a piece that points at itself: the walk moves on
    ],
)  # fmt: skip
def test_points_are_followed(links: dict[int, int], order: list[int]) -> None:
    size = 6
    scores = np.zeros((size, size), np.float32)
    for here in range(size - 1):
        scores[here, links.get(here, here + 1)] = 5.0
    ((found, sure),) = follow_points([scores], [[KEEP] * 5], 0.0)
    assert found == order
    assert all(0 < value <= 1 for value in sure.values())
    ends = dict(zip(order, [*order[1:], 5], strict=True))
    assert sorted(sure) == [piece for piece in range(5) if ends[piece] != piece + 1]
    (held,) = follow_points([scores], [[KEEP] * 5], 6.0)
    assert held == Order([0, 1, 2, 3, 4], {}), "the keep bias holds the order, too"


SURE, UNSURE = [0.05, 0.0, 0.0, 0.95], [0.4, 0.0, 0.0, 0.6]
STAY = [1.0, 0.0, 0.0, 0.0]


def decided(tags: Sequence[int], chances: list[list[float]], order: Order, slots: list[Slot]) -> SentenceState:
    """A sentence whose slots are written; what its pieces are does not matter."""
    nothing = Pieces("", (), (), (), prefixed=True)
    return SentenceState(nothing, list(tags), chances, order, slots=slots)


def slot(k: int, kept: int, *, finished: bool = True, log_probability: float = 0.0) -> Slot:
    return Slot(0, k, kept, kept + 1, [9], log_probability, finished)


@pytest.mark.parametrize(
    ("slots", "floor", "plan"),
    [
        ([slot(1, 0), slot(2, 2)], 0.0, Plan(5, (0, 2, 4), ((1, (9,)), (2, (9,))))),
        ([slot(1, 0), slot(2, 2)], 0.8, Plan(5, (0, 2, 3, 4), ((1, (9,)),))),
        ([slot(1, 0), slot(2, 2)], 0.99, unchanged(5)),
        ([slot(1, 0, finished=False), slot(2, 2)], 0.0, Plan(5, (0, 1, 2, 4), ((3, (9,)),))),
        ([slot(1, 0, log_probability=-3.0), slot(2, 2)], 0.5, Plan(5, (0, 1, 2, 4), ((3, (9,)),))),
    ],
)  # fmt: skip
def test_gaps_that_are_refused_are_restored(slots: list[Slot], floor: float, plan: Plan) -> None:
    tags = [KEEP, REPLACE, KEEP, REPLACE, KEEP]
    chances = [STAY, SURE, STAY, UNSURE, STAY]
    found = assemble(decided(tags, chances, Order([0, 2, 4], {}), slots), Thresholds(min_confidence=floor))
    assert found.plan == plan
    assert set(found.confidence) == {plan.order[k - 1] for k, _ in plan.insertions}


@pytest.mark.parametrize(
    ("last", "link", "floor", "moves"),
    [
        (slot(3, 2), 0.9, 0.0, True),
        (slot(3, 2), 0.9, 0.55, True),
        (slot(3, 2), 0.9, 0.7, False),  # the second gap is not that sure
        (slot(3, 2), 0.3, 0.55, False),  # the move is not
        (slot(3, 2, finished=False), 0.9, 0.0, False),  # nor may a piece be lost
    ],
)  # fmt: skip
def test_a_move_is_made_whole_or_not_at_all(last: Slot, link: float, floor: float, moves: bool) -> None:
    tags = [KEEP, REPLACE, KEEP, REPLACE, KEEP]
    chances = [STAY, SURE, STAY, UNSURE, STAY]
    links = {0: link, 4: link, 2: link}
    state = decided(tags, chances, Order([0, 4, 2], links), [slot(1, 0), last])
    found = assemble(state, Thresholds(min_confidence=floor))
    assert found.plan == (Plan(5, (0, 4, 2), ((1, (9,)), (3, (9,)))) if moves else unchanged(5))
    assert found.between(0, 5) == pytest.approx(min(link, 0.6) if moves else 1.0)


@pytest.mark.parametrize(
    ("text", "chances", "tags"),
    [
        ("school home", {1: SURE}, "KRK"),
        ("recieve it", {1: SURE, 2: UNSURE}, "KRRRK"),  # the pieces rec|ie|ve agree
        ("recieve it", {1: UNSURE}, "KKKKK"),
        ("rained it", {2: SURE}, "KKRK"),  # rain|ed: a stem may stay
    ],
)  # fmt: skip
def test_words_change_as_a_whole(shipped: Tokens, text: str, chances: dict[int, list[float]], tags: str) -> None:
    pieces = shipped.encode(text)
    surfaces = [pieces.text(n, n + 1) for n in range(len(pieces))]
    probabilities = [chances.get(n, STAY) for n in range(len(pieces) + 2)]
    found = choose_tags(probabilities, pieces, shipped)
    assert "".join("KDIR"[tag] for tag in found) == tags, surfaces


def test_a_kind_has_its_own_scale() -> None:
    """Alike by the model's word: where a word is replaced is as sure as ever, capitals are surer."""
    options = Thresholds(case_offset=1.0, delete_offset=-1.0)
    tags, chances = [KEEP, REPLACE, KEEP, REPLACE, KEEP, DELETE], [STAY, UNSURE, STAY, UNSURE, STAY, [0.4, 0.6, 0, 0]]
    slots = [slot(1, 0), slot(2, 2)]
    slots[0].kind = EvidenceKind.CASE
    found = assemble(decided(tags, chances, Order([0, 2, 4], {}), slots), options).confidence
    assert [round(found[piece], 3) for piece in (0, 2, 4)] == [0.803, 0.6, 0.356]


def test_slots_know_their_kind(tokens: Tokens) -> None:
    pieces = tokens.encode("i go home")
    words = [n for n, piece in enumerate(pieces.ids) if tokens.starts_word(piece)]
    tags = [REPLACE if n < words[1] else KEEP for n in range(len(pieces))]
    slots = [Slot(0, 1, 0, 0, tokens.ids("I")), Slot(0, 2, 3, 3, tokens.ids("to")), Slot(0, 1, 0, 0)]
    slots[2].kind = EvidenceKind.SPELLING
    decode.classify_slots(SentenceState(pieces, [KEEP, *tags], [], Order([], {}), slots=slots), tokens)
    assert [slot.kind for slot in slots] == [EvidenceKind.CASE, EvidenceKind.INSERT, EvidenceKind.SPELLING]


HALF = [0.7, 0.3, 0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "chances", "tags"),
    [
        ("the the", {1: HALF, 2: HALF}, "KKD"),
        ("the the", {1: SURE, 2: SURE}, "KKD"),
        ("the the", {2: HALF}, "KKK"),
        ("the then", {1: HALF, 2: HALF}, "KKK"),
        ("the then", {1: SURE, 2: SURE}, "KRR"),
    ],
)
def test_of_a_doubled_word_one_goes(shipped: Tokens, text: str, chances: dict[int, list[float]], tags: str) -> None:
    pieces = shipped.encode(text)
    probabilities = [list(chances.get(n, STAY)) for n in range(len(pieces) + 2)]
    assert "".join("KDIR"[tag] for tag in choose_tags(probabilities, pieces, shipped)) == tags
    assert all(abs(sum(p) - 1) < 1e-6 for p in probabilities)


# --- folders ---------------------------------------------------------------------------------------------------------


def test_thresholds_of_a_folder(model: EdiT5, tmp_path: Path) -> None:
    model.save(tmp_path)
    assert load_thresholds(tmp_path) == Thresholds()
    model.save(tmp_path, thresholds={"keep_bias": 0.5, "min_confidence": 0.25})
    stricter = load_thresholds(tmp_path, min_confidence=0.75)
    assert stricter == Thresholds(keep_bias=0.5, min_confidence=0.75)
    assert load_thresholds(tmp_path, min_confidence=0.0) == Thresholds(keep_bias=0.5)


def test_thresholds_of_the_shipped_model() -> None:
    shipped = load_thresholds(find_model("edit5-mini"))
    assert shipped.reads_twice and shipped.neighbour_slope > 0


@pytest.mark.parametrize(
    "thresholds", [{"keep_bias": "much"}, {"keep_bias": None}, ["keep_bias"], {"zeal": 1.0}, {"slope": float("nan")}]
)
def test_broken_thresholds(model: EdiT5, thresholds: Any, tmp_path: Path) -> None:
    model.save(tmp_path, thresholds=thresholds)
    with pytest.raises(ModelError, match=r"config.json: thresholds .*; expected numbers for .*keep_bias, "):
        load_thresholds(tmp_path)
