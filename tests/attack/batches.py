"""Does a sentence's result depend on its batch? `python tests/attack/batches.py --seconds 300`

Odd and ordinary texts are read alone and in batches of six, with every edit that the model can think of (no threshold
hides one). Prints how many texts differ in their plan, and by how much confidences differ; status 1 where a plan does.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path
from typing import NamedTuple

from edit_gec.corrector import Corrector

PROSE = Path(__file__).parent.parent.parent / "data" / "samples" / "prose.txt"
ODD = [
    "e\u0301",
    "👩\u200d🚒",
    "\u2028",
    "\u00a0",
    "the the",
    "becuase",
    "I From",
    "\u202e",
    "<extra_id_3>",
    "</s>",
    "각",
]
ODD += ["1.5", "  ", ",,", ".", "!!", "ﬁ", "a", "go", "goed", "dont", "Teh", "\x85", "''", '"', "(", "“", "x" * 40]


def odd_text(chance: random.Random, words: list[str]) -> str:
    """Repetitions, things that are no words, or a mixture with ordinary ones."""
    kind = chance.randrange(4)
    if kind == 0:
        return " ".join([chance.choice(ODD) for _ in range(chance.randrange(1, 4))] * chance.randrange(1, 30))
    if kind == 1:
        return "".join(chance.choice(ODD) for _ in range(chance.randrange(1, 60)))
    share = 0.35 if kind == 2 else 0.0
    return " ".join(chance.choice(ODD if chance.random() < share else words) for _ in range(chance.randrange(2, 50)))


class Comparison(NamedTuple):
    """What a batch of six texts found."""

    windows: int
    edits: int
    differing: int  # windows whose plan differs
    largest: float  # difference of two confidences


def make_eager(corrector: Corrector) -> Corrector:
    """One that makes every edit that the model can think of."""
    return corrector.with_thresholds(min_confidence=0.0, keep_bias=-1.0)


def compare(corrector: Corrector, seed: int, words: list[str]) -> Comparison:
    """Read six texts in one batch, and each of them alone."""
    chance = random.Random(seed)
    found = [corrector.predictor.encode(odd_text(chance, words)) for _ in range(6)]
    windows = [window for of_text in found for window in of_text if len(window)]
    edits = differing = 0
    largest = 0.0
    for window, together in zip(windows, corrector.edit5.predict_plans(windows), strict=True):
        (alone,) = corrector.edit5.predict_plans([window])
        edits += len(alone.confidence)
        differing += alone.plan != together.plan
        for piece in alone.confidence.keys() & together.confidence.keys():
            largest = max(largest, abs(alone.confidence[piece] - together.confidence[piece]))
    return Comparison(len(windows), edits, differing, largest)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="edit5-mini")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--backend", default="auto", choices=("auto", "onnx", "torch"))
    parser.add_argument("--precision", default="auto", choices=("auto", "float32", "int8"))
    arguments = parser.parse_args()
    words = PROSE.read_text(encoding="utf-8").split()
    corrector = make_eager(
        Corrector.load(arguments.model, backend=arguments.backend, precision=arguments.precision, threads=1)
    )
    batches: list[Comparison] = []
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        batches.append(compare(corrector, len(batches), words))
    windows, edits, differing = (sum(batch[n] for batch in batches) for n in range(3))
    print(
        f"{len(batches)} batches, {windows} windows, {edits} edits: "
        f"{differing} plans differ, confidences by {max(batch.largest for batch in batches):.1e} at most"
    )
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
