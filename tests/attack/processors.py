"""Does a sentence get the same edits on other processors? `python tests/attack/processors.py DEV/wi-3k.m2 --most 2000`

Sentences are corrected in processes from which features of this processor are hidden (processors.c; Linux on an Intel
processor that lets CPUID fault, and a C compiler): ONNX Runtime and numpy then take the kernels of older ones. Each way
is compared with the one of all features. Prints sentences and edits that differ, and how far confidences do.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from edit_gec.annotation.m2 import read_m2
from edit_gec.corrector import Corrector
from edit_gec.text.detokenize import detokenize

HERE = Path(__file__).parent
AMX = "7.0.edx=3400000"
AVX512 = "7.0.ebx=d0230000 7.0.ecx=5842 7.0.edx=800000 7.1.eax=20"
VNNI = "7.1.eax=10 7.1.edx=10"
PROCESSORS = {
    "all": "",
    "AVX-512 VNNI": AMX,
    "AVX2 with VNNI": f"{AMX} {AVX512}",
    "AVX2": f"{AMX} {AVX512} {VNNI}",
}
Edits = dict[tuple[int, int, str], float]  # place and replacement -> confidence


def correct(path: Path, most: int, precision: Any) -> list[list[tuple[int, int, str, float]]]:
    """The edits of each sentence, in this process."""
    texts = [detokenize(block.tokens).text for block in read_m2(str(path))[:most]]
    corrector = Corrector.load(precision=precision, backend="onnx", threads=1)
    return [
        [(*edit.span, edit.replacement, edit.confidence) for edit in found.edits]
        for found in corrector.correct_batch(texts, formats=["text"] * len(texts))
    ]


def correct_as(hidden: str, library: Path, arguments: argparse.Namespace, precision: str) -> list[Edits]:
    """The same without features of this processor."""
    command = [sys.executable, __file__, str(arguments.path), "--most", str(arguments.most), "--precision", precision]
    preloaded = {"LD_PRELOAD": str(library), "HIDE_CPUID": hidden} if hidden else {}
    done = subprocess.run(command, env={**os.environ, **preloaded}, capture_output=True, text=True, check=True)
    return [{(start, end, new): sure for start, end, new, sure in each} for each in json.loads(done.stdout)]


def compare(name: str, ours: list[Edits], others: list[Edits]) -> None:
    pairs = list(zip(ours, others, strict=True))
    sentences = sum(one.keys() != other.keys() for one, other in pairs)
    edits = sum(len(one.keys() ^ other.keys()) for one, other in pairs)
    moved = sorted(abs(one[key] - other[key]) for one, other in pairs for key in one.keys() & other.keys())
    middle, most = (moved[len(moved) // 2], moved[-1]) if moved else (0.0, 0.0)
    print(
        f"{name}: {sentences} of {len(ours):,} sentences differ, {edits} of {sum(map(len, ours)):,} edits; "
        f"confidence by {middle:.1e} in the median, {most:.1e} at most",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--most", type=int, default=2000)
    parser.add_argument("--precision", help="print the edits of this process instead")
    arguments = parser.parse_args()
    if arguments.precision:
        print(json.dumps(correct(arguments.path, arguments.most, arguments.precision)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "processors.so")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "processors.c"], check=True)
        whole: dict[str, list[Edits]] = {}
        for precision in ("int8", "float32"):
            for name, hidden in PROCESSORS.items():
                found = correct_as(hidden, library, arguments, precision)
                compare(f"{precision}, {name}", whole.setdefault(precision, found), found)
    compare("float32 beside int8", whole["int8"], whole["float32"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
