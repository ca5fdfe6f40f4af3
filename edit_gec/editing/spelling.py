"""Misspelt words and certain errors: the insertion decoder does not write them again, it ranks what is proposed.

tag_suspect_words        tags unknown words that the model doubts
find_misspelt_slots      finds the slots that replace misspelt words and nothing else
write_candidates         writes the best candidates into them

tag_certain_errors       tags what a rule proposes to change (rules/engine.py) and the model doubts
write_proposals          writes the best proposals into the slots that replace such words and nothing else
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, product
from operator import mul
from typing import NamedTuple

import numpy as np

from edit_gec.editing.confidence import EvidenceKind
from edit_gec.editing.insertion import InsertionDecoder, Slot, score_candidates
from edit_gec.editing.lexicon import Candidate, WordList
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import Pieces
from edit_gec.rules.engine import Found

MIN_DOUBT = 0.01  # probability of a change from which on an unknown word is looked up, or what a rule proposes scored
NEAREST = 3  # candidates for a misspelt word beside what a rule proposes, or among many others
MOST_SCORED = 96  # candidates in a window; where there are more, each word has fewer, but NEAREST (profiles/LOG.md)
MOST_TOGETHER = 16  # texts that proposals next to each other make together
DECODER_WEIGHT = 0.15  # of the decoder's score of a candidate: it knows the context, and how to spell only roughly
KEEP_WORD_COST = 4.0  # nats for no candidate at all: the word is right as it is, or stands for something else


class Proposed(NamedTuple):
    """Pieces first..last (half-open, without the sentinel), and what may stand in their place."""

    first: int
    last: int
    texts: tuple[str, ...]
    certain: bool = True  # a rule proposes it, not the list of words


def tag_suspect_words(
    lexicon: WordList, tags: list[int], probabilities: list[list[float]], sentence: Pieces
) -> list[Proposed]:
    """Tag REPLACE the unknown words of a sentence that the model doubts and that are near a known one; returns them
    with the nearest."""
    suspect = []
    for word in lexicon.find_words(sentence, unknown=True):
        pieces = slice(word.first + 1, word.last + 1)  # the sentinel comes first
        changed = [p[DELETE] + p[REPLACE] for p in probabilities[pieces]]
        if sum(changed) >= MIN_DOUBT * len(changed) and (candidates := lexicon.candidates(word.text)):
            tags[pieces] = [REPLACE] * len(changed)
            suspect.append(Proposed(word.first, word.last, tuple(each.text for each in candidates[:NEAREST]), False))
    return suspect


def tag_certain_errors(
    tags: list[int],
    probabilities: list[list[float]],
    sentence: Pieces,
    found: Sequence[Found],
    suspect: Sequence[Proposed],
) -> list[Proposed]:
    """Tag REPLACE what the rules `found` in a sentence and the model is not sure of; returns the proposals.

    They stand alone: what the model would change together with one of them, or in what the rule looks at ("is" to "are"
    in "the rules is"), stays for the second reading. Misspelt words next to them (`suspect`) are proposals too.
    """
    proposed: list[Proposed] = []
    seen: list[tuple[int, int]] = []
    for match in found:
        covered = _cover(sentence, match.start + sentence.starts[0], match.end + sentence.starts[0])
        if covered is None:
            continue
        doubt = 1 - min(p[KEEP] for p in probabilities[covered[0] + 1 : covered[1] + 1])  # the sentinel comes first
        if doubt >= MIN_DOUBT:
            proposed.append(Proposed(*covered, _spell(match.texts, sentence, covered, suspect)))
            seen.append((match.first + sentence.starts[0], match.last + sentence.starts[0]))
    if not proposed:
        return []
    clear = [each for each in suspect if not any(each.first < one.last and one.first < each.last for one in proposed)]
    together = sorted([*proposed, *clear])
    ours = {n for one in together for n in range(one.first, one.last)}
    for each in proposed:
        _free(tags, each, ours)
    begin = sentence.starts[0] + len(sentence.covered.split(" ")[0])  # the first word may still get its capital
    for n, (a, b) in enumerate(zip(sentence.starts, sentence.ends, strict=True)):
        if n not in ours and b > begin and any(a < last and b > first for first, last in seen):
            tags[n + 1] = KEEP
    for each in proposed:
        tags[each.first + 1 : each.last + 1] = [REPLACE] * (each.last - each.first)
    return together


def _spell(
    texts: tuple[str, ...], sentence: Pieces, covered: tuple[int, int], suspect: Sequence[Proposed]
) -> tuple[str, ...]:
    """What a rule proposes; where that is the misspelt word that stands there ("teh teh" -> "teh"), what it may be."""
    for each in suspect:
        if covered[0] <= each.first < covered[1] and texts == (sentence.text(each.first, each.last).strip(),):
            return each.texts
    return texts


def _free(tags: list[int], proposed: Proposed, ours: set[int]) -> None:
    """Keep the pieces that are changed in one gap with a proposal, without being part of one (`ours`)."""
    for step, n in ((-1, proposed.first - 1), (1, proposed.last)):
        while 0 <= n < len(tags) - 1 and (n in ours or tags[n + 1] in (DELETE, REPLACE)):
            if n not in ours:
                tags[n + 1] = KEEP
            n += step
        if step < 0 and tags[n + 1] == INSERT:
            tags[n + 1] = KEEP


def _cover(sentence: Pieces, start: int, end: int) -> tuple[int, int] | None:
    """The pieces that hold these words and the space before them, or None where no pieces hold just that."""
    inside = [n for n, (a, b) in enumerate(zip(sentence.starts, sentence.ends, strict=True)) if a < end and b > start]
    if not inside:
        return None
    first = inside[0]
    last = inside[-1] + 1
    first -= bool(first and sentence.text(first - 1, first) == " ")  # the space can be a piece of its own
    return (first, last) if sentence.text(first, last) == " " + sentence.source[start:end] else None


def write_proposals(decoder: InsertionDecoder, slots: Sequence[tuple[Slot, list[int], Sequence[Proposed]]]) -> None:
    """Write into each slot the most likely proposals; each comes with the ids of its source and the proposals in it.

    The probability is the share of what is written among all that is proposed and the source.
    """
    rows: list[tuple[Slot, list[int]]] = []
    counts: list[int] = []
    for slot, source, proposed in slots:
        texts = combine(proposed)
        rows += [(slot, decoder.tokens.ids(text)) for text in texts] + [(slot, source)]
        counts.append(len(texts) + 1)
    if not rows:
        return
    scores = score_candidates(decoder, rows)  # [R]
    begin = 0
    for (slot, _, _), count in zip(slots, counts, strict=True):
        score = scores[begin : begin + count]
        best = int(score[:-1].argmax())
        slot.log_probability = float(score[best] - np.logaddexp.reduce(score))
        slot.pieces = rows[begin + best][1]
        slot.finished = True
        slot.kind = EvidenceKind.CERTAIN
        begin += count


def combine(proposed: Sequence[Proposed]) -> list[str]:
    """What stands where these proposals are taken together. Where that is more than MOST_TOGETHER texts, those of the
    first ones only: their number grows as a power of the proposals.

    >>> combine([Proposed(0, 1, ("a", "b")), Proposed(1, 2, ("c", "d"))])
    ['a c', 'a d', 'b c', 'b d']
    """
    counts = accumulate((len(one.texts) for one in proposed), mul)
    varied = sum(count <= MOST_TOGETHER for count in counts)
    choices = [one.texts if n < varied else one.texts[:1] for n, one in enumerate(proposed)]
    return [" ".join(each) for each in product(*choices)]


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
            slot.kind = EvidenceKind.NAME if has_name(lexicon, sentence, slot.after_piece, last - 1) else None
            found.append((slot, gap))
    words = [of_word for _, gap in found for of_word in gap]
    if sum(map(len, words)) > MOST_SCORED:
        most = max(NEAREST, MOST_SCORED // len(words))
        return [(slot, [take_nearest(of_word, most) for of_word in gap]) for slot, gap in found]
    return found


def take_nearest(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """The first candidates of a word, and a listed one wherever it stands."""
    return [each for n, each in enumerate(candidates) if n < most or each.listed]


def has_name(lexicon: WordList, sentence: Pieces, first: int, last: int) -> bool:
    """Whether an unknown word of the pieces first..last has a capital that no sentence or quotation asks for."""
    capitals = [word.first for word in lexicon.find_words(sentence, unknown=True) if word.text[0].isupper()]
    before = [sentence.before(n).rstrip()[-1:] for n in capitals if first <= n < last]
    return any(each.isalnum() or each == "," for each in before)


def classify_respelling(chosen: Sequence[Candidate], *, is_name: bool) -> EvidenceKind:
    """The kind of an edit that writes these candidates, one for each word."""
    if is_name:
        return EvidenceKind.NAME
    return EvidenceKind.LISTED if [each.listed for each in chosen] == [True] else EvidenceKind.SPELLING


def rank_candidates(
    decoder: InsertionDecoder, slot: Slot, candidates: Sequence[Candidate]
) -> list[tuple[Candidate, float]]:
    """The candidates for the one word that a slot replaces, the likeliest first, each with its probability."""
    rows = [(slot, decoder.tokens.ids(each.text)) for each in candidates]
    costs = np.array([each.cost for each in candidates], np.float32)
    scores = DECODER_WEIGHT * score_candidates(decoder, rows) - costs  # [R]
    shares = np.exp(scores - np.logaddexp.reduce([*scores, -KEEP_WORD_COST]))
    return sorted(zip(candidates, shares.tolist(), strict=True), key=lambda each: (-each[1], each[0].text))


def write_candidates(decoder: InsertionDecoder, slots: Sequence[tuple[Slot, list[list[Candidate]]]]) -> None:
    """Write into each slot the most likely candidate for each word of its gap.

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
    scores = DECODER_WEIGHT * score_candidates(decoder, rows) - np.array(costs, np.float32)  # [R]
    begin = 0
    for slot, gap in slots:
        chosen = []
        for of_word in gap:
            score = scores[begin : begin + len(of_word)]
            begin += len(of_word)
            chosen.append(of_word[int(score.argmax())])
            everything = np.logaddexp.reduce([*score, -KEEP_WORD_COST])
            slot.log_probability += float(score.max() - everything) / len(gap)
        slot.pieces = decoder.tokens.ids(" ".join(each.text for each in chosen))
        slot.finished = True
        slot.kind = classify_respelling(chosen, is_name=slot.kind == EvidenceKind.NAME)
