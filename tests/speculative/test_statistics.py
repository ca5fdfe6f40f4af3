"""What verification counts, also where several threads verify and another takes the counts."""

from __future__ import annotations

import threading

import pytest
from support.tiny_t5 import random_target

from edit_gec.modeling.tokenizer import Tokens
from edit_gec.speculative.statistics import Statistics, Trace
from edit_gec.speculative.verifier import Verifier


def trace(*passes: tuple[int, int, int], finished: bool = True, as_drafted: bool = False) -> Trace:
    """A sentence by its passes: drafted tokens that were read, accepted, and written."""
    made = Trace(finished=finished, draft_is_output=as_drafted)
    for proposed, accepted, written in passes:
        made.add(proposed, accepted, written, [1.0] * accepted + [0.5] * (accepted < proposed))
    return made


def test_passes_after_a_disagreement_that_accept_nothing() -> None:
    made = trace((5, 2, 3), (4, 0, 1), (4, 0, 1), (3, 3, 4))
    assert (made.passes, made.tokens, made.resync_passes) == (4, 9, 2)
    assert (made.reached, made.acceptance) == (2 + 1 + 1 + 1 + 3, 2 + 0.5 + 0.5 + 0.5 + 3)
    assert trace((3, 0, 1), (3, 3, 4)).resync_passes == 0, "the first pass follows no disagreement"
    assert trace((3, 3, 4), (3, 0, 1)).resync_passes == 0, "all before was accepted"


def test_the_summary_by_hand() -> None:
    traces = [trace((4, 4, 5), as_drafted=True), trace((4, 1, 2), (2, 2, 3), finished=False)]
    found = Statistics(traces, begin_s=1.0, propose_s=2.0, resync_s=0.5, edits_s=0.25, target_s=4.0, total_s=8.0)
    summary = found.summary()
    assert (summary["sentences"], summary["unfinished"], summary["tokens"], summary["passes"]) == (2, 1, 10, 3)
    assert (summary["passes_mean"], summary["tokens_per_pass"]) == (1.5, pytest.approx(10 / 3))
    assert summary["accepted_lengths"] == {1: 1, 2: 1, 4: 1}
    assert summary["alpha"] == found.alpha == pytest.approx(7.5 / 8)
    assert (summary["one_pass_rate"], summary["draft_is_output_rate"]) == (0.5, 0.5)
    assert summary["accepted_of_proposed"] == 0.7
    parts = [summary[name] for name in ("draft_s", "verify_s", "align_s", "other_s")]
    assert parts == [2.5, 4.0, 0.75, 0.75] and sum(parts) == found.total_s
    assert Statistics().summary() == {"sentences": 0}


def test_counts_of_two_calls_add_up() -> None:
    one = Statistics([trace((1, 1, 2))], begin_s=1.0, total_s=2.0)
    one.add(Statistics([trace((2, 0, 1))], begin_s=0.5, target_s=3.0, total_s=4.0))
    assert (len(one.traces), one.begin_s, one.target_s, one.total_s) == (2, 1.5, 3.0, 6.0)


def test_no_count_is_lost_or_taken_twice_between_threads(tokens: Tokens) -> None:
    """Verification and the one who takes its statistics share a lock."""
    verifier = Verifier(random_target(tokens, max_length=4))
    window = tokens.encode("She go.")
    threads, rounds = 4, 12
    taken: list[Statistics] = []

    def verify() -> None:
        for _ in range(rounds):
            verifier.verify([window], ["She goes."])
            verifier.count_draft(1.0)

    workers = [threading.Thread(target=verify) for _ in range(threads)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        taken.append(verifier.take_statistics()[0])
    taken.append(verifier.take_statistics()[0])
    assert sum(len(each.traces) for each in taken) == threads * rounds
    assert sum(each.begin_s for each in taken) >= threads * rounds * 1.0
    assert verifier.take_statistics() == (Statistics(), 0), "what is taken is gone"
