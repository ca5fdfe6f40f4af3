"""Law 5: whatever is drafted, the target's greedy tokens. Law 6: whatever is drafted, samples of the target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.drafts import SENTENCES, Script, chi_square, quantile, scripts
from support.strategies import law
from support.tiny_t5 import broken_target, pairs, random_target, trained_target

from edit_gec.errors import InputError, ModelError
from edit_gec.modeling.tokenizer import EOS, PAD, UNK, Tokens
from edit_gec.speculative.any_target import Context
from edit_gec.speculative.decode import Judgement, VerifyOptions, accept_sampled, verify
from edit_gec.speculative.drafters import Drafter, Gamma, NGramDrafter, Proposal, Row, SmallT5Drafter, TextDrafter
from edit_gec.speculative.realign import UniqueNGram
from edit_gec.speculative.sampling import Sampling
from edit_gec.speculative.target import Target


def drafters(target: Target, outputs: list[list[int]]) -> dict[str, Drafter]:
    """Every drafter we have, and some that no one should have."""
    tokens = target.tokens
    small = random_target(tokens, 9, max_length=64, d_model=16, num_heads=2, d_ff=24)
    return {
        "copy": TextDrafter(tokens),
        "n-gram rule": TextDrafter(tokens, rule=UniqueNGram),
        "other text": TextDrafter(
            tokens, lambda texts: [text.replace("the", "a")[3:] + " And more." for text in texts]
        ),
        "unigrams": NGramDrafter.learn(SENTENCES, tokens, order=1, gamma=Gamma(3)),
        "bigrams": NGramDrafter.learn(SENTENCES, tokens, order=2, gamma=Gamma(4)),
        "small T5": SmallT5Drafter(small, tokens, Gamma(3)),
        "small T5, sampling": SmallT5Drafter(small, tokens, Gamma(2), Sampling(seed=1)),
        "itself": SmallT5Drafter(target, tokens, Gamma(5)),
        **scripts(outputs, tokens),
    }


# ---------------------------------------------------------------- law 5


@pytest.mark.parametrize(("seed", "batch_size"), [(0, 1), (1, 4), (4, 32)])
def test_greedy_output_is_the_targets_own(tokens: Tokens, seed: int, batch_size: int) -> None:
    """Ragged rows, batches that join others (4 at a time out of 10), outputs that end at once or at their limit."""
    target = random_target(tokens, seed)
    outputs = target.generate(SENTENCES)
    assert target.generate(SENTENCES, batch_size=batch_size) == outputs
    for name, drafter in drafters(target, outputs).items():
        verified, statistics = verify(target, drafter, SENTENCES, VerifyOptions(batch_size=batch_size))
        assert verified == outputs, name
        assert [trace.tokens for trace in statistics.traces] == list(map(len, outputs)), name


def test_greedy_output_of_a_target_that_corrects(tokens: Tokens) -> None:
    target = trained_target(tokens)
    sentences = [source for source, _ in pairs(6, seed=5)]
    outputs = target.generate(sentences)
    for name, drafter in drafters(target, outputs).items():
        for longest in (4, None):
            assert (
                verify(target, drafter, sentences, VerifyOptions(batch_size=4, longest_draft=longest))[0] == outputs
            ), name


def test_ties_are_settled_alike(tokens: Tokens) -> None:
    """Each token has a twin that is as likely but for rounding, which depends on what is read together."""
    target = random_target(tokens, 4)
    assert target.model.output is not None
    rows = target.model.output.weight.data  # [V, d]
    noise = torch.randn(rows[4::2].shape, generator=torch.Generator().manual_seed(0))
    rows[4::2] = rows[3:-1:2] + 1e-7 * noise[: len(rows[3:-1:2])]
    outputs = target.generate(SENTENCES)
    assert outputs == target.generate(SENTENCES, batch_size=3)
    for name, drafter in drafters(target, outputs).items():
        assert verify(target, drafter, SENTENCES, VerifyOptions(batch_size=4))[0] == outputs, name


def test_encodings_that_are_known(tokens: Tokens) -> None:
    target = random_target(tokens, 4)
    encoded = target.encode_shared(SENTENCES)
    for batch_size in (3, 32):
        verified, _ = verify(
            target, TextDrafter(tokens), SENTENCES, VerifyOptions(batch_size=batch_size), encoded=encoded
        )
        assert verified == target.generate(SENTENCES)


@pytest.mark.parametrize("shape", [{"num_decoder_layers": 3}, {"num_decoder_layers": 1, "num_layers": 3}])
def test_any_depth_and_prefix(tokens: Tokens, shape: dict[str, int]) -> None:
    target = random_target(tokens, 2, prefix="grammar: ", **shape)
    outputs = target.generate(SENTENCES)
    for drafter in (TextDrafter(tokens), SmallT5Drafter(random_target(tokens, 3), tokens, Gamma(4))):
        assert verify(target, drafter, SENTENCES, VerifyOptions(batch_size=4))[0] == outputs


def test_drafts_from_random_lists(tokens: Tokens) -> None:
    """hypothesis looks for drafts that break the law."""
    target = random_target(tokens, 1)
    outputs = {sentence: target.generate([sentence])[0] for sentence in SENTENCES}
    some = st.lists(st.sampled_from([EOS, PAD, UNK, 5, 6, 7, *outputs[SENTENCES[4]]]), max_size=30)

    @law
    @given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5), st.lists(some, min_size=5, max_size=5),
           st.integers(1, 4), st.integers(1, 30))  # fmt: skip
    def holds(sentences: list[str], drafts: list[list[int]], batch_size: int, longest: int) -> None:
        drafter = Script(lambda row: drafts[(row.number + len(row.tokens)) % 5])
        verified, _ = verify(target, drafter, sentences, VerifyOptions(batch_size=batch_size, longest_draft=longest))
        assert verified == [outputs[sentence] for sentence in sentences]

    holds()


@pytest.mark.parametrize("entries", [-40, -7, 9])
@pytest.mark.parametrize("sampling", [None, Sampling(seed=4)])
def test_a_small_t5_with_an_embedding_of_another_size(tokens: Tokens, entries: int, sampling: Sampling | None) -> None:
    """Embeddings are padded to sizes of their own; the vocabulary is the same."""
    small = random_target(tokens, 1, vocab_size=tokens.size + entries)
    target = random_target(tokens, 2)
    outputs = target.generate(SENTENCES, sampling)
    assert max(map(max, outputs)) >= tokens.pieces, "the target writes what the small T5 does not know"
    drafter = SmallT5Drafter(small, tokens, Gamma(3))
    assert verify(target, drafter, SENTENCES, VerifyOptions(sampling, batch_size=4))[0] == outputs
    sampled = SmallT5Drafter(small, tokens, Gamma(3), Sampling(seed=5))
    if sampling is None:
        assert verify(target, sampled, SENTENCES)[0] == outputs
    else:
        verified, _ = verify(target, sampled, SENTENCES, VerifyOptions(sampling))
        assert all(verified)


def test_ties_behind_a_rejection_are_not_settled(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    """They decide nothing, and each would cost a pass; those before it are settled."""
    target = random_target(tokens, 2)
    asked: list[int] = []
    tied = torch.zeros(6, tokens.size)

    def next_logits(sentence: str, written: Sequence[int]) -> torch.Tensor:
        asked.append(len(written))
        return tied[0]

    monkeypatch.setattr(target, "next_logits", next_logits)
    tied[:, 7] = tied[:, 8] = 1.0
    places = [(0, n) for n in range(3)] * 2
    drafted = [7, 9, None, 9, 7, None]  # two drafts: the first is left at its second token, the other at its first
    chosen = target.choose(tied, None, places, lambda n: Context("", [0] * n), drafted)
    assert asked == [0, 1, 3] and chosen[0] == 7
    asked.clear()
    target.choose(tied, None, places, lambda n: Context("", [0] * n))
    assert asked == [0, 1, 2, 3, 4, 5]


def test_no_sentences(tokens: Tokens) -> None:
    verified, statistics = verify(random_target(tokens), TextDrafter(tokens), [])
    assert verified == [] and statistics.summary() == {"sentences": 0}


def test_a_drafter_serves_many_calls(tokens: Tokens) -> None:
    """Nothing of a call, not even one that failed, is left in the next."""
    target = random_target(tokens, 4)
    drafter = SmallT5Drafter(random_target(tokens, 5), tokens, Gamma(3))
    for sentences in (SENTENCES[:3], SENTENCES[3:], SENTENCES[::-1]):
        with pytest.raises(InputError):
            verify(target, drafter, [*sentences, "very long " * 50])
        assert verify(target, drafter, sentences, VerifyOptions(batch_size=2))[0] == target.generate(sentences)


@pytest.mark.parametrize("sampling", [None, Sampling()])
def test_nan_is_an_error(tokens: Tokens, sampling: Sampling | None) -> None:
    with pytest.raises(ModelError, match="logits that are not finite"):
        verify(broken_target(tokens), TextDrafter(tokens), ["She go home."], VerifyOptions(sampling=sampling))


# ---------------------------------------------------------------- law 6


@pytest.mark.parametrize(
    ("sampling", "batch_size"), [(Sampling(seed=7), 4), (Sampling(0.6, top_k=9, top_p=0.9, seed=8), 1)]
)
def test_same_seed_same_samples(tokens: Tokens, sampling: Sampling, batch_size: int) -> None:
    """Drafts that are not sampled: token for token what plain sampling draws."""
    target = random_target(tokens, 1)
    outputs = target.generate(SENTENCES, sampling)
    for name, drafter in drafters(target, outputs).items():
        if name != "small T5, sampling":
            assert (
                verify(target, drafter, SENTENCES, VerifyOptions(sampling=sampling, batch_size=batch_size))[0]
                == outputs
            ), name


DRAWS = 4000


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    """A vocabulary of seven tokens, so that whole outputs can be counted."""
    import sentencepiece

    folder = tmp_path_factory.mktemp("letters")
    (folder / "text").write_text("ab ba c\n" * 9)
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"), model_prefix=str(folder / "spiece"), vocab_size=7, model_type="char",
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1, num_threads=1, minloglevel=2,
    )  # fmt: skip
    return Tokens.load(folder, 0)


def speller(letters: Tokens, seed: int) -> Target:
    """A target that spells at random: five tokens at most, none of them sure."""
    target = random_target(letters, seed, max_length=5)
    with torch.no_grad():
        target.model.output.weight *= 0.2  # type: ignore[union-attr]
    return target


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(1.4, top_k=5, top_p=0.9)])
def test_sampled_drafts_leave_the_distribution_alone(letters: Tokens, sampling: Sampling) -> None:
    """A drafter that really samples, from another distribution: histograms of whole outputs agree."""
    target, small = speller(letters, 1), speller(letters, 2)
    sentences = ["ab"] * DRAWS
    plain = Counter(map(tuple, target.generate(sentences, sampling, batch_size=1000)))
    other = Sampling(sampling.temperature, sampling.top_k, sampling.top_p, seed=99)
    drafter = SmallT5Drafter(small, letters, Gamma(3), Sampling(1.5, top_k=6, seed=98))
    verified, statistics = verify(target, drafter, sentences, VerifyOptions(sampling=other, batch_size=1000))
    value, degrees = chi_square(Counter(map(tuple, verified)), plain)
    assert degrees >= 15 and value < quantile(degrees)
    assert 0.2 < statistics.alpha < 0.98, "the rule is only tested where some drafts are refused"
    drafts = Counter(map(tuple, small.generate(sentences, Sampling(1.5, top_k=6, seed=97), batch_size=1000)))
    wrong, degrees = chi_square(drafts, plain)
    assert wrong > 2 * quantile(degrees), "the histograms could not tell the drafter from the target"


def test_one_hot_drafts_leave_the_distribution_alone(letters: Tokens) -> None:
    target = speller(letters, 1)
    sentences = ["ab"] * DRAWS
    plain = Counter(map(tuple, target.generate(sentences, Sampling(seed=1), batch_size=1000)))
    likely = list(plain.most_common(1)[0][0])
    drafter = Script(lambda row: likely[len(row.tokens) :])
    verified, _ = verify(target, drafter, sentences, VerifyOptions(sampling=Sampling(seed=2), batch_size=1000))
    value, degrees = chi_square(Counter(map(tuple, verified)), plain)
    assert degrees >= 15 and value < quantile(degrees)


def test_the_first_token_by_hand() -> None:
    """accept with min(1, p / q), else norm(max(0, p - q)): together exactly p; alpha is the sum of min(p, q)."""
    p = torch.tensor([0.5, 0.2, 0.2, 0.1, 0.0], dtype=torch.float64)
    q = torch.tensor([0.1, 0.6, 0.1, 0.1, 0.1], dtype=torch.float64)
    counts: Counter[int] = Counter()
    generator = torch.Generator().manual_seed(0)
    drafted = torch.multinomial(q, 6000, replacement=True, generator=generator).tolist()
    accepted = 0
    for number, token in enumerate(drafted):
        row = Row(number, "", 10)
        judgement: Judgement = accept_sampled(
            Proposal([token], q[None]), torch.stack([p, p]), [0, 0], Sampling(seed=5), row
        )
        counts[judgement.tokens[0]] += 1
        accepted += judgement.accepted
        assert judgement.acceptance == [pytest.approx(0.5)]
    assert counts[4] == 0
    assert sum((counts[n] - 6000 * float(p[n])) ** 2 / (6000 * float(p[n])) for n in range(4)) < 21.1  # 3 degrees
    assert accepted / 6000 == pytest.approx(0.5, abs=0.03)


# ---------------------------------------------------------------- what it is for


def test_few_passes_where_the_target_mostly_copies(tokens: Tokens) -> None:
    """A target that learnt to correct: far fewer passes than tokens, and alignment finds back faster than waiting."""
    target = trained_target(tokens)
    sentences = [source for source, _ in pairs(60, seed=6)]
    outputs = target.generate(sentences)
    per_token = sum(map(len, outputs))

    def passes(drafter: Drafter) -> int:
        verified, statistics = verify(target, drafter, sentences, VerifyOptions(longest_draft=48))
        assert verified == outputs
        return int(statistics.summary()["passes"])

    aligned, waiting = passes(TextDrafter(tokens)), passes(TextDrafter(tokens, rule=UniqueNGram))
    perfect = passes(TextDrafter(tokens, lambda texts: [target.text(outputs[sentences.index(text)]) for text in texts]))
    assert perfect <= aligned < waiting < per_token / 2
    assert perfect == len(sentences)


def test_statistics_add_up(tokens: Tokens) -> None:
    target = random_target(tokens, 5)
    outputs = target.generate(SENTENCES)
    _, statistics = verify(target, drafters(target, outputs)["oracle"], SENTENCES, VerifyOptions(longest_draft=100))
    summary = statistics.summary()
    assert summary["passes"] == summary["sentences"] == len(SENTENCES)
    assert summary["one_pass_rate"] == summary["alpha"] == 1 and summary["resync_passes"] == 0
    assert summary["unfinished"] == sum(output[-1] != EOS for output in outputs) > 0
    _, statistics = verify(target, TextDrafter(tokens), SENTENCES)
    for trace, output in zip(statistics.traces, outputs, strict=True):
        assert trace.tokens == len(output) and trace.finished == (output[-1] == EOS)
        assert all(0 <= a <= p for a, p in zip(trace.accepted, trace.proposed, strict=True))
        assert sum(trace.accepted) + trace.passes >= trace.tokens
    assert statistics.total_s >= statistics.target_s + statistics.propose_s + statistics.begin_s > 0
