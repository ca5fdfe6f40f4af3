"""How many passes a decoder-only target takes, by drafter, and whether all of them write what `transformers` writes.

    python profiles/verification/causal.py --target models/smollm2 --prompt PROMPT --file SENTENCES --out causal.json

One line for each drafter: passes and accepted tokens a sentence, whole drafts in batches of --batch. Outputs are
compared with our own greedy decoding, and with `generate` of `transformers` (--compare: of so many sentences). Seconds
are the processor's.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from edit_gec.corrector import Corrector
from edit_gec.modeling.bases import find_base
from edit_gec.speculative.causal_target import CausalTarget
from edit_gec.speculative.decode import VerifyOptions, cut_at_end, verify
from edit_gec.speculative.drafters import Drafter, TextDrafter
from edit_gec.speculative.realign import UniqueNGram


def make_drafters(target: CausalTarget, corrected: dict[str, str], outputs: dict[str, str]) -> dict[str, Drafter]:
    """Copies by both rules, EdiT5's corrections, two texts, and the bound: the output itself."""
    tokens = target.tokens
    return {
        "copy, SAD": TextDrafter(tokens, rule=UniqueNGram),
        "copy": TextDrafter(tokens),
        "edit5": TextDrafter(tokens, lambda texts: [(corrected[text],) for text in texts]),
        "edit5 and source": TextDrafter(tokens, lambda texts: [(corrected[text], text) for text in texts]),
        "perfect": TextDrafter(tokens, lambda texts: [(outputs[text],) for text in texts]),
    }


def generate_by_transformers(target: CausalTarget, file: Path, sentences: Sequence[str]) -> list[list[int]]:
    """Greedy outputs of `transformers`, one sentence at a time."""
    from transformers import AutoModelForCausalLM

    make: Any = AutoModelForCausalLM
    model = make.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32).eval()
    outputs = []
    for sentence in sentences:
        ids = torch.tensor([target.source_ids(sentence)])
        written = model.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=target.limit(sentence),
            eos_token_id=sorted(target.ends), pad_token_id=0,
        )  # fmt: skip
        outputs.append(cut_at_end(written[0, ids.shape[1] :].tolist(), target.ends))
    return outputs


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and the processor's seconds: others use this machine, too."""
    begun = time.process_time()
    return run(), time.process_time() - begun


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--prompt")
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--compare", type=int, default=0)
    parser.add_argument("--draft", type=int, help="most tokens of a draft that a pass reads (default: all)")
    args = parser.parse_args()
    sentences = args.file.read_text(encoding="utf-8").splitlines()
    target = CausalTarget.load(args.target, prompt=args.prompt)
    corrections = Corrector.load().correct_batch(sentences, lines=True, markup=False)
    corrected = {c.text: c.corrected for c in corrections}
    plain, seconds = timed(lambda: target.generate(sentences, batch_size=args.batch))
    say(f"greedy: {sum(map(len, plain)) / len(plain):.2f} tokens a sentence, {seconds:.1f} s")
    texts = {s: target.text(o) for s, o in zip(sentences, plain, strict=True)}
    options = VerifyOptions(batch_size=args.batch, longest_draft=args.draft or target.max_length)
    rows: dict[str, Any] = {"greedy": {"tokens": sum(map(len, plain)), "seconds": seconds}}
    for name, drafter in make_drafters(target, corrected, texts).items():
        (outputs, statistics), took = timed(lambda d=drafter: verify(target, d, sentences, options))  # type: ignore[misc]
        summary = statistics.summary()
        rows[name] = {**summary, "same": sum(a == b for a, b in zip(outputs, plain, strict=True)), "seconds": took}
        say(
            f"{name}: {rows[name]['same']} of {len(plain)} the same, {summary['passes_mean']:.2f} passes, "
            f"{summary['tokens_per_pass']:.1f} tokens a pass, alpha {summary['alpha']:.3f}, in one pass "
            f"{summary['one_pass_rate']:.2f}, read {summary['verified_per_token']:.2f} a token, {took:.1f} s, "
            f"gain {seconds / took:.2f}",
        )
    if args.compare:
        given = sentences[: args.compare]
        theirs, took = timed(lambda: generate_by_transformers(target, find_base(args.target), given))
        same = sum(a == b for a, b in zip(theirs, plain[: len(given)], strict=True))
        rows["transformers"] = {"same": same, "of": len(given), "seconds": took}
        say(f"transformers: {same} of {len(given)} the same, {took:.1f} s")
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
