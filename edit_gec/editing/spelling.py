"""Misspelt words: the insertion decoder does not write them anew, it says which of the near words fits.

doubt     tags unknown words that the model doubts
respell   finds the slots that replace misspelt words and nothing else
choose    writes the best candidates into them
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from edit_gec.editing.confidence import SPELLING
from edit_gec.editing.insertion import Slot, score_candidates
from edit_gec.editing.lexicon import Candidate, Spelling
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import Pieces, Tokens

DOUBT = 0.05  # probability of a change from which on an unknown word is looked up
HEARD = 0.15  # of what the decoder says of a candidate: it knows the context, and how to spell only roughly
NONE = 4.0  # nats against all candidates: the word is right as it is, or stands for something else


def doubt(spelling: Spelling, tags: list[int], probabilities: list[list[float]], sentence: Pieces) -> None:
    """Tag the unknown words of a sentence REPLACE that the model doubts and that are near a known one."""
    for word in spelling.read(sentence, unknown=True):
        pieces = slice(word.first + 1, word.last + 1)  # the sentinel comes first
        changed = [p[DELETE] + p[REPLACE] for p in probabilities[pieces]]
        if sum(changed) >= DOUBT * len(changed) and spelling.candidates(word.text):
            tags[pieces] = [REPLACE] * len(changed)


def respell(
    spelling: Spelling, slots: list[Slot], tag_lists: list[list[int]], sentences: list[Pieces]
) -> list[tuple[Slot, list[list[Candidate]]]]:
    """The slots that replace misspelt words and nothing else, and what may belong there."""
    found = []
    for slot in slots:
        tags = [*tag_lists[slot.sentence], KEEP]
        last = next(n for n in range(slot.kept + 1, len(tags)) if tags[n] in (KEEP, INSERT))
        replaces = tags[slot.kept] == KEEP and last > slot.kept + 1  # an insertion alone has no word to look up
        gap = spelling.gap(sentences[slot.sentence], slot.kept, last - 1) if replaces else []
        if gap:
            found.append((slot, gap))
    return found


def choose(
    model: EdiT5, tokens: Tokens, memory: Tensor, mask: Tensor, slots: Sequence[tuple[Slot, list[list[Candidate]]]]
) -> None:
    """Write into each slot the likeliest candidates for the words of its gap.

    How sure that is: the share of each among all candidates for its word and NONE of them, in the mean. Where a gap has
    several words, the decoder reads the candidates for one among the cheapest for the others.
    """
    rows: list[tuple[Slot, list[int]]] = []
    costs: list[float] = []
    for slot, gap in slots:
        cheapest = [of_word[0].text for of_word in gap]
        for n, of_word in enumerate(gap):
            texts = [" ".join([*cheapest[:n], each.text, *cheapest[n + 1 :]]) for each in of_word]
            rows += [(slot, tokens.ids(text)) for text in texts]
            costs += [each.cost for each in of_word]
    if not rows:
        return
    scores = HEARD * score_candidates(model, tokens, memory, mask, rows) - torch.tensor(
        costs, device=memory.device
    )  # [R]
    begin = 0
    for slot, gap in slots:
        chosen = []
        for of_word in gap:
            score = scores[begin : begin + len(of_word)]
            begin += len(of_word)
            chosen.append(of_word[int(score.argmax())].text)
            everything = torch.cat([score, score.new_tensor([-NONE])]).logsumexp(0)
            slot.log_probability += float(score.max() - everything) / len(gap)
        slot.pieces, slot.finished, slot.kind = tokens.ids(" ".join(chosen)), True, SPELLING
