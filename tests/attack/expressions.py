"""Regular expressions of users against hostile lines. `python tests/attack/expressions.py --count 500`

Random expressions, and some that are known to be slow, are read as settings are and searched for in long lines of few
letters: each search ends within `--seconds` of processor time, in a result or one line. In short lines they find what
Python's own engine finds. Status 1 where one does not, or above `--megabytes`.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import sys
import time
import warnings

from edit_gec.config.settings import parse
from edit_gec.errors import InputError
from edit_gec.text.expressions import find_matches

ATOMS = (
    "a", "b", ".", r"\w", r"\s", "[ab]", "[^b]", "x", r"\b", "^", "$", "{", "{{", "}", "(?=a)", "(?<!b)", r"\d",
    r"[\W_]",
)  # fmt: skip
REPEATS = ("", "", "*", "+", "?", "*?", "+?", "{2,}", "{1,300}", "{0,50}", "{e}")
LINE = "a" * 100_000
TEXTS = (
    LINE, f"{LINE}!\nbx1", f"{LINE[:3000]}!\nbx1", "ab" * 50_000, "ab " * 30_000, "{{ a }} " * 12_000, "a\n" * 50_000,
    "é" * 100_000,
)  # fmt: skip
SLOW = (
    "a*a*a*b", "(a+)+$", "(a|a)*b", "(?:a?){300}a{300}b", r"(\w+\s?)*!", "(.*a){20}b", r"(a|b|ab)*\1x", "(?=(a+))a*b+$",
    r"(a+)\1*b", "(a|aa)*x",
)  # fmt: skip


def make(random: random.Random, depth: int = 2) -> str:
    """An expression of a few parts, repeated, chosen among and nested."""
    parts = []
    for _ in range(random.randint(1, 4)):
        inner = f"({make(random, depth - 1)})" if depth and random.random() < 0.4 else random.choice(ATOMS)
        parts.append(inner + random.choice(REPEATS))
    return random.choice(("", "|")).join(parts)


def agrees(pattern: str, text: str) -> bool:
    """Whether it finds in a short text what Python's own engine finds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [each.span() for each in re.finditer(pattern, text, re.MULTILINE) if each.end() > each.start()]
    (found,) = find_matches([pattern], text)
    return list(zip(found.starts, found.ends, strict=True)) == expected


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--megabytes", type=float, default=200)
    arguments = parser.parse_args()
    source = random.Random(arguments.seed)
    patterns = [*SLOW, *(make(source) for _ in range(arguments.count - len(SLOW)))]
    refused = stopped = searched = differ = 0
    slowest = (0.0, "")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for pattern in patterns:
        try:
            parse({"ignore-regex": [pattern]}, "edit-gec.toml")
        except InputError:
            refused += 1
            continue
        for text in (source.choice(TEXTS), source.choice(TEXTS)):
            begun = time.process_time()
            try:
                find_matches([pattern], text)
            except InputError:
                stopped += 1
            slowest = max(slowest, (time.process_time() - begun, pattern))
            searched += 1
        short = "".join(source.choices("ab x{}e\n1", k=12))
        if not agrees(pattern, short):
            differ += 1
            print(f"differs: {pattern!r} in {short!r}")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{len(patterns)} expressions, {refused} refused, {differ} unlike re; {searched} searches, {stopped} stopped")
    print(f"longest {slowest[0]:.1f} s ({slowest[1]!r}), {grown:.0f} MB more")
    return int(slowest[0] > arguments.seconds or grown > arguments.megabytes or differ > 0)


if __name__ == "__main__":
    sys.exit(main())
