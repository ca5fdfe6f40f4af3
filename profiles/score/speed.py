"""errant_parallel + errant_compare against our scoring, same pipeline, same sentences, one process, counts compared.

python profiles/score/speed.py REF.m2 HYP.txt [HYP.txt ...]    (one JSON line per hypothesis; seconds are CPU seconds)
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import errant
from errant.commands import compare_m2, parallel_to_m2

from edit_gec.annotation import m2
from edit_gec.annotation.errant_edits import Extractor
from edit_gec.lab.evaluation import errant_score


def command(main, *words) -> str:
    out = io.StringIO()
    with mock.patch("sys.argv", ["errant", *map(str, words)]), contextlib.redirect_stdout(out):
        main()
    return out.getvalue()


def main(reference: str, hypothesis: str) -> dict[str, object]:
    gold = m2.read_m2(reference)
    annotator = Extractor().errant
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(errant, "load", lambda _: annotator):
        source, theirs = Path(folder, "source"), Path(folder, "hyp.m2")
        source.write_text("".join(" ".join(s.tokens) + "\n" for s in gold), encoding="utf-8")
        started = time.process_time()
        command(parallel_to_m2.main, "-orig", source, "-cor", hypothesis, "-out", theirs)
        table = command(compare_m2.main, "-hyp", theirs, "-ref", reference)
        errant_s = time.process_time() - started
        their_m2 = theirs.read_text(encoding="utf-8")
    fresh = Extractor()  # nothing parsed yet
    started = time.process_time()
    edits = fresh.to_m2([s.tokens for s in gold], [[line.split() for line in m2.read_lines(hypothesis)]])
    score = errant_score.score_edits(edits, gold)
    ours_s = time.process_time() - started
    total = [int(x) for x in next(line for line in table.splitlines() if line[:1].isdigit()).split("\t")[:3]]
    changed = sum(bool(s.annotators[0]) for s in edits)
    return {
        "sentences": len(gold),
        "changed": changed,
        "errant_s": round(errant_s, 2),
        "ours_s": round(ours_s, 2),
        "ratio": round(errant_s / ours_s, 2),
        "tp_fp_fn": total,
        "identical_counts": total == [score.total.tp, score.total.fp, score.total.fn],
        "identical_edits": their_m2 == m2.format_m2(edits),
    }


if __name__ == "__main__":
    for path in sys.argv[2:]:
        sys.stdout.write(json.dumps(main(sys.argv[1], path)) + "\n")
