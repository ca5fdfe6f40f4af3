"""Logits -> plan: tags with a keep bias, the pointer walk, the insertion loop, and how sure each edit is.

    predict(model, tokens, sentences, options) -> one Prediction per sentence

Decisions, in order: tags are greedy after KEEP gets a bonus, words go as a whole (tags.py); the pointer chain is
followed only where it leaves the source order, which gets the same bonus; the decoder runs only if a slot is open, all
slots of all sentences at once (`sequential` fills one after the other instead, as in the paper: the reference). A gap
whose edit is less sure than `min_confidence` is left as it was, and so is a sentence whose other edits are together
less sure than `sentence_gate`: where somebody surely made one error, less sure ones are errors too more often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from edit_gec.editing.confidence import (
    DELETED,
    FIRMEST,
    SPELLING,
    UNKNOWN,
    Evidence,
    Scale,
    kind_of,
    possible_kinds,
    together,
)
from edit_gec.editing.insertion import Slot, fill, open_slots, weigh_source
from edit_gec.editing.lexicon import Spelling
from edit_gec.editing.plan import Plan, spans, unchanged
from edit_gec.editing.spelling import choose, doubt, respell
from edit_gec.editing.tags import CERTAIN, choose_tags, tag_probabilities
from edit_gec.errors import InputError
from edit_gec.modeling.checkpoint import read_config
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.padding import pad, wrap
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import PAD, Pieces, Tokens
from edit_gec.text.edits import Change
from edit_gec.tracing import Stage, span


@dataclass(frozen=True)
class Options(Scale):
    """Thresholds of the decisions, and the scale of confidence; the model folder carries tuned values."""

    keep_bias: float = 0.0  # added to the logit of KEEP, and to the score of the next kept piece
    min_confidence: float = 0.0  # of a single edit
    sentence_gate: float = 0.0  # of what is made in a sentence together, or it is left alone
    reread: float = 0.0  # share of min_confidence that is enough when a changed sentence is read again; 0: it is not
    confirm: float = 0.0  # how much it counts against a sentence when what was written is doubted there
    bold: float = 0.0  # what is at least this sure is a further hypothesis for a target to verify; 0: there is none
    reorder: float = 1.0  # 0: what is kept stays in its order (a draft seldom needs more)
    sequential: bool = False


def read_thresholds(folder: Path, name: str = "thresholds") -> dict[str, Any]:
    """What a model folder carries in its config.json: an EdiT5 its own thresholds, a T5 those to draft with for it.

    Raises InputError for entries that are none.
    """
    thresholds = read_config(folder).get(name, {})
    names = {f.name for f in fields(Options) if f.name != "sequential"}
    good = isinstance(thresholds, dict) and all(
        name in names and isinstance(value, int | float) for name, value in thresholds.items()
    )
    if not good:
        wanted = ", ".join(sorted(names))
        raise InputError(f"{folder / 'config.json'}: {name} {thresholds!r}; numbers for {wanted} are wanted")
    return dict(thresholds)


def read_options(folder: Path, **given: Any) -> Options:
    """The thresholds of a model folder, with those given in their place.

    A `min_confidence` that is given moves the sentence gate along: 0 lets all edits through, 1 none.
    Raises InputError for entries that are none.
    """
    own = Options(**read_thresholds(folder))
    if own.slope <= 0 or min(own.written_slope, own.stays_slope) < 0:
        raise InputError(
            f"{folder / 'config.json'}: slope {own.slope}, written_slope {own.written_slope}, "
            f"stays_slope {own.stays_slope}; expected one above 0 and two not below 0"
        )
    return adjusted(own, given)


def adjusted(options: Options, given: Mapping[str, Any]) -> Options:
    """The options with those given in their place; `read_options` says how the sentence gate moves."""
    if "min_confidence" in given and "sentence_gate" not in given:
        gate = moved(options.sentence_gate, options.min_confidence, given["min_confidence"])
        given = {**given, "sentence_gate": gate}
    return replace(options, **given)


def moved(gate: float, own: float, given: float) -> float:
    """The gate on the scale from 0 over `own` to 1 that is stretched so that `own` comes to lie on `given`."""
    if given <= own:
        return gate * given / own if own else gate
    return given + max(0.0, gate - own) * (1 - given) / (1 - own)


@dataclass
class Prediction:
    """A plan and, for each kept piece behind which something changes, the probability of that change."""

    plan: Plan
    confidence: dict[int, float] = field(default_factory=dict)
    steps: int = 0  # of the insertion decoder, as far as this sentence needed them
    doubts: Sequence[float] = ()  # probability of each piece, the sentinel first, that it does not simply stay
    respelt: frozenset[int] = frozenset()  # kept pieces behind which a word was chosen from the list
    bolder: Plan | None = None  # with less sure changes too, where there are such (Options.bold)

    @property
    def doubt(self) -> float:
        """The largest of the sentence."""
        return max(self.doubts, default=0.0)

    def between(self, first: int, last: int) -> float:
        """How sure the edit between two kept pieces is: as sure as its least sure part."""
        return min((c for piece, c in self.confidence.items() if first <= piece < last), default=1.0)

    def changes(self, pieces: Pieces, tokens: Tokens, *, respelt: bool = False) -> Iterator[Change]:
        """What the plan changes in its sentence; `respelt`: only where it does nothing but take words from the list."""
        for start, end, text, (first, last) in spans(self.plan, pieces, tokens) if self.plan.changes else ():
            if not respelt or {piece for piece in self.confidence if first <= piece < last} <= self.respelt:
                yield start, end, text, self.between(first, last)


@torch.inference_mode()
def predict(
    model: EdiT5,
    tokens: Tokens,
    sentences: Sequence[Pieces],
    options: Options,
    encoded: Tensor | None = None,
    spelling: Spelling | None = None,
) -> list[Prediction]:
    """Plans for one batch of sentences, none longer than model.config.max_pieces.

    `encoded` [B, S, d] is what the encoder made of them, where somebody else has run it already. With `spelling`,
    doubtful words that it does not know are replaced by words that it knows, and other languages are left alone.
    """
    device = model.embedding.weight.device
    with span(Stage.TOKENIZE):
        ids = pad([wrap(s.ids, tokens) for s in sentences], PAD).to(device)  # [B, S]
        lengths = torch.tensor([len(s) + 2 for s in sentences], device=device)
        mask = torch.arange(ids.shape[1], device=device)[None, :] < lengths[:, None]
    with span(Stage.ENCODE):
        if encoded is None:
            encoded, bias = model.encode(ids, mask)
        else:
            bias = model.encoder.bias(mask)
    with span(Stage.TAG):
        probabilities = tag_probabilities(model.tag(encoded, bias), options.keep_bias)  # [B, S, 4] on the CPU
        tags = [choose_tags(p, s, tokens) for p, s in zip(probabilities, sentences, strict=True)]
        english = [spelling is None or not spelling.foreign(s) for s in sentences]
        for n, sentence in enumerate(sentences):
            if spelling and english[n]:
                doubt(spelling, tags[n], probabilities[n], sentence)
        tag_ids = pad([[*t, KEEP] for t in tags], KEEP).to(device)
    with span(Stage.POINT):
        orders: list[list[int]] = [kept_in_order(t) for t in tags]
        links: list[dict[int, float]] = [{} for _ in tags]
        if options.reorder:
            orders, links = follow_points(model, encoded, tag_ids, mask, tags, options.keep_bias)
    least = min(options.bold, options.min_confidence)
    bold = replace(options, min_confidence=least, sentence_gate=least) if options.bold else options
    hopes = [hope(*each, bold, empty=model.config.empty_slots) for each in zip(tags, probabilities, links, strict=True)]
    changed = [n for n, hoped in enumerate(hopes) if hoped and english[n]]
    doubts = [[1 - piece[KEEP] for piece in p[: len(s) + 1]] for p, s in zip(probabilities, sentences, strict=True)]
    predictions = [Prediction(unchanged(len(s) + 1), doubts=d) for s, d in zip(sentences, doubts, strict=True)]
    if not changed:
        return predictions
    slots = open_slots([tags[n] for n in changed], [orders[n] for n in changed], empty=model.config.empty_slots)
    worth = [slot for slot in slots if slot.kept in hopes[changed[slot.sentence]]]
    if worth:
        with span(Stage.INSERT_SETUP):
            rows = torch.tensor(changed, device=device)
            ranks = pad([[*rank_list(o, len(t)), len(o)] for o, t in zip(orders, tags, strict=True)], -1).to(device)
            memory = model.remember(encoded[rows], bias[rows], tag_ids[rows], ranks[rows])
        if spelling:
            with span(Stage.SPELL):
                misspelt = respell(spelling, worth, [tags[n] for n in changed], [sentences[n] for n in changed])
                choose(model, tokens, memory, mask[rows], misspelt)
        left = [slot for slot in worth if not slot.finished]
        if left:
            fill(model, tokens, memory, mask[rows], left, sequential=options.sequential)
        if model.config.empty_slots:
            sources = [
                source_of(slot, tags[changed[slot.sentence]], sentences[changed[slot.sentence]]) for slot in worth
            ]
            weigh_source(model, tokens, memory, mask[rows], list(zip(worth, sources, strict=True)))
    with span(Stage.REALIZE):
        for row, n in enumerate(changed):
            mine = [slot for slot in slots if slot.sentence == row]
            name_kinds(mine, changes(tags[n]), sentences[n], tokens)
            decided = tags[n], probabilities[n], orders[n], links[n], mine
            predictions[n] = assemble(*decided, options)
            predictions[n].doubts = doubts[n]
            if options.bold:
                predictions[n].bolder = assemble(*decided, bold).plan
    return predictions


# ---------------------------------------------------------------- points


def follow_points(
    model: EdiT5, encoded: Tensor, tags: Tensor, mask: Tensor, tag_lists: list[list[int]], keep_bias: float
) -> tuple[list[list[int]], list[dict[int, float]]]:
    """Output order of the kept pieces of each sentence; where it leaves the source's, the probability of each link.

    A link belongs to the piece that it leaves. The walk runs only where the best chain is not monotone.
    """
    scores = model.point(encoded, tags, mask)  # [B, S, S]
    scores[:, :, 0] = -1e9  # nothing comes before the sentinel
    kept = [kept_in_order(tag_list) for tag_list in tag_lists]
    chains = [dict(pairwise([*k, len(t)])) for k, t in zip(kept, tag_lists, strict=True)]
    following = pad([[chain.get(i, 0) for i in range(tags.shape[1])] for chain in chains], 0).to(tags.device)  # [B, S]
    monotone = following[:, :, None]
    scores = scores.scatter(2, monotone, scores.gather(2, monotone) + min(keep_bias, CERTAIN))
    leaves = ((scores.argmax(-1) != following) & (following > 0)).any(1).tolist()
    links: list[dict[int, float]] = [{} for _ in tag_lists]
    for n in (n for n, moves in enumerate(leaves) if moves):
        end = len(tag_lists[n])
        kept[n] = walk(scores[n].tolist(), kept[n], end)
        probabilities = scores[n].softmax(-1)
        for here, there in pairwise([*kept[n], end]):
            if chains[n][here] != there:
                links[n][here] = float(probabilities[here, there])
    return kept, links


def kept_in_order(tags: Sequence[int]) -> list[int]:
    """The pieces that stay, as they stand in the source."""
    return [i for i, t in enumerate(tags) if t in (KEEP, INSERT)]


def walk(scores: list[list[float]], kept: list[int], end: int) -> list[int]:
    """Greedy walk from the sentinel over all kept pieces, each once; the end comes last."""
    left = set(kept[1:])
    order = [kept[0]]
    while left:
        row = scores[order[-1]]
        order.append(max(left, key=row.__getitem__))
        left.remove(order[-1])
    return order


def rank_list(order: Sequence[int], length: int) -> list[int]:
    """Position of each piece in the output order, -1 for deleted ones."""
    return Plan(length, tuple(order)).ranks()


# ---------------------------------------------------------------- the plan, and how sure it is


def changes(tags: Sequence[int]) -> dict[int, list[int]]:
    """The kept pieces behind which something changes, and what is deleted there: nothing where words are inserted.

    >>> changes([KEEP, REPLACE, DELETE, INSERT])
    {0: [1, 2], 3: []}
    """
    gaps: dict[int, list[int]] = {}
    kept = 0
    for i, tag in enumerate(tags):
        if tag in (KEEP, INSERT):
            kept = i
        if tag == INSERT:
            gaps[i] = []
        elif tag != KEEP:
            gaps.setdefault(kept, []).append(i)
    return gaps


def source_of(slot: Slot, tags: Sequence[int], sentence: Pieces) -> list[int]:
    """The pieces that are deleted where a slot stands."""
    return [sentence.ids[i - 1] for i in changes(tags).get(slot.kept, ())]  # the sentinel comes first


def tagged(gaps: dict[int, list[int]], probabilities: list[list[float]]) -> dict[int, float]:
    """Probability of each change by its tags alone, in the mean over deleted pieces."""
    chances: dict[int, float] = {}
    for piece, deleted in gaps.items():
        sure = [probabilities[i][DELETE] + probabilities[i][REPLACE] for i in deleted]
        sure = sure or [probabilities[piece][INSERT] + probabilities[piece][REPLACE]]
        chances[piece] = sum(sure) / len(sure)
    return chances


def hope(
    tags: list[int],
    probabilities: list[list[float]],
    links: dict[int, float],
    options: Options,
    *,
    empty: bool = False,
) -> frozenset[int]:
    """The changes of a sentence that may come to be sure enough. What is written makes them less sure than their tags
    are, so the others need not be written; none are left where the sentence fails as a whole. `empty`: the
    model knows empty slots, and its decoder will have a say on every change."""
    stays = FIRMEST if empty else UNKNOWN
    best = {piece: options.confidence(Evidence(value)) for piece, value in links.items()}
    gaps = changes(tags)
    for piece, value in tagged(gaps, probabilities).items():
        kinds = possible_kinds(tags, piece, gaps[piece], empty=empty)
        sure = max(options.confidence(Evidence(value, kind=kind, stays=stays)) for kind in kinds)
        best[piece] = min(sure, best.get(piece, sure))
    least = max(options.min_confidence, 1e-9)
    good = frozenset(piece for piece, value in best.items() if value >= least)
    if (
        not good
        or together([best[piece] for piece in good]) < options.sentence_gate
        or (links and len(good) < len(best))
    ):
        return frozenset()
    return frozenset(best) if options.sequential else good  # there what one slot holds is read by the next


def name_kinds(slots: list[Slot], gaps: dict[int, list[int]], sentence: Pieces, tokens: Tokens) -> None:
    """Say of each slot what kind of edit it makes, now that it is written."""
    for slot in slots:
        deleted = gaps.get(slot.kept, [])
        taken = sentence.text(deleted[0] - 1, deleted[-1]) if deleted else ""  # the sentinel comes first
        slot.kind = slot.kind or kind_of(taken, tokens.decode(slot.pieces))


def assemble(
    tags: list[int],
    probabilities: list[list[float]],
    order: list[int],
    links: dict[int, float],
    slots: list[Slot],
    options: Options,
) -> Prediction:
    """Plan of one sentence. Gaps less sure than the threshold, or never finished, are restored.

    Where pieces moved, gaps and links are one decision: all or nothing.
    """
    written = {slot.kept: slot for slot in slots}
    gaps = changes(tags)
    confidence = {piece: options.confidence(Evidence(value)) for piece, value in links.items()}
    for piece, value in tagged(gaps, probabilities).items():
        slot = written.get(piece)
        evidence = Evidence(value, slot.probability, slot.kind, slot.stays) if slot else Evidence(value, kind=DELETED)
        sure = options.confidence(evidence)
        confidence[piece] = min(sure, confidence.get(piece, sure))
    refused = {piece for piece, value in confidence.items() if value < max(options.min_confidence, 1e-9)}
    made = [value for piece, value in confidence.items() if piece not in refused]
    if together(made) < options.sentence_gate or (links and refused):
        return Prediction(unchanged(len(tags)))
    restored = {i for piece in refused for i in gaps.get(piece, [])}
    final = order if links else sorted({*order, *restored})
    insertions = tuple(
        (k, tuple(written[i].pieces))
        for k, i in enumerate(final, start=1)
        if i in written and written[i].pieces and i not in refused
    )
    plan = Plan(len(tags), tuple(final), insertions)
    steps = [len(slot.pieces) + 1 for slot in slots]
    return Prediction(
        plan,
        {i: c for i, c in confidence.items() if i not in refused},
        sum(steps) if options.sequential else max(steps, default=0),
        respelt=frozenset(slot.kept for slot in slots if slot.kind == SPELLING) - refused,
    )
