"""What a GPU does, in one run of four minutes: python profiles/gpu/job.py OUT [--device cuda] [--tiny]

    OUT/job.json              each step: its command, seconds, exit status, the end of what it said
    OUT/correctness.json      verified outputs that are the target's own, by dtype and batch
    OUT/MACHINE/*.json, *.png `profile` (case study, eager and compiled) and `bench` at base size
    OUT/traces/               Chrome traces

No network is needed: base sizes have random weights that replay the shipped pair. A step that would begin after the
budget is left out and said. `--tiny` rehearses every step on a CPU, with small sizes. The erosion of a gain by the
batch is in `bench`: sentences a second of "t5" and "edit5 + t5" at 1, 8, 32 and 128.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 110  # seconds of one step
SYSTEMS = ("transformers", "transformers lookup", "ctranslate2 float32", "t5", "t5 + copy", "edit5", "edit5 + t5")


def list_steps(out: Path, device: str, *, tiny: bool) -> dict[str, list[str]]:
    """The commands, the most important first."""
    edit_gec = [sys.executable, "-m", "edit_gec"]
    where = ["--device", device, "--out", str(out)]
    profile = [*edit_gec, "profile", *where, "--repeats", "2" if tiny else "20"]
    small = ["--preset", "edit5-mini,t5-tiny"] if tiny else []
    narrow = "float32" if device == "cpu" else "bfloat16"
    batches = ["1", "8"] if tiny else ["1", "8", "32", "128"]
    size = ["--size", "shipped", "--sentences", "4"] if tiny else ["--size", "base", "--sentences", "128"]
    only = [word for name in (SYSTEMS[3:5] if tiny else SYSTEMS) for word in ("--only", name)]
    return {
        "correctness": [sys.executable, __file__, str(out), "--device", device, "--check", *(["--tiny"] * tiny)],
        "profile, float32": [*profile, *small],
        "profile, narrow": [*profile, *small, "--dtype", narrow],
        "bench": [
            *edit_gec,
            "bench",
            *where,
            *size,
            "--batch",
            *batches,
            "--repeats",
            "1",
            *only,
        ],
        "profile, compiled": [
            *profile,
            "--preset",
            "edit5-mini,t5-tiny",
            "--backend",
            "compiled",
            "--system",
            "t5",
            "edit5",
        ],
    }


def run_steps(out: Path, device: str, *, tiny: bool, budget: float) -> list[dict[str, object]]:
    """Run the steps within so many seconds; each leaves its files even if a later one fails."""
    begun = time.monotonic()
    done: list[dict[str, object]] = []
    for name, command in list_steps(out, device, tiny=tiny).items():
        left = budget - (time.monotonic() - begun)
        step: dict[str, object] = {"step": name, "command": " ".join(map(os.path.basename, command))}
        if left > 5:
            started = time.monotonic()
            try:
                ran = subprocess.run(
                    command, cwd=ROOT, capture_output=True, text=True, timeout=min(left, LONGEST), check=False,
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                )  # fmt: skip
                step |= {"status": ran.returncode, "said": (ran.stdout + ran.stderr)[-4000:]}
            except subprocess.TimeoutExpired:
                step |= {"status": "out of time"}
            step["seconds"] = round(time.monotonic() - started, 1)
        else:
            step["status"] = "left out: the budget is spent"
        done.append(step)
        (out / "job.json").write_text(json.dumps(done, indent=1), encoding="utf-8")
        sys.stdout.write(f"{name}: {step['status']}, {step.get('seconds', 0)} s\n")
        sys.stdout.flush()
    return done


def check(device: str, *, tiny: bool) -> dict[str, str]:
    """How many verified outputs are the target's own, for the shipped pair; in float32 all must be."""
    import torch

    from edit_gec.catalog import DEFAULT_TARGET, find_model
    from edit_gec.lab.performance.sentences import OWN
    from edit_gec.speculative.decode import VerifyOptions, verify
    from edit_gec.speculative.drafters import TextDrafter
    from edit_gec.speculative.target import Target

    found: dict[str, str] = {}
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        target = Target.load(find_model(DEFAULT_TARGET), device=device, dtype=dtype)
        sentences = [sentence for sentence in OWN if target.fits(sentence)][: 3 if tiny else None]
        own = target.generate(sentences)
        for batch in (1, 8, 32):
            verified, _ = verify(target, TextDrafter(target.tokens), sentences, VerifyOptions(batch_size=batch))
            same = sum(a == b for a, b in zip(verified, own, strict=True))
            found[f"{str(dtype).removeprefix('torch.')}, batch {batch}"] = f"{same} of {len(own)}"
            assert dtype != torch.float32 or same == len(own), found
    return found


def main() -> int:
    """Run all steps, or only the check of correctness; 0 if everything ended well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small sizes, for a rehearsal on a CPU")
    parser.add_argument("--budget", type=float, default=230, help="seconds")
    parser.add_argument("--check", action="store_true", help="only write correctness.json")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.check:
        found = check(given.device, tiny=given.tiny)
        (given.out / "correctness.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
        return 0
    steps = run_steps(given.out.resolve(), given.device, tiny=given.tiny, budget=given.budget)
    return int(any(step["status"] != 0 for step in steps))


if __name__ == "__main__":
    sys.exit(main())
