"""Laws 5 and 6 for decoder-only targets: whatever is drafted, the model's own tokens, which are `transformers`' too."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.drafts import SENTENCES, Script, quantile, scripts
from support.strategies import brief, law, nasty
from support.tiny_causal import (
    generate_by_transformers,
    make_vocabulary,
    random_causal_target,
    save_folder,
    save_gguf,
)

from edit_gec.corrector import Corrector
from edit_gec.errors import EditGecError, InputError, ModelError
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.byte_pieces import BytePieces
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.speculative.causal_rows import Prompts, SharedKeys
from edit_gec.speculative.causal_target import CausalTarget
from edit_gec.speculative.decode import VerifyOptions, verify
from edit_gec.speculative.drafters import Drafter, Gamma, NGramDrafter, Proposal, Row, TextDrafter
from edit_gec.speculative.prompt import Prompt, cut_specials
from edit_gec.speculative.realign import UniqueNGram
from edit_gec.speculative.sampling import Purpose, Sampling, draw_tokens, uniform
from edit_gec.speculative.target_changes import find_changes, fold
from edit_gec.speculative.verifier import Verifier
from edit_gec.text.edits import apply, apply_changes

MANY = [f"{sentence}{'!' * n}" for n in range(4) for sentence in SENTENCES][:33]  # more than a batch
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "tied": ("llama", {"tie_word_embeddings": True}),
    "one head each": ("llama", {"num_key_value_heads": 6}),
    "mistral": ("mistral", {"sliding_window": None}),
    "qwen2": ("qwen2", {}),
}
PROMPTS = {
    "line": "Correct: {source}\n",
    "line, from a shell": r"Correct: {source}\n",
    "bare": "{source}\n",
    "word": "Wrong: {source} Right:",
    "marked": "<|endoftext|>Wrong: {source}<|endoftext|>Right:\n",
    "long": "They were late. = They were late.\nIt's there! = It's there!\n" * 3 + "{source} =",
}


def drafters(target: CausalTarget, outputs: list[list[int]]) -> dict[str, Drafter]:
    """Every drafter we have, and some that no one should have."""
    tokens = target.tokens
    return {
        "copy": TextDrafter(tokens),
        "n-gram rule": TextDrafter(tokens, rule=UniqueNGram),
        "other text": TextDrafter(
            tokens, lambda texts: [text.replace("the", "a")[3:] + " And\nmore." for text in texts]
        ),
        "unigrams": NGramDrafter.learn(SENTENCES, tokens, order=1, gamma=Gamma(3)),
        "bigrams": NGramDrafter.learn(SENTENCES, tokens, order=2, gamma=Gamma(4)),
        **scripts(outputs, tokens),
    }


# ---------------------------------------------------------------- law 5


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_output_is_that_of_transformers(kind: str) -> None:
    """One by one, in batches of 8 and in one of 32, decoded plainly and verified."""
    name, shape = KINDS[kind]
    target, oracle = random_causal_target(name, **shape)
    expected = generate_by_transformers(oracle, target, MANY)
    for size, texts in ((1, SENTENCES), (8, MANY), (32, MANY)):
        assert target.generate(texts, batch_size=size) == expected[: len(texts)], size
        verified, _ = verify(target, TextDrafter(target.tokens), texts, VerifyOptions(batch_size=size))
        assert verified == expected[: len(texts)], size


@pytest.mark.parametrize("prompt", PROMPTS)
def test_prompts_are_read_as_transformers_reads_them(prompt: str) -> None:
    """The ids of its own tokenizer, and the outputs after them; with keys that all prompts share and without."""
    from transformers import PreTrainedTokenizerFast

    target, oracle = random_causal_target(seed=1, prompt=PROMPTS[prompt], max_position_embeddings=400)
    make: Any = PreTrainedTokenizerFast
    theirs = make(tokenizer_object=make_vocabulary())
    filled = [Prompt.parse(PROMPTS[prompt]).fill(sentence) for sentence in SENTENCES]
    assert [target.source_ids(sentence) for sentence in SENTENCES] == [theirs(text).input_ids for text in filled]
    expected = generate_by_transformers(oracle, target, SENTENCES)
    for name, drafter in drafters(target, expected).items():
        assert verify(target, drafter, SENTENCES, VerifyOptions(batch_size=4))[0] == expected, name
    assert target.generate(SENTENCES) == expected


@pytest.mark.parametrize(("kind", "seed", "batch_size"), [("llama", 0, 1), ("qwen2", 1, 4), ("llama", 7, 32)])
def test_greedy_output_is_the_targets_own(kind: str, seed: int, batch_size: int) -> None:
    """Ragged rows, batches that join others, outputs that end at once or at their limit; drafts cut or whole."""
    target, _ = random_causal_target(kind, seed)
    outputs = target.generate(SENTENCES)
    assert len({output[-1] in target.ends for output in outputs}) == 2, "some are cut off, some are not"
    for name, drafter in drafters(target, outputs).items():
        for longest in (3, None, 400):
            options = VerifyOptions(batch_size=batch_size, longest_draft=longest)
            verified, statistics = verify(target, drafter, SENTENCES, options)
            assert verified == outputs, (name, longest)
            assert [trace.finished for trace in statistics.traces] == [o[-1] in target.ends for o in outputs]


def test_ties_are_settled_alike() -> None:
    """Each token has a twin that is as likely but for rounding, which depends on what is read together."""
    target, _ = random_causal_target(seed=4)
    assert target.model.output is not None
    rows = target.model.output.weight.data  # [V, d]
    noise = torch.randn(rows[4::2].shape, generator=torch.Generator().manual_seed(0))
    rows[4::2] = rows[3:-1:2] + 1e-7 * noise[: len(rows[3:-1:2])]
    outputs = target.generate(SENTENCES)
    assert outputs == target.generate(SENTENCES, batch_size=3)
    for name, drafter in drafters(target, outputs).items():
        assert verify(target, drafter, SENTENCES, VerifyOptions(batch_size=4))[0] == outputs, name


def test_drafts_from_random_lists() -> None:
    """hypothesis looks for drafts that break the law."""
    target, _ = random_causal_target(seed=3)
    outputs = {sentence: target.generate([sentence])[0] for sentence in SENTENCES}
    some = st.lists(st.sampled_from([target.tokens.end, 0, 2, 5, 6, 7, *outputs[SENTENCES[4]]]), max_size=30)

    @law
    @given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5), st.lists(some, min_size=5, max_size=5),
           st.integers(1, 4), st.integers(1, 30))  # fmt: skip
    def holds(sentences: list[str], drafts: list[list[int]], batch_size: int, longest: int) -> None:
        drafter = Script(lambda row: drafts[(row.number + len(row.tokens)) % 5])
        verified, _ = verify(target, drafter, sentences, VerifyOptions(batch_size=batch_size, longest_draft=longest))
        assert verified == [outputs[sentence] for sentence in sentences]

    holds()


# ---------------------------------------------------------------- law 6


@pytest.mark.parametrize(
    ("sampling", "batch_size"), [(Sampling(seed=7), 4), (Sampling(0.6, top_k=9, top_p=0.9, seed=8), 1)]
)
def test_same_seed_same_samples(sampling: Sampling, batch_size: int) -> None:
    """Drafts that are not sampled: token for token what plain sampling draws."""
    target, _ = random_causal_target("qwen2", 1)
    outputs = target.generate(SENTENCES, sampling)
    for name, drafter in drafters(target, outputs).items():
        options = VerifyOptions(sampling=sampling, batch_size=batch_size)
        assert verify(target, drafter, SENTENCES, options)[0] == outputs, name


class Guesser:
    """A drafter that samples its tokens, all from one distribution q [V]."""

    aligns = False

    def __init__(self, q: torch.Tensor, gamma: int) -> None:
        self.q, self.gamma = q, gamma

    def begin(self, rows: Sequence[Row]) -> None:
        return

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        weights = self.q.expand(self.gamma, -1)
        draws = [
            draw_tokens(
                weights, [uniform(5, row.number, len(row.tokens) + n, Purpose.DRAFT) for n in range(len(weights))]
            )
            for row in rows
        ]
        return [Proposal(tokens, weights) for tokens in draws]


DRAWS = 2000


@pytest.fixture(scope="module")
def speller() -> tuple[CausalTarget, dict[tuple[int, ...], float]]:
    """A target that writes three tokens, each one of three, and the probability of each output by `transformers`."""
    target, oracle = random_causal_target(seed=6, max_length=3, prompt="{source} =")
    with torch.no_grad():
        for weight in (target.model.output.weight, oracle.lm_head.weight):  # type: ignore[union-attr]
            weight *= 0.3
    chances: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(3):
        longer: dict[tuple[int, ...], float] = {}
        for output, chance in chances.items():
            if output and output[-1] in target.ends:
                longer[output] = chance
                continue
            with torch.inference_mode():
                logits = oracle(torch.tensor([[*target.source_ids("a"), *output]])).logits[0, -1]
            weights = logits.topk(3).values.double().softmax(-1).tolist()
            for token, weight in zip(logits.topk(3).indices.tolist(), weights, strict=True):
                longer[(*output, token)] = chance * weight
        chances = longer
    return target, chances


def misfit(outputs: list[list[int]], chances: dict[tuple[int, ...], float]) -> float:
    """Chi-square of outputs and what was expected, as a share of its 0.9999 quantile."""
    counts = Counter(map(tuple, outputs))
    assert set(counts) <= set(chances), "an output that cannot be"
    often = [output for output, chance in chances.items() if chance * len(outputs) >= 5]
    value = sum((counts[o] - chances[o] * len(outputs)) ** 2 / (chances[o] * len(outputs)) for o in often)
    rest = sum(chances.values()) - sum(chances[o] for o in often)
    left = len(outputs) - sum(counts[o] for o in often)
    value += (left - rest * len(outputs)) ** 2 / max(1.0, rest * len(outputs))
    assert len(often) >= 15
    return value / quantile(len(often))


def test_samples_have_the_distribution_of_transformers(
    speller: tuple[CausalTarget, dict[tuple[int, ...], float]],
) -> None:
    """Plainly, after certain drafts and after sampled ones: the histogram is what its logits say."""
    target, chances = speller
    sentences = ["a"] * DRAWS
    _, best = max((chance, output) for output, chance in chances.items())
    likely = list(best)
    q = torch.full((target.entries,), 1e-3, dtype=torch.float64)
    for output in chances:
        q[list(output)] += 0.02
    runs = {
        "plain": target.generate(sentences, Sampling(top_k=3, seed=1), batch_size=1000),
        "one draft": sampled(target, Script(lambda row: likely[len(row.tokens) :]), sentences, seed=2),
        "copies": sampled(target, TextDrafter(target.tokens), sentences, seed=3),
        "sampled drafts": sampled(target, Guesser(q / q.sum(), 2), sentences, seed=4),
    }
    for name, outputs in runs.items():
        assert misfit(outputs, chances) < 1, name
    assert misfit(target.generate(sentences, Sampling(top_k=2, seed=5), batch_size=1000), chances) > 2


def sampled(target: CausalTarget, drafter: Drafter, sentences: Sequence[str], *, seed: int) -> list[list[int]]:
    options = VerifyOptions(sampling=Sampling(top_k=3, seed=seed), batch_size=1000)
    return verify(target, drafter, sentences, options)[0]


# ---------------------------------------------------------------- what it reads


def test_what_all_prompts_begin_with_is_read_once() -> None:
    target, _ = random_causal_target(prompt="She goes to school every day, " * 5 + "{source}\n")
    decoder = target.new_decoder()
    decoder.add_sources(target.encode_shared(["We go.", "they"]))
    head = len(decoder.shared.ids)
    assert head > 20 and min(decoder.lengths) >= head - 1  # its last space may be the sentence's
    rest = [length + len(ids) + 1 for length, ids in zip(decoder.lengths, decoder.pending, strict=True)]
    assert rest == [len(ids) for ids in map(target.source_ids, ("We go.", "they"))]
    assert SharedKeys.read(target.model, ()).count([5, 6]) == 0


def test_a_prompt_costs_no_pass_of_its_own() -> None:
    """A perfect draft is read with its prompt: one pass a sentence."""
    target, _ = random_causal_target()
    outputs = target.generate(SENTENCES)
    calls = []
    handle = target.model.embedding.register_forward_hook(lambda *args: calls.append(1))
    _, statistics = verify(
        target, scripts(outputs, target.tokens)["oracle"], SENTENCES, VerifyOptions(longest_draft=400)
    )
    handle.remove()
    assert all(trace.passes == 1 for trace in statistics.traces) and len(calls) == 1
    assert target.new_decoder().lengths == []


def test_line_ends_read_as_spaces_where_the_correction_is_a_line() -> None:
    target, _ = random_causal_target()
    spaced, _ = random_causal_target(prompt="{source} =")
    assert target.source_ids("a\r\nb\n") == target.source_ids("a  b ")
    assert spaced.source_ids("a\nb") != spaced.source_ids("a b")
    newline = target.tokens.end
    assert newline in target.ends and newline not in spaced.ends and 0 in target.ends & spaced.ends
    she = target.tokens.ids("She")
    assert target.text([*she, newline]) == target.text(she) == "She"
    assert spaced.text([*spaced.tokens.ids("She"), 0]) == "She" and spaced.tokens.ids("She") == she_after_a_space(
        spaced
    )


def she_after_a_space(target: CausalTarget) -> list[int]:
    return list(target.tokens.pairs.encode(" She").ids)


def test_cut_specials() -> None:
    assert cut_specials("a<s>b<s></s>c", {"<s>": 0, "</s>": 1}) == ["a", 0, "b", 0, "", 1, "c"]
    assert cut_specials("a<s>", {}) == ["a<s>"]


# ---------------------------------------------------------------- what it writes, as edits


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> BytePairs:
    folder = tmp_path_factory.mktemp("pairs")
    save_folder(folder)
    return BytePairs.load(folder)


@given(nasty, st.booleans(), st.booleans())
def test_pieces_tile_the_sentence(pairs: BytePairs, text: str, line: bool, spaced: bool) -> None:
    tokens = BytePieces(pairs, line=line, spaced=spaced)
    pieces = tokens.encode(text)
    assert pieces.source == text and list(pieces.ids) == tokens.ids(text)
    assert (0, *pieces.ends[:-1])[: len(pieces)] == pieces.starts
    assert pieces.covered == (text if pieces.ids else "")
    read = tokens.read(text).encode(errors="replace").decode()
    assert tokens.decode(pieces.ids) == " " * spaced + read
    assert b"".join(map(tokens.surface, pieces.ids)).decode() == " " * spaced + read
    assert tokens.surface(tokens.size + 3) == tokens.surface(0) == b"" and not tokens.is_continuation(0)


PLAIN = "abcST .,1é東😀😁\n"  # nothing that folds into something else


@brief
@given(st.text(PLAIN, min_size=1), st.text(PLAIN), st.booleans(), st.booleans())
def test_changes_lead_from_the_sentence_to_the_output(
    pairs: BytePairs, source: str, written: str, line: bool, spaced: bool
) -> None:
    tokens = BytePieces(pairs, line=line, spaced=spaced)
    output = [*tokens.ids(written), tokens.end]
    changes = [*find_changes(tokens.encode(source), source, output, [1.0] * len(output), tokens)]
    assert squeezed(apply_changes(source, changes)) == squeezed(tokens.read(written))


def test_a_piece_that_ends_a_line_has_text() -> None:
    """In some vocabularies a stop and a line end are one piece: the stop is no change."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: n for n, letter in enumerate([*letters, ".Ċ"])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[(".", "Ċ")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokens = BytePieces(BytePairs(tokenizer, None, None), line=True)
    output = [*tokens.ids("We go"), vocabulary[".Ċ"]]
    assert tokens.ends == {vocabulary["Ċ"], vocabulary[".Ċ"]} and tokens.text_of_end(output[-1]) == tokens.ids(".")
    for source, count in (("We go.", 0), ("We goe.", 1), ("We go", 1)):
        changes = [*find_changes(tokens.encode(source), source, output, [0.5] * len(output), tokens)]
        assert len(changes) == count and apply_changes(source, changes) == "We go."


def squeezed(text: str) -> str:
    return "".join(fold(text).split())


def test_a_verifier_finds_the_edits_of_its_output(tokens: Tokens) -> None:
    """EdiT5's vocabulary is another one: its windows are read as text, its drafts are texts."""
    target, _ = random_causal_target("qwen2", 8)
    sentences = [sentence for sentence in SENTENCES if sentence]
    outputs = target.generate(sentences)
    assert any(output[-1] in target.ends for output in outputs)
    for sentence, output in zip(sentences, outputs, strict=True):
        window = tokens.encode(sentence)
        (found,) = Verifier(target).verify([window], [sentence])
        if output[-1] in target.ends:
            changes = find_changes(window, window.covered, output, [1.0] * len(output), target.tokens)
            assert [change[:3] for change in found] == [change[:3] for change in changes]
            assert all(0 <= change.confidence <= 1 for change in found)


def test_a_corrector_with_a_language_model(model_folder: Path, tmp_path: Path) -> None:
    """From a folder and from a GGUF file, with the prompt that is given."""
    oracle = save_folder(tmp_path)
    save_gguf(tmp_path / "tiny.gguf", oracle)
    found = []
    for path in (tmp_path, tmp_path / "tiny.gguf"):
        corrector = Corrector.load(model_folder, target=path, target_prompt=r"{source}\n", verify="exact")
        assert corrector.predictor.is_exact
        found.append(corrector.correct("She go home. They was late."))
        assert apply(found[-1].text, found[-1].edits) == found[-1].corrected
        summary = corrector.predictor.summary()
        assert summary is not None and summary["sentences"] >= 2
    assert found[0].corrected == found[1].corrected
    with pytest.raises(InputError, match="needs its prompt"):
        Corrector.load(model_folder, target=tmp_path)
    with pytest.raises(InputError, match=r"expected \{source\} once"):
        Corrector.load("nowhere", target=tmp_path, target_prompt="Correct:")
    with pytest.raises(InputError, match="give target_prompt"):
        Corrector.load(model_folder, target=tmp_path, target_prefix="grammar: ")


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("prompt", ["Correct:\n", "", "{source} {source}", "{sentence}\n"])
def test_a_prompt_without_its_sentence(prompt: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected \{source\} once") as caught:
        CausalTarget.load(tmp_path, prompt=prompt)
    assert "\n" not in str(caught.value)


def test_folders(tmp_path: Path) -> None:
    """The prompt is given, or stands in config.json; a vocabulary that is larger than the model is refused."""
    save_folder(tmp_path)
    with pytest.raises(InputError, match="needs its prompt"):
        CausalTarget.load(tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "prompt": "{source}\n"}))
    assert CausalTarget.load(tmp_path).prompt == Prompt("", "\n")
    assert CausalTarget.load(tmp_path, prompt="a {source}\n").prompt == Prompt("a ", "\n")
    path.write_text(json.dumps({**config, "eos_token_id": [3, 4]}))
    assert CausalTarget.load(tmp_path, prompt="{source} =").ends == {0, 3, 4}
    save_folder(tmp_path, vocab_size=300)
    with pytest.raises(ModelError, match="the vocabulary has 3"):
        CausalTarget.load(tmp_path, prompt="{source} =")


def test_pieces_that_are_not_made_of_bytes(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models

    save_folder(tmp_path)
    Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=[("a", "b")])).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ModelError, match="not made of bytes"):
        CausalTarget.load(tmp_path, prompt="{source} =")


def test_what_does_not_fit() -> None:
    target, _ = random_causal_target(max_position_embeddings=64)
    longest = target.max_pieces
    assert 0 < longest < 20
    fitting = "a" * longest
    assert target.fits(fitting) and len(target.source_ids(fitting)) + target.limit(fitting) <= 64
    assert not target.fits(fitting + "a")
    with pytest.raises(InputError, match=f"expected at most {longest}"):
        target.generate([fitting + "a"])
    with pytest.raises(EditGecError, match="expected room for a sentence in 16 positions"):
        random_causal_target(max_position_embeddings=16)


def test_nan_is_an_error() -> None:
    target, _ = random_causal_target()
    with torch.no_grad():
        target.model.embedding.weight[:] = torch.nan
    for sampling in (None, Sampling()):
        with pytest.raises(ModelError, match="logits that are not finite"):
            verify(target, TextDrafter(target.tokens), ["She go home."], VerifyOptions(sampling=sampling))


def test_nothing_to_read() -> None:
    target, _ = random_causal_target()
    assert verify(target, TextDrafter(target.tokens), [])[0] == target.generate([]) == []
    decoder = target.new_decoder()
    decoder.add_sources(Prompts([]))
    assert decoder.lengths == []
