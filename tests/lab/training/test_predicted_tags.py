"""Streams on predicted tags: the answers still spell the target, and doubted words get slots of their own."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec.editing.plan import realize
from edit_gec.lab.training.collate import EdiT5Example, SlotStream, collate, collate_streams, make_example, write_stream
from edit_gec.lab.training.predicted_tags import choose_doubted, rank, revise, revise_stream, rewrite, show_predicted
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import EOS, Tokens

SURE = {KEEP: [0.97, 0.01, 0.01, 0.01], REPLACE: [0.1, 0.2, 0.0, 0.7], INSERT: [0.1, 0.0, 0.9, 0.0]}
WORDS = st.lists(st.sampled_from("the a cat cats sit sits on mat mats , now".split()), min_size=1, max_size=9)


def pair(source: str, target: str, tokens: Tokens) -> EdiT5Example:
    made = make_example(source, target, tokens)
    assert made is not None
    return made


def written(stream: SlotStream) -> list[list[int]]:
    """What each slot of a stream has to write."""
    ends = [n for n, target in enumerate(stream.targets) if target == EOS]
    return [stream.targets[start + 1 : end] for start, end in pairwise([-1, *ends])]


@law
@given(WORDS, WORDS, st.integers(0, 2**20))
def test_the_plan_still_spells_the_target(tokens: Tokens, source: list[str], target: list[str], seed: int) -> None:
    made = pair(" ".join(source), " ".join(target), tokens)
    rng = random.Random(seed)
    if made.plan.moves:
        return
    words = [word for word in made.words if set(range(*word)) <= set(made.plan.order) and rng.random() < 0.5]
    gaps = {piece for piece in made.plan.order if rng.random() < 0.2}
    plan = rewrite(made.plan, words, gaps, made.ids)
    pieces = tokens.encode(" ".join(source))
    assert realize(plan, pieces, tokens) == realize(made.plan, pieces, tokens)
    assert not {piece for word in words for piece in range(*word)} & set(plan.order)


@law
@given(WORDS, WORDS, st.integers(0, 2**20))
def test_what_slots_write_fills_the_gaps(tokens: Tokens, source: list[str], target: list[str], seed: int) -> None:
    """Whatever the tags say, the slots in turn hold what the plan inserts; shown kept pieces are numbered in order."""
    made = pair(" ".join(source), " ".join(target), tokens)
    rng = random.Random(seed)
    probabilities = [[(x := rng.random()), (1 - x) * 0.5, (1 - x) * 0.2, (1 - x) * 0.3] for _ in made.ids]
    stream = revise_stream(made, probabilities, tokens, rng)
    shown = [r for r in stream.ranks if r >= 0]
    assert sorted(shown) == list(range(len(shown)))
    assert [tag in (KEEP, INSERT) for tag in stream.tags] == [r >= 0 for r in stream.ranks]
    gold = [ids for _, ids in made.plan.insertions]
    flat = [piece for slot in written(stream) for piece in slot]
    assert _contains(flat, [piece for ids in gold for piece in ids])
    assert len(stream.inputs) == len(stream.targets) == len(stream.anchors) == len(stream.slot_numbers)


def _contains(longer: list[int], shorter: list[int]) -> bool:
    """Whether `shorter` is a subsequence."""
    rest = iter(longer)
    return all(piece in rest for piece in shorter)


def test_a_deleted_word_has_an_empty_slot(tokens: Tokens) -> None:
    made = pair("the the cat", "the cat", tokens)
    stream = write_stream(made.plan, made.plan.tags(), made.plan.ranks(), tokens)
    assert written(stream) == [[]]
    assert DELETE in stream.tags


def test_a_word_that_the_tags_delete_is_written_again(tokens: Tokens) -> None:
    made = pair("the cat sits", "the cat sits", tokens)
    start, end = made.words[1]
    probabilities = [SURE[REPLACE] if start <= n < end else SURE[KEEP] for n in range(len(made.ids))]
    stream = revise_stream(made, probabilities, tokens, random.Random(1))
    assert written(stream) == [made.ids[start:end]]
    assert set(stream.tags[start:end]) == {REPLACE}


def test_a_gap_that_the_tags_open_stays_empty(tokens: Tokens) -> None:
    made = pair("the cat sits", "the cat sits", tokens)
    _, last = made.words[0]
    probabilities = [SURE[INSERT] if n == last - 1 else SURE[KEEP] for n in range(len(made.ids))]
    stream = revise_stream(made, probabilities, tokens, random.Random(1))
    assert written(stream) == [[]]
    assert stream.tags[last - 1] == INSERT and stream.anchors == [last - 1]


def test_what_nobody_doubts_has_few_slots(tokens: Tokens) -> None:
    made = pair("the cat sits on the mat", "the cat sits on the mat", tokens)
    rng = random.Random(1)
    streams = [revise_stream(made, [SURE[KEEP]] * len(made.ids), tokens, rng) for _ in range(500)]
    assert 5 <= sum(bool(stream.inputs) for stream in streams) <= 80, "one word of a hundred"


def test_missed_gaps_may_be_shown_as_kept(tokens: Tokens) -> None:
    made = pair("the cat sit", "the cats sit now", tokens)
    rng = random.Random(1)
    shown = set()
    for _ in range(50):
        tags = made.plan.tags()
        show_predicted(tags, made.plan, [SURE[KEEP]] * len(made.ids), rng)
        shown.add(tuple(tags))
        assert rank(tags)[-1] == sum(tag in (KEEP, INSERT) for tag in tags) - 1
    assert (KEEP,) * made.plan.length in shown and len(shown) > 1


def test_the_most_doubted_are_chosen() -> None:
    doubts = {"a": 0.1, "b": 0.2, "c": 0.4, "d": 0.3, "e": 0.9}
    assert sorted(choose_doubted(doubts)) == ["c", "d", "e"]


def test_a_batch_is_revised_by_its_tags(model: EdiT5, tokens: Tokens) -> None:
    """The sources stay; the streams are those of their sentences; moved sentences keep their own."""
    made = [pair("the cat sit", "the cats sit", tokens), pair("in the park we walk now", "we walk in the park", tokens)]
    assert made[1].plan.moves
    batch = collate(made, tokens)
    _, logits, *_ = model(batch)
    revised = revise(batch, made, logits.detach(), tokens, random.Random(1))
    assert all(a is b for a, b in zip(batch[:5], revised[:5], strict=True))
    own = write_stream(made[1].plan, made[1].plan.tags(), made[1].plan.ranks(), tokens)
    row = revised.rows.tolist().index(1)
    fields = collate_streams([own], batch.ids.shape[1])
    assert revised.stream[row][: len(own.inputs)].tolist() == fields["stream"][0].tolist()
    assert revised.shown_ranks[row].tolist() == fields["shown_ranks"][0].tolist()


def test_a_source_with_more_pieces_than_slots_is_no_example(tokens: Tokens) -> None:
    """Its plan may fit, with most of it deleted; but tags that keep everything would have no ranks."""
    long = "the " * tokens.slots
    assert make_example(long, "the", tokens) is None
    assert make_example("the " * 5, "the", tokens) is not None
