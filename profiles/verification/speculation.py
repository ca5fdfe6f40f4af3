"""Speculation, measured and compared with theory (Leviathan et al. 2022): every drafter, greedy and sampling, gammas.

    python profiles/verification/speculation.py SENTENCES RESULT --assistant T5-TINY --count 12 --repeats 2

    E[tokens a pass] = (1 - alpha^(gamma+1)) / (1 - alpha)                             their equation 1
    gain             = E[tokens a pass] / (gamma * c + 1)                              their theorem 3.8
    gain, costed     = (encoder + N * T(1)) / (encoder + passes * (T(gamma+1) + gamma * c * T(1)))

The theory makes three assumptions: acceptance is independent from token to token (in fact errors cluster, so whole runs
are accepted), a pass over gamma + 1 tokens costs as much as a step (not on a CPU: T(q) is measured here), and there is
no encoder. The third line drops the last two. gamma is the number of tokens actually proposed in a pass: a draft ends
with its sentence. c is the drafter's time per drafted token, in target steps.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from edit_gec.catalog import find_model
from edit_gec.errors import InputError
from edit_gec.lab.performance.results import head
from edit_gec.lab.performance.sentences import read_sentences, spread_lengths
from edit_gec.lab.performance.setup import Pair, Setup
from edit_gec.lab.performance.timing import interleave, medians
from edit_gec.speculative.statistics import Statistics, quantile
from edit_gec.speculative.theory import best_gamma, expected_tokens, gain
from edit_gec.text.files import write_json
from edit_gec.text.tables import to_markdown

if TYPE_CHECKING:
    from edit_gec.editing.thresholds import Thresholds
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Tokens, Vocabulary
    from edit_gec.speculative.any_target import AnyTarget
    from edit_gec.speculative.drafters import Drafter
    from edit_gec.speculative.sampling import Sampling

PERFECT = "perfect draft"
DRAFTERS = (
    "copy, SAD", "copy", "edit5 draft", "edit5, shared", "edit5, distilled", "unigram", "bigram", "small t5",
    PERFECT,
)  # fmt: skip
WHOLE = (1, 3, 7, 24)  # tokens of a whole draft that one pass may read
STEPWISE = (1, 3, 5, 7)
ALL = 255  # tokens: a whole text in one pass
WIDTHS = (1, 2, 4, 8, 16, 25)  # tokens of a pass whose time is measured
Say = Callable[[str], None]
Make = Callable[[int, "Sampling | None"], "Drafter"]
Makers = dict[str, tuple[Make, tuple[int, ...]]]  # with its gammas


@dataclass
class DrafterCase:
    """A drafter at one gamma and temperature, and what its runs did."""

    drafter: str
    gamma: int
    temperature: int
    run: Callable[[str], tuple[list[int], Statistics]]
    statistics: Statistics
    same: bool | None = True  # None: it samples its drafts, so only the distribution is the same


def measure_speculation(
    pair: Pair, sentences: Sequence[str], *, learn: Sequence[str] = (), repeats: int = 2, say: Say = lambda line: None
) -> dict[str, Any]:
    """Rows of all available drafters, plain decoding to compare them with, and the time of passes."""
    from edit_gec.lab.performance.drafting import OutputDrafter
    from edit_gec.speculative.sampling import Sampling

    target = pair.target
    makers, skipped = list_drafters(pair, learn)
    for name, why in skipped.items():
        say(f"left out: {name}: {why}")
    sentences = [sentence for sentence in sentences if target.fits(sentence)]
    if not sentences:
        raise InputError("no sentence is short enough for this target")
    outputs = OutputDrafter(target)
    makers[PERFECT] = (lambda gamma, sampling: outputs, (ALL,))
    result: dict[str, Any] = {"skipped": skipped, "rows": [], "plain": {}}
    widths = time_passes(target, sentences, pair.setup.device)
    for temperature in (0, 1):
        sampling = Sampling(seed=1) if temperature else None
        say(f"T = {temperature}: {', '.join(makers)}")
        cases = [
            make_case(target, name, make, gamma, sampling)
            for name, (make, gammas) in makers.items()
            for gamma in gammas
        ]
        basis, seconds = measure_cases(target, cases, sentences, sampling, repeats)
        result["plain"][str(temperature)] = basis
        result["rows"] += [
            compare_with_theory(one, took_s, basis, widths) for one, took_s in zip(cases, seconds, strict=True)
        ]
    return {**result, "pass_s": widths}


# ---------------------------------------------------------------- drafters


def list_drafters(pair: Pair, learn: Sequence[str]) -> tuple[Makers, dict[str, str]]:
    """By name: how to make a drafter, and its gammas; and why others cannot be made."""
    from edit_gec.editing.thresholds import load_thresholds
    from edit_gec.speculative.drafters import (
        Gamma,
        SmallT5Drafter,
        TextDrafter,
        make_edit5_writer,
    )
    from edit_gec.speculative.drafting import DraftingProfile
    from edit_gec.speculative.realign import UniqueNGram
    from edit_gec.speculative.target import Target as T5Target

    target, corrector = pair.target, pair.corrector
    tokens = target.tokens
    profile = pair.profile if isinstance(target, T5Target) else DraftingProfile()
    of_t5 = target.tokens if isinstance(target, T5Target) else corrector.edit5.tokens
    options = load_thresholds(corrector.folder, **profile.thresholds)
    write = make_edit5_writer(corrector.edit5.model, corrector.edit5.tokens, options)
    makers: Makers = {
        "copy, SAD": (lambda gamma, sampling: TextDrafter(tokens, rule=UniqueNGram), WHOLE),
        "copy": (lambda gamma, sampling: TextDrafter(tokens), WHOLE),
        "edit5 draft": (lambda gamma, sampling: TextDrafter(tokens, write), WHOLE),
    }
    skipped = {}
    on_one_encoder = {"edit5, shared": target.edit5, "edit5, distilled": profile.heads}  # above, EdiT5 encodes again
    for name, heads in on_one_encoder.items():
        if heads is not None:
            makers[name] = (share_encoder(heads, of_t5, options), WHOLE)
        else:
            skipped[name] = "no such EdiT5 on the target's encoder"
    if learn:
        makers |= learn_ngrams(learn, tokens)
    else:
        skipped |= dict.fromkeys(("unigram", "bigram"), "no text to learn from: the file has no further sentences")
    if pair.setup.assistant and isinstance(target, T5Target):
        small = pair.load_t5(pair.setup.assistant)
        makers["small t5"] = (lambda gamma, sampling: SmallT5Drafter(small, of_t5, Gamma(gamma), sampling), STEPWISE)
    else:
        skipped["small t5"] = "no small T5 (--assistant FOLDER)"
    return makers, skipped


def share_encoder(heads: EdiT5, tokens: Tokens, options: Thresholds) -> Make:
    """Drafters on the target's encoder."""
    from edit_gec.speculative.drafters import SharedEdiT5Drafter

    return lambda gamma, sampling: SharedEdiT5Drafter(heads, tokens, options)


def learn_ngrams(lines: Sequence[str], tokens: Vocabulary) -> Makers:
    """Drafters of the likeliest next token, counted in these lines."""
    from edit_gec.speculative.drafters import Gamma, NGramDrafter

    def learn_order(order: int) -> tuple[Make, tuple[int, ...]]:
        learnt = NGramDrafter.learn(lines, tokens, order=order, gamma=Gamma(1))
        return (lambda gamma, sampling: NGramDrafter(learnt.following, Gamma(gamma), learnt.end)), STEPWISE[:-1]

    return {"unigram": learn_order(1), "bigram": learn_order(2)}


# ---------------------------------------------------------------- measuring


def measure_cases(
    target: AnyTarget, cases: Sequence[DrafterCase], sentences: Sequence[str], sampling: Sampling | None, repeats: int
) -> tuple[dict[str, Any], list[float]]:
    """What plain decoding takes, and the seconds of each case, timed in turns, one sentence at a time.

    The statistics of the cases are those of the timed runs.
    """
    plain = [target.generate([sentence], sampling)[0] for sentence in sentences]
    for one in cases:
        outputs = [one.run(sentence)[0] for sentence in sentences]
        sampled = sampling is not None and one.drafter == "small t5"
        one.same = None if sampled else outputs == plain
        one.statistics = Statistics()  # the warm-up ends here; what follows is timed
    runs: dict[str, Callable[[str], object]] = {str(n): partial(_timed, one) for n, one in enumerate(cases)}
    runs["plain"] = lambda sentence: target.generate([sentence], sampling)
    runs["encoder"] = lambda sentence: _encode(target, sentence)
    timed = interleave(runs, sentences, repeats=repeats, warm_up=0, device=str(target.device))
    times = {name: sum(medians(t)) for name, t in timed.items()}
    tokens = sum(map(len, plain))
    basis = {
        "tokens": tokens,
        "passes_mean": tokens / len(sentences),  # one for each token
        "passes_p95": quantile([len(output) for output in plain], 0.95),
        "seconds": times["plain"],
        "encoder_s": times["encoder"],
        "step_s": (times["plain"] - times["encoder"]) / tokens,
    }
    return basis, [times[str(n)] for n in range(len(cases))]


def make_case(target: AnyTarget, name: str, make: Make, gamma: int, sampling: Sampling | None) -> DrafterCase:
    """One drafter at one gamma. Each sentence gets a new drafter, so that nothing is remembered."""
    from edit_gec.speculative.decode import VerifyOptions, verify
    from edit_gec.speculative.drafters import prepare_target

    options = VerifyOptions(sampling, batch_size=1, longest_draft=gamma)

    def run(sentence: str) -> tuple[list[int], Statistics]:
        drafter = make(gamma, sampling)
        (output,), statistics = verify(prepare_target(target, drafter), drafter, [sentence], options)
        return output, statistics

    return DrafterCase(name, gamma, int(sampling is not None), run, Statistics())


def _timed(one: DrafterCase, sentence: str) -> None:
    one.statistics.add(one.run(sentence)[1])


def _encode(target: AnyTarget, sentence: str) -> None:
    import torch

    with torch.inference_mode():
        decoder = target.new_decoder()
        decoder.add_sources(target.encode_shared([sentence]))
        decoder.read_pending()


def time_passes(target: AnyTarget, sentences: Sequence[str], device: str, repeats: int = 25) -> dict[int, float]:
    """Median seconds of a target pass over 1, 2, ... tokens, in the middle of a sentence of median length."""
    import torch

    sentence = sorted(sentences, key=len)[len(sentences) // 2]
    sources = target.encode_shared([sentence])
    ids = [*sources.starts, *target.tokens.ids(sentence)]
    ids = (ids * -(-2 * max(WIDTHS) // len(ids)))[: 2 * max(WIDTHS)]
    before = len(ids) // 4
    with torch.inference_mode():
        decoder = target.new_decoder()
        decoder.add_sources(sources)
        decoder.forward([ids[:before]])

        def one(width: int) -> None:
            target.logits(decoder.forward([ids[before : before + width]])).argmax(-1).tolist()
            decoder.roll_back([before])

        runs = {str(width): (lambda _, w=width: one(w)) for width in WIDTHS}
        times = interleave(runs, [None], repeats=repeats, device=device)
    return {int(name): medians(of_jobs)[0] for name, of_jobs in times.items()}


# ---------------------------------------------------------------- comparison with theory


def compare_with_theory(
    one: DrafterCase, took_s: float, basis: Mapping[str, Any], widths: Mapping[int, float]
) -> dict[str, Any]:
    """What a case did, and what the theory says of its alpha and c."""
    s = one.statistics
    traces = one.statistics.traces
    passes = [trace.passes for trace in traces]
    proposed = [n for trace in traces for n in trace.proposed]
    drafted = sum(proposed)
    alpha = s.alpha
    step_s = basis["step_s"]
    c = (s.begin_s + s.propose_s) / max(1, drafted) / step_s
    expected = fmean(expected_tokens(alpha, n) for n in proposed)
    mean_gamma = fmean(proposed)
    passes_expected = basis["tokens"] / expected
    pass_s = fmean(interpolate(widths, n + 1) for n in proposed) / interpolate(widths, 1) * step_s
    costed = basis["encoder_s"] + passes_expected * (pass_s + mean_gamma * c * step_s)
    return {
        "drafter": one.drafter,
        "temperature": one.temperature,
        "gamma": one.gamma,
        "proposed_mean": mean_gamma,
        "alpha": alpha,
        "accepted_of_proposed": sum(sum(t.accepted) for t in traces) / max(1, drafted),
        "c": c,
        "tokens_per_pass": sum(t.tokens for t in traces) / sum(passes),
        "expected_tokens_per_pass": expected,
        "passes_mean": fmean(passes),
        "passes_p50": quantile(passes, 0.5),
        "passes_p95": quantile(passes, 0.95),
        "one_pass_rate": fmean(n == 1 for n in passes),
        "draft_is_output_rate": fmean(t.draft_is_output for t in traces),
        "gain": basis["seconds"] / took_s,
        "predicted_gain_ideal": expected / (mean_gamma * c + 1),
        "predicted_gain": basis["seconds"] / costed,
        "best_gamma_ideal": best_gamma(alpha, c, 24),
        "gain_at_best_ideal": gain(alpha, best_gamma(alpha, c, 24), c),
        "share_drafting": (s.begin_s + s.propose_s) / s.total_s,
        "share_verifying": s.target_s / s.total_s,
        "same_tokens": one.same,
    }


def interpolate(widths: Mapping[int, float], width: int) -> float:
    """Seconds of a pass over so many tokens, between those that were measured; beyond them in a straight line.

    >>> interpolate({1: 1.0, 3: 2.0}, 2), interpolate({1: 1.0, 3: 2.0}, 5)
    (1.5, 3.0)
    """
    sizes = sorted(widths)
    high = next((n for n, size in enumerate(sizes) if size >= width), len(sizes) - 1)
    low, high = (high - 1, high) if high else (0, 1)
    a, b = sizes[low], sizes[high]
    return widths[a] + (widths[b] - widths[a]) * (width - a) / (b - a)


def format_speculation(result: Mapping[str, Any]) -> str:
    """Markdown, after Leviathan's tables 2 and 3: each drafter at its best gamma, then all at their largest.

    bound: the gain of a perfect draft that costs nothing. verifying: the share of the time that the target takes.
    """
    heads = ("drafter", "T", "γ", "α", "c", "tokens a pass", "theory", "passes a sentence", "p95")
    rows = [[*heads, "gain", "bound", "verifying", "theory", "ideal", "same"]]
    names = dict.fromkeys(row["drafter"] for row in result["rows"])
    for temperature in (0, 1):
        plain = result["plain"][str(temperature)]
        passes = [f"{plain['passes_mean']:.2f}", f"{plain['passes_p95']:.0f}"]
        rows.append(["none", str(temperature), "", "", "", "1", "1", *passes, "1", "", "", "1", "1", ""])
        best_rows = {name: _find_best(result["rows"], name, temperature) for name in names}
        bound = float(best_rows[PERFECT]["gain"])
        for name, best in best_rows.items():
            rows.append([name, str(temperature), *_cells(best, bound)])
    longest_rows = [["at the largest γ", *names]]
    for temperature in (0, 1):
        longest = {r["drafter"]: r for r in result["rows"] if r["temperature"] == temperature}
        for key, what in (("alpha", "α"), ("passes_mean", "passes a sentence"), ("one_pass_rate", "in one pass")):
            longest_rows.append([f"{what}, T = {temperature}", *(f"{longest[name][key]:.2f}" for name in names)])
    text = f"{to_markdown(rows)}\n{to_markdown(longest_rows)}"
    return text + "".join(f"\nleft out: {name}: {why}" for name, why in result["skipped"].items()).rstrip() + "\n"


def _find_best(rows: Sequence[Mapping[str, Any]], name: str, temperature: int) -> Mapping[str, Any]:
    """The row of a drafter at its best gamma."""
    own = [row for row in rows if (row["drafter"], row["temperature"]) == (name, temperature)]
    return max(own, key=lambda row: float(row["gain"]))


def _cells(r: Mapping[str, Any], bound: float) -> list[str]:
    forms = {
        "gamma": "d", "alpha": ".2f", "c": ".3f", "tokens_per_pass": ".2f", "expected_tokens_per_pass": ".2f",
        "passes_mean": ".2f", "passes_p95": ".0f", "gain": ".2f", "bound": ".2f", "share_verifying": ".0%",
        "predicted_gain": ".2f", "predicted_gain_ideal": ".2f",
    }  # fmt: skip
    same = {True: "yes", False: "NO", None: "in distribution"}[r["same_tokens"]]
    return [*(format({**r, "bound": bound}[name], form) for name, form in forms.items()), same]


# ---------------------------------------------------------------- command


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, write the result, print the tables; returns the exit status."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="one sentence per line, or M2")
    parser.add_argument("result", type=Path)
    parser.add_argument("--model", default="edit5-mini")
    parser.add_argument("--target", default="t5-mini")
    parser.add_argument("--assistant", default="", help="a small T5 that drafts tokens")
    parser.add_argument("--count", type=int, default=100, help="sentences; n-grams learn from the others")
    parser.add_argument("--repeats", type=int, default=2)
    args = parser.parse_args(argv)
    model, target = (str(find_model(name)) for name in (args.model, args.target))
    found = read_sentences(args.file)
    sentences = spread_lengths(found, args.count, len)
    learn = [each for each in found if each not in set(sentences)]
    setup = Setup(model, target, args.assistant, threads=torch.get_num_threads())
    figures = measure_speculation(Pair(setup), sentences, learn=learn, repeats=args.repeats, say=say)
    result = {**head("speculation"), "threads": setup.threads, "sentences": len(sentences), **figures}
    write_json(args.result, result, indent=1)
    sys.stdout.write(format_speculation(result))
    return 0


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
