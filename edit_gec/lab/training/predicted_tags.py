"""Streams for an insertion decoder that is trained on predicted tags, as it gets them at run time.

    revise(batch, examples, tag_logits, tokens, rng)    -> the batch with other slots and other states

A decoder that is trained on gold tags only trusts every tag (DeCoGLM, Li and Wang 2024, trains on predicted ones).
Here it also gets slots where nothing is wrong: at words and gaps that the tags doubt, and at some random words. The
expected output is the source itself, so the probability of the source becomes evidence about the edit. In half of the
sentences the states show the predicted tags.
"""

from __future__ import annotations

import random
from collections.abc import Container, Sequence
from itertools import pairwise
from typing import TypeVar

from torch import Tensor

from edit_gec.editing.plan import Plan
from edit_gec.lab.training.collate import EdiT5Example, SlotStream, collate_streams, write_stream
from edit_gec.modeling.edit5 import Batch
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import Tokens

T = TypeVar("T")

DOUBTED = 0.15  # probability of a change from which on a kept word, or the gap after a kept piece, gets a slot
MOST_DOUBTED = 2  # doubted words, and doubted gaps, of a sentence, besides those that the tags change
DRAWN = 0.01  # share of the kept words that get a slot without any doubt
PREDICTED = 0.5  # share of the sentences whose states show predicted tags
UNSEEN = 0.5  # share of the gaps which the tags miss that such states show as kept


def revise(
    batch: Batch, examples: Sequence[EdiT5Example], tag_logits: Tensor, tokens: Tokens, rng: random.Random
) -> Batch:
    """The batch with streams by predicted tags; `tag_logits` [B, S, 4]. Sentences that move keep their own streams."""
    probabilities = tag_logits.float().softmax(-1).tolist()
    streams = [
        revise_stream(example, of_pieces, tokens, rng)
        for example, of_pieces in zip(examples, probabilities, strict=True)
    ]
    fields = collate_streams(streams, batch.ids.shape[1])
    return batch._replace(**{name: tensor.to(batch.ids.device) for name, tensor in fields.items()})


def revise_stream(
    example: EdiT5Example, probabilities: Sequence[Sequence[float]], tokens: Tokens, rng: random.Random
) -> SlotStream:
    """The stream of one sentence; `probabilities` [S][4] are those of its tags."""
    plan = example.plan
    if plan.moves:
        return write_stream(plan, plan.tags(), plan.ranks(), tokens)
    gone = [piece[DELETE] + piece[REPLACE] for piece in probabilities]
    opened = [piece[INSERT] + piece[REPLACE] for piece in probabilities]
    plan = rewrite(plan, choose_words(example, gone, rng), choose_gaps(plan, opened), example.ids)
    tags = plan.tags()
    if rng.random() < PREDICTED:
        show_predicted(tags, plan, probabilities, rng)
    return write_stream(plan, tags, rank(tags), tokens)


def choose_words(example: EdiT5Example, gone: Sequence[float], rng: random.Random) -> list[tuple[int, int]]:
    """Kept words that get a slot: those that the tags delete, the most doubted ones, and some at random."""
    kept = set(example.plan.order)
    words = [(start, end) for start, end in example.words if all(piece in kept for piece in range(start, end))]
    doubted = choose_doubted({(start, end): sum(gone[start:end]) / (end - start) for start, end in words})
    return [*doubted, *(word for word in words if rng.random() < DRAWN)]


def choose_gaps(plan: Plan, opened: Sequence[float]) -> set[int]:
    """Kept pieces after which nothing belongs that get a slot all the same: where the tags insert, or may."""
    slots = {plan.order[k - 1] for k, _ in plan.insertions}
    between = [here for here, there in pairwise([*plan.order, plan.length]) if there == here + 1 and here not in slots]
    return set(choose_doubted({here: opened[here] for here in between}))


def choose_doubted(doubts: dict[T, float]) -> list[T]:
    """Of places with their probability of a change: all that change, and the most doubted others."""
    doubted = sorted((place for place in doubts if DOUBTED < doubts[place] <= 0.5), key=doubts.__getitem__)
    return [*(place for place in doubts if doubts[place] > 0.5), *doubted[-MOST_DOUBTED:]]


def rewrite(plan: Plan, words: Sequence[tuple[int, int]], gaps: Container[int], ids: Sequence[int]) -> Plan:
    """The monotone plan that deletes these kept words of the source `ids` [S], too, and inserts them again, and that
    inserts nothing after the kept pieces `gaps`.

    >>> rewrite(Plan(4, (0, 1, 2, 3), ((2, (9,)),)), [(2, 3)], {0}, [50, 51, 52, 53, 1])
    Plan(length=4, order=(0, 1, 3), insertions=((1, ()), (2, (9, 52))))
    """
    again = {piece for start, end in words for piece in range(start, end)}
    inserted = dict(plan.insertions)
    order: list[int] = []
    runs: list[list[int] | None] = []  # after each piece of the order; None: no slot
    for k, piece in enumerate(plan.order, start=1):
        if piece in again:
            runs[-1] = [*(runs[-1] or ()), ids[piece]]
        else:
            order.append(piece)
            runs.append([] if piece in gaps else None)
        if k in inserted:
            runs[-1] = [*(runs[-1] or ()), *inserted[k]]
    insertions = tuple((k, tuple(run)) for k, run in enumerate(runs, start=1) if run is not None)
    return Plan(plan.length, tuple(order), insertions)


def show_predicted(tags: list[int], plan: Plan, probabilities: Sequence[Sequence[float]], rng: random.Random) -> None:
    """Put what the tags say of each gap in place of the gold `tags` [S - 1], which change.

    A deleted piece is shown as DELETE or REPLACE, whichever is likelier. Half of the gaps that the tags miss are shown
    as kept, since they are not marked at run time; the decoder still learns what belongs there.
    """
    for kept, following in pairwise([*plan.order, plan.length]):
        deleted = range(kept + 1, following)
        if not deleted:
            seen = probabilities[kept][INSERT] + probabilities[kept][REPLACE]
            if tags[kept] == INSERT and seen < 0.5 and rng.random() < UNSEEN:
                tags[kept] = KEEP
            continue
        seen = sum(probabilities[n][DELETE] + probabilities[n][REPLACE] for n in deleted) / len(deleted)
        missed = seen < 0.5 and rng.random() < UNSEEN
        for n in deleted:
            likelier = DELETE if probabilities[n][DELETE] > probabilities[n][REPLACE] else REPLACE
            tags[n] = KEEP if missed else likelier


def rank(tags: Sequence[int]) -> list[int]:
    """Position of each piece in the output order, -1 for deleted ones.

    >>> rank([KEEP, REPLACE, INSERT])
    [0, -1, 1]
    """
    ranks = []
    kept = 0
    for tag in tags:
        stays = tag in (KEEP, INSERT)
        ranks.append(kept if stays else -1)
        kept += stays
    return ranks
