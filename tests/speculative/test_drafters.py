"""Drafters: what they propose, re-synchronisation, gamma, and the theory of speed."""

from __future__ import annotations

from copy import deepcopy
from math import inf

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import brief, law, valid
from support.tiny_t5 import random_target

from edit_gec.editing.thresholds import Thresholds
from edit_gec.errors import InputError, ModelError
from edit_gec.modeling import shared_encoder
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tokenizer import EOS, Tokens
from edit_gec.speculative.decode import VerifyOptions, verify
from edit_gec.speculative.drafters import (
    Gamma,
    NGramDrafter,
    Proposal,
    Row,
    SharedEdiT5Drafter,
    SmallT5Drafter,
    TextDrafter,
    make_edit5_writer,
)
from edit_gec.speculative.realign import AlignedText, Choices, Realigner, UniqueNGram, find_meetings, find_recurrence
from edit_gec.speculative.sampling import Sampling, uniform
from edit_gec.speculative.statistics import Trace
from edit_gec.speculative.target import Target
from edit_gec.speculative.theory import best_gamma, expected_tokens, gain

# ---------------------------------------------------------------- re-synchronisation

SCHOOL = "She goes to school by the bus with the children ."


def continued(tokens: Tokens, draft: str, accepted: str, source: str | None = None) -> str:
    """What is proposed behind `accepted`, as text."""
    resync = Realigner(tokens.ids(source or draft), tokens.ids(draft), tokens)
    return tokens.decode(resync.propose(tokens.ids(accepted)))


@pytest.mark.parametrize(
    ("accepted", "proposed"),
    [
        ("", SCHOOL),
        ("She goes to", " school by the bus with the children ."),  # as drafted
        ("She went", " to school by the bus with the children ."),  # another word
        ("She goes straight to", " school by the bus with the children ."),  # a word more
        ("She goes to the", " school by the bus with the children ."),  # a word more that occurs later, too
        ("She school", " by the bus with the children ."),  # two words less
        ("She went to the school by", " the bus with the children ."),  # two changes
        ("She goes to school by bus with the", " children ."),  # which "the" it is
        (SCHOOL, ""),
    ],
)
def test_alignment_finds_the_place(shipped: Tokens, accepted: str, proposed: str) -> None:
    assert continued(shipped, SCHOOL, accepted).strip() == proposed.strip()


def test_a_mark_stays_behind_a_word_that_is_replaced(shipped: Tokens) -> None:
    """It stands right after the word, but is none of it; neither is the full stop before the end."""
    draft = "She likes to cook, and dark winters."
    assert continued(shipped, draft, "She likes to bake") == ", and dark winters."
    assert continued(shipped, draft, "She likes to cook, and dark months") == "."


def test_later_edits_survive_a_refused_one(shipped: Tokens) -> None:
    """The target keeps "walking", which the draft rewrote; what the draft changed behind it is still proposed."""
    source = "i was walking on park when I struck by bicycle"
    draft = "I was on my way through a park when I was struck by a bicycle"
    accepted = "i was walking on"
    assert continued(shipped, draft, accepted, source).endswith(" park when I was struck by a bicycle")


def passes(tokens: Tokens, source: str, output: list[int]) -> int:
    """Target passes for this output when the source is the draft."""
    resync, written, count = Realigner(tokens.ids(source), tokens.ids(source), tokens), list[int](), 0
    while len(written) < len(output):
        proposed = resync.propose(written)
        pairs = zip(proposed, output[len(written) :], strict=False)
        right = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(proposed), len(output) - len(written)))
        written, count = output[: len(written) + right + 1], count + 1
    return count


@pytest.mark.parametrize(
    ("written", "most"),  # by alignment alone 12, 13 and 16 passes
    [
        ("I like tea in the morning, and both of us read until it is dark .", 3),
        ("I like tea in the morning, my brother like tea in the morning, my brother drinks coffee after lunch .", 5),
        ("I like tea in the morning, and both of us read until it is dark , my brother drinks coffee after lunch .", 7),
    ],
)
def test_a_target_that_jumps_is_found_again(shipped: Tokens, written: str, most: int) -> None:
    """It goes on elsewhere in the source, where the distance of the texts does not look for it."""
    source = "I like tea in the morning, my brother drinks coffee after lunch, and both of us read until it is dark ."
    assert passes(shipped, source, [*shipped.ids(written), EOS]) <= most


def test_a_target_that_repeats_itself_is_followed(shipped: Tokens) -> None:
    endless = shipped.ids("I like tea" + " and more" * 60)
    assert len(endless) > 100 and passes(shipped, "I like tea in the morning .", endless) <= 7


@pytest.mark.parametrize(
    ("draft", "says", "output"),
    [
        ("She go to school and they is late .", {"go": "goes", "is": "are"}, "She goes to school and they are late ."),
        ("She go to school on a day .", {"go": "goes", "school": "the"}, "She goes to the school on a day ."),
        ("They was late and the the dog was tired .", {"was": "were"}, "They were late and the the dog were tired ."),
    ],
)
def test_what_the_target_says_behind_a_rejection_is_foreseen(
    shipped: Tokens, draft: str, says: dict[str, str], output: str
) -> None:
    """Edits that do not depend on each other take two passes, however many there are."""
    source, wanted = shipped.ids(draft), [*shipped.ids(output), EOS]
    token = {word: shipped.ids(f"a {word}")[-1] for word in [*says, *says.values()]}
    resync = Realigner(source, source, shipped)
    read = resync.propose([])
    own = [next((token[new] for old, new in says.items() if token[old] == here), here) for here in read]
    accepted = next(n for n, (a, b) in enumerate(zip(read, own, strict=True)) if a != b) + 1
    plain, other = deepcopy(resync), deepcopy(resync)
    assert resync.propose(own[:accepted], Choices(read, own)) == wanted[accepted:]
    without = plain.propose(own[:accepted])
    assert without != wanted[accepted:]
    assert other.propose(own[:accepted], Choices([*read[:-2], EOS], own)) == without, "read of another text"


def test_recurrence() -> None:
    assert find_recurrence([5, 6, 7], [[4, 6, 7, 8, 1], [7, 9]]) == [8, 1], (
        "the longest ending counts, then the first text"
    )
    assert find_recurrence([5], [[6, 7]]) == find_recurrence([], [[6]]) == []
    assert find_recurrence([9, 5, 6, 5, 6], [[7, 1]])[:5] == [5, 6, 5, 6, 5]


def test_meetings() -> None:
    assert find_meetings([5, 6, 7, 1], [5, 8, 9, 7, 1]) == [0, -1, 3, 4]
    assert find_meetings([1], [5, 1]) == [1]


@law
@given(valid, valid)
def test_incremental_alignment_is_edit_distance(accepted: str, draft: str) -> None:
    """The row of distances equals the textbook table, whether it grew at once or byte by byte."""

    class Bytes:
        """Every byte is a token."""

        end = EOS

        def surface(self, piece: int) -> bytes:
            return bytes([piece])

    text, other = accepted.encode()[:40], draft.encode()[:40]
    table = list(range(len(other) + 1))
    for byte in text:
        previous, table = table, [table[0] + 1]
        for n, theirs in enumerate(other):
            table.append(min(table[n] + 1, previous[n + 1] + 1, previous[n] + (byte != theirs)))
    at_once, slowly = (AlignedText(list(other), Bytes()) for _ in range(2))  # type: ignore[arg-type]
    at_once.follow(text)
    for n in range(len(text) + 1):
        slowly.follow(text[:n])
    assert at_once.distances is not None and slowly.distances is not None
    assert at_once.distances.tolist() == slowly.distances.tolist() == table


@law
@given(
    valid, valid, st.lists(st.integers(0, 599).filter(lambda token: token != EOS), max_size=20),
    st.lists(st.integers(0, 599), max_size=30),
)  # fmt: skip
def test_any_accepted_text_gets_a_proposal(
    tokens: Tokens, source: str, draft: str, accepted: list[int], own: list[int]
) -> None:
    """Whatever the target chose along the proposal before."""
    resync = Realigner(tokens.ids(source), tokens.ids(draft), tokens)
    for n in range(len(accepted) + 1):
        proposed = resync.propose(accepted[:n], Choices(resync.proposed, own))
        assert EOS not in proposed[:-1], "a draft ends there, unless it repeats what has no end"


def test_unique_ngram_rule() -> None:
    draft = [5, 6, 7, 5, 8, 6, 7, 9]
    assert UniqueNGram(draft).propose([]) == [*draft, EOS]
    assert UniqueNGram(draft).propose([5, 6]) == [7, 5, 8, 6, 7, 9, EOS]
    assert UniqueNGram(draft).propose([4, 8]) == [6, 7, 9, EOS]  # unique
    assert UniqueNGram(draft).propose([4, 7]) == []  # twice, and never behind 4
    assert UniqueNGram(draft).propose([4, 8, 6]) == [7, 9, EOS]  # 6 is there twice, 8 6 once
    assert UniqueNGram(draft).propose([4, 3]) == []  # absent
    assert UniqueNGram([5, 6, 7, 8, 5, 6, 7, 9]).propose([4, 5, 6, 7]) == []  # three tokens, still twice


# ---------------------------------------------------------------- EdiT5, through text


def test_edit5_drafts_for_another_vocabulary(model: EdiT5, tokens: Tokens, t5_tokens: Tokens, shipped: Tokens) -> None:
    """EdiT5 with its vocabulary, a target with another, spaces folded and characters unknown: still the target's."""
    write = make_edit5_writer(model, tokens, Thresholds())
    sentences = ["She go home .", "", "They  was\there 😀", "long " * 60, "My brother walk."]
    drafts = write(sentences)
    assert drafts[1] == "" and drafts[3] == sentences[3], "nothing to draft from, and more than the model reads"
    assert drafts[0] != sentences[0]
    for others in (t5_tokens, shipped):
        target = random_target(others, 3, max_length=200)
        outputs = target.generate(sentences)
        assert verify(target, TextDrafter(others, write), sentences, VerifyOptions(batch_size=2))[0] == outputs


def test_edit5_on_the_targets_encoder(model: EdiT5, tokens: Tokens) -> None:
    """One encoder, run once for each sentence: the same drafts as EdiT5 alone, the target's own output."""
    t5 = random_target(tokens, 3).model
    shared_encoder.join(t5, model)
    target = Target(t5, tokens, max_length=80, edit5=model)
    sentences = ["She go home .", "", "They was here again", "long " * 30, "My brother walk.", "I"]
    outputs = target.generate(sentences)
    shared = SharedEdiT5Drafter(model, tokens, Thresholds())
    runs = []
    hook = model.encoder.layers[0].register_forward_hook(lambda *_: runs.append(1))
    verified, statistics = verify(target, shared, sentences, VerifyOptions(batch_size=32))
    hook.remove()
    assert verified == outputs and len(runs) == 1
    alone, of_alone = verify(target, TextDrafter(tokens, make_edit5_writer(model, tokens, Thresholds())), sentences)
    assert alone == outputs
    assert [trace.draft for trace in statistics.traces] == [trace.draft for trace in of_alone.traces]
    assert verify(target, shared, sentences, VerifyOptions(batch_size=2))[0] == outputs
    with pytest.raises(ModelError, match="d_model 16; expected 32"):
        shared_encoder.join(random_target(tokens, d_model=16).model, model)


# ---------------------------------------------------------------- a few tokens at a time


def test_gamma() -> None:
    row = Row(0, "", limit=100)
    assert Gamma(3)(row) == 3
    row.limit = 1
    assert Gamma(3)(row) == 0, "the last token is the target's"
    for wrong in (0, 33):
        with pytest.raises(InputError, match="from 1 to 32"):
            Gamma(wrong)


def test_ngrams_say_what_is_likeliest(tokens: Tokens) -> None:
    line = "They walk home"
    ids = tokens.ids(line)
    bigrams = NGramDrafter.learn([line, line, "They run"], tokens, order=2, gamma=Gamma(20))
    assert bigrams.propose([Row(0, "", 50)]) == [Proposal([*ids, EOS])]
    row = Row(0, "", 50, tokens=ids[:2])
    assert bigrams.propose([row]) == [Proposal([*ids[2:], EOS])]
    unigrams = NGramDrafter.learn(["the cat saw the dog"], tokens, order=1, gamma=Gamma(2))
    assert unigrams.propose([row]) == [Proposal(tokens.ids("the") * 2)]
    with pytest.raises(InputError, match="no text"):
        NGramDrafter.learn([], tokens, order=1, gamma=Gamma(2))
    with pytest.raises(InputError, match="order 3"):
        NGramDrafter.learn([line], tokens, order=3, gamma=Gamma(2))


@pytest.mark.parametrize("sampling", [None, Sampling(seed=4)])
def test_small_t5_drafts_what_it_would_write(tokens: Tokens, sampling: Sampling | None) -> None:
    """Its proposals, pass after pass, are its own plain continuation of what was accepted; its probabilities true."""
    small = random_target(tokens, 6, max_length=30)
    drafter = SmallT5Drafter(small, tokens, Gamma(4), sampling)
    rows = [Row(n, source, 30) for n, source in enumerate(["She go", "They was here", "I"])]
    drafter.begin(rows)
    for accepted in ([], [5], [5, 6, 7], None, [9]):
        for row in rows:
            row.tokens = row.tokens + ([9, 9] if accepted is None else accepted)
        if accepted is None:
            rows = rows[1:]
        for row, proposal in zip(rows, drafter.propose(rows), strict=True):
            ids = torch.tensor([small.source_ids(row.source)])
            written = [0, *row.tokens]
            for n, token in enumerate(proposal.tokens):
                with torch.no_grad():
                    logits = small.model(ids, torch.ones_like(ids, dtype=torch.bool), torch.tensor([written]))[0, -1]
                logits = logits[: tokens.pieces]  # slots are never drafted
                if sampling is None:
                    assert proposal.probabilities is None and token == int(logits.argmax())
                else:
                    assert proposal.probabilities is not None
                    expected = logits.double().softmax(-1)
                    torch.testing.assert_close(proposal.probabilities[n], expected, atol=1e-5, rtol=1e-3)
                    share = uniform(sampling.seed, row.number, len(row.tokens) + n, 1)
                    assert expected[:token].sum() - 1e-4 <= share <= expected[: token + 1].sum() + 1e-4
                written.append(token)
            assert len(proposal.tokens) == 4


def test_small_t5_needs_the_targets_vocabulary(tokens: Tokens, t5_tokens: Tokens) -> None:
    with pytest.raises(InputError, match="not the target's"):
        SmallT5Drafter(random_target(t5_tokens), tokens, Gamma(3))


# ---------------------------------------------------------------- counting, and the theory


def test_passes_after_a_disagreement_are_counted() -> None:
    trace = Trace()
    for proposed, accepted in ((9, 4), (5, 0), (5, 0), (4, 2), (3, 3), (2, 0), (1, 1)):
        trace.add(proposed, accepted, accepted + 1, [1.0] * accepted + [0.0] * (accepted < proposed))
    assert trace.resync_passes == 2, "two that found nothing after the first disagreement; the last 0 began in step"
    assert trace.passes == 7 and trace.tokens == 17
    assert trace.reached == 10 + 5 and trace.acceptance == 10


def test_expected_tokens_are_those_of_the_process() -> None:
    """The closed form against its definition, and Leviathan's Table 1 (cost 0)."""
    for alpha, gamma, tokens in ((0.6, 2, 1.96), (0.7, 3, 2.53), (0.8, 2, 2.44), (0.8, 5, 3.69), (0.9, 10, 6.86)):
        assert expected_tokens(alpha, gamma) == pytest.approx(sum(alpha**n for n in range(gamma + 1)))
        assert gain(alpha, gamma, 0.0) == pytest.approx(tokens, abs=0.005)
    assert expected_tokens(1.0, 7) == 8 and expected_tokens(0.0, 7) == 1 and expected_tokens(0.5, 0) == 1


@brief
@given(st.floats(0, 0.999), st.floats(0.001, 2))
def test_best_gamma(alpha: float, cost: float) -> None:
    best = best_gamma(alpha, cost)
    highest = max((gain(alpha, gamma, cost) for gamma in range(65)), default=inf)
    assert gain(alpha, best, cost) == highest
    if alpha > cost:  # corollary 3.9
        assert highest >= (1 + alpha) / (1 + cost) - 1e-9
    assert best_gamma(0.3, 0.5) == 0, "a drafter that slow and that wrong should not draft"
