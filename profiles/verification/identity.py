"""Is verified output the target's own, on a whole set, whatever drafts? And what each drafter saves.

    python profiles/verification/identity.py wi-3k.m2 profiles/verification/identity.json --assistant models/t5-tiny \
        --learn TEXT --batch 32 1 --count 3000 300
    python profiles/verification/identity.py wi-3k.m2 profiles/verification/identity-bf16.json --dtype bfloat16
    python profiles/verification/identity.py wi-3k.m2 profiles/verification/passes.json --batch 8 --whole

Each drafter at each batch size, against plain greedy decoding of the same sentences, long ones in the parts that
`--set verify=exact` reads: sentences whose tokens are the same (with the margins of those that are not, see
exactness.py), target passes, acceptance, and seconds as a ratio to plain decoding in the same
run. `--count` gives the number of sentences for each batch size. `--whole`: a pass reads all that was drafted, as on a
GPU, not only what pays on a CPU.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from exactness import find_flips, summarize_flips
from speculation import list_drafters

from edit_gec.catalog import find_model
from edit_gec.editing.windows import fitting_windows
from edit_gec.lab.performance import machine
from edit_gec.lab.performance.sentences import read_sentences
from edit_gec.lab.performance.setup import Pair, Setup
from edit_gec.speculative.causal_target import CausalTarget
from edit_gec.speculative.decode import VerifyOptions, verify
from edit_gec.speculative.drafters import prepare_target
from edit_gec.speculative.target import Target

GAMMA = {"unigram": 1, "bigram": 3, "small t5": 5}  # whole drafts: as many as one pass reads


def row(
    target: Target | CausalTarget,
    drafter: Any,
    sentences: list[str],
    own: list[list[int]],
    batch: int,
    longest: int | None,
) -> dict[str, Any]:
    target = prepare_target(target, drafter)
    begun = perf_counter()
    outputs, statistics = verify(target, drafter, sentences, VerifyOptions(batch_size=batch, longest_draft=longest))
    seconds = perf_counter() - begun
    return {**summarize_flips(len(sentences), find_flips(target, sentences, own, outputs)), "seconds": seconds} | {
        "statistics": statistics.summary()
    }


def table(result: dict[str, Any]) -> str:
    lines = ["| drafter | batch | identical | passes, mean / p50 / p95 | tokens a pass | alpha | one pass "
             "| draft = output | gain |", "|---|---:|---:|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for r in result["rows"]:
        s = r["statistics"]
        passes = f"{s['passes_mean']:.2f} / {s['passes_p50']:g} / {s['passes_p95']:g}"
        rates = f"{s['tokens_per_pass']:.2f} | {s['alpha']:.3f} | {s['one_pass_rate']:.2f}"
        lines += [
            f"| {r['drafter']} | {r['batch']} | {r['identical']} of {r['sentences']} | {passes} | {rates} "
            f"| {s['draft_is_output_rate']:.2f} | {r['gain']:.2f} |"
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--model", default="edit5-mini")
    parser.add_argument("--target", default="t5-mini")
    parser.add_argument("--assistant", default="")
    parser.add_argument("--learn", type=Path)
    parser.add_argument("--batch", type=int, nargs="+", default=[32])
    parser.add_argument("--count", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--only", nargs="+", help="these drafters")
    args = parser.parse_args()
    folders = [str(find_model(name)) if name else "" for name in (args.model, args.target, args.assistant)]
    model, target_folder, assistant = folders
    threads = torch.get_num_threads()
    setup = Setup(model, target_folder, assistant, dtype=args.dtype, threads=threads)
    pair = Pair(setup)
    target = pair.target
    learn = args.learn.read_text(encoding="utf-8").splitlines() if args.learn else []
    makers, skipped = list_drafters(pair, learn)
    makers = {name: make for name, make in makers.items() if not args.only or name in args.only}
    result: dict[str, Any] = {"machine": machine.describe("cpu"), "dtype": args.dtype, "left out": skipped, "rows": []}
    everything = [
        part.covered
        for text in read_sentences(args.file)
        for part in fitting_windows(target.tokens.encode(text), target.fits)
    ]
    for batch, count in zip(args.batch, args.count, strict=True):
        some = everything[:: max(1, len(everything) // count)][:count]
        sentences = sorted(some, key=len)  # plain decoding takes them as they come: batches of one length
        begun = perf_counter()
        own = target.generate(sentences, batch_size=batch)
        plain = perf_counter() - begun
        for name, (make, _) in makers.items():
            found = row(
                target, make(GAMMA.get(name, 0), None), sentences, own, batch, target.max_length if args.whole else None
            )
            found |= {"drafter": name, "batch": batch, "gain": plain / found["seconds"], "plain_s": plain}
            result["rows"].append(found)
            sys.stderr.write(f"{name}, batch {batch}: {found['identical']} of {len(sentences)}\n")
            args.result.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(table(result))


if __name__ == "__main__":
    main()
