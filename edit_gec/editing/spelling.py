"""Misspelt words: the insertion decoder does not write them anew, it ranks known words that are near.

tag_suspect_words        tags unknown words that the model doubts
find_misspelt_slots      finds the slots that replace misspelt words and nothing else
write_candidates         writes the best candidates into them
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from edit_gec.editing.confidence import Kind
from edit_gec.editing.insertion import InsertionDecoder, Slot, score_candidates
from edit_gec.editing.lexicon import Candidate, WordList
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import Pieces

MIN_DOUBT = 0.05  # probability of a change from which on an unknown word is looked up
DECODER_WEIGHT = 0.15  # of the decoder's score of a candidate: it knows the context, and how to spell only roughly
KEEP_WORD_COST = 4.0  # nats for no candidate at all: the word is right as it is, or stands for something else


def tag_suspect_words(lexicon: WordList, tags: list[int], probabilities: list[list[float]], sentence: Pieces) -> None:
    """Tag REPLACE the unknown words of a sentence that the model doubts and that are near a known one."""
    for word in lexicon.find_words(sentence, unknown=True):
        pieces = slice(word.first + 1, word.last + 1)  # the sentinel comes first
        changed = [p[DELETE] + p[REPLACE] for p in probabilities[pieces]]
        if sum(changed) >= MIN_DOUBT * len(changed) and lexicon.candidates(word.text):
            tags[pieces] = [REPLACE] * len(changed)


def find_misspelt_slots(
    lexicon: WordList, slots: Sequence[Slot], tags: Sequence[int], sentence: Pieces
) -> list[tuple[Slot, list[list[Candidate]]]]:
    """The slots of a sentence that replace misspelt words and nothing else, with the candidates for each word."""
    found = []
    tags = [*tags, KEEP]
    for slot in slots:
        last = next(n for n in range(slot.after_piece + 1, len(tags)) if tags[n] in (KEEP, INSERT))
        replaces = tags[slot.after_piece] == KEEP and last > slot.after_piece + 1  # an insertion alone has no word
        gap = lexicon.gap_candidates(sentence, slot.after_piece, last - 1) if replaces else []
        if gap:
            found.append((slot, gap))
    return found


def write_candidates(decoder: InsertionDecoder, slots: Sequence[tuple[Slot, list[list[Candidate]]]]) -> None:
    """Write into each slot the likeliest candidate for each word of its gap.

    The probability is the share of the candidate among all candidates for its word and KEEP_WORD_COST, in the mean
    over the words. Where a gap has several words, the decoder reads the candidates for one word among the cheapest
    candidates for the others.
    """
    rows: list[tuple[Slot, list[int]]] = []
    costs: list[float] = []
    for slot, gap in slots:
        cheapest = [of_word[0].text for of_word in gap]
        for n, of_word in enumerate(gap):
            texts = [" ".join([*cheapest[:n], each.text, *cheapest[n + 1 :]]) for each in of_word]
            rows += [(slot, decoder.tokens.ids(text)) for text in texts]
            costs += [each.cost for each in of_word]
    if not rows:
        return
    scores = DECODER_WEIGHT * score_candidates(decoder, rows) - torch.tensor(costs, device=decoder.device)  # [R]
    begin = 0
    for slot, gap in slots:
        chosen = []
        for of_word in gap:
            score = scores[begin : begin + len(of_word)]
            begin += len(of_word)
            chosen.append(of_word[int(score.argmax())].text)
            everything = torch.cat([score, score.new_tensor([-KEEP_WORD_COST])]).logsumexp(0)
            slot.log_probability += float(score.max() - everything) / len(gap)
        slot.pieces = decoder.tokens.ids(" ".join(chosen))
        slot.finished = True
        slot.kind = Kind.SPELLING
