"""Given streams in place of a model's choices: an untrained model then takes the steps that a trained one takes.

    with replayed(Streams.read("streams.json")):
        target.generate(["She go home."])                   -> the tokens of its stream, one step for each
        corrector.correct("She go home.")                   -> the plan of its stream, its insertions step by step

Everything is computed as always, by the same functions; only what was chosen is replaced, by sentence and position: so
drafts are accepted as far as they agree with the target's stream. The order of pieces is not replayed (0.9 % of
sentences move any).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import local
from types import ModuleType
from typing import TYPE_CHECKING, Any

from edit_gec.errors import InputError
from edit_gec.tokens import EOS

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.target import Target

SURE = 0.999  # probability of a replayed decision, where confidences are computed


@dataclass(frozen=True)
class Stream:
    """What was decided for one sentence."""

    output: list[int]  # the target's tokens, </s> included
    tags: list[int] = field(default_factory=list)  # EdiT5's, one for each piece and the sentinel
    insertions: list[list[int]] = field(default_factory=list)  # the pieces of each slot, in their order


@dataclass(frozen=True)
class Streams:
    """Streams by sentence."""

    by_sentence: dict[str, Stream]

    def of(self, sentence: str) -> Stream:
        """The stream of a sentence. Raises InputError when it was never recorded."""
        try:
            return self.by_sentence[sentence]
        except KeyError:
            raise InputError(f"no stream to replay for {sentence[:40]!r}: it was not recorded") from None

    def token(self, sentence: str, position: int) -> int:
        """What the target writes there; </s> behind the end."""
        output = self.of(sentence).output
        return output[position] if position < len(output) else EOS

    @classmethod
    def read(cls, path: str | Path) -> Streams:
        """What `write` wrote."""
        entries = json.loads(Path(path).read_text(encoding="utf-8"))
        return cls({sentence: Stream(**entry) for sentence, entry in entries.items()})

    def write(self, path: str | Path) -> None:
        """As JSON."""
        entries = {sentence: asdict(stream) for sentence, stream in self.by_sentence.items()}
        Path(path).write_text(json.dumps(entries), encoding="utf-8")


def record(corrector: Corrector, target: Target | None, sentences: Sequence[str]) -> Streams:
    """What a trained pair decides for each sentence, read once; without a target, a T5 that writes EdiT5's text."""
    from edit_gec.plan import realize

    pieces = [corrector.tokens.encode(sentence) for sentence in sentences]
    plans = [corrector.predict([each])[0].plan for each in pieces]
    if target is None:
        written = (realize(*each, corrector.tokens) for each in zip(plans, pieces, strict=True))
        outputs = [[*corrector.tokens.ids(text), EOS] for text in written]
    else:
        outputs = target.generate(sentences)
    streams = {}
    for sentence, output, plan in zip(sentences, outputs, plans, strict=True):
        insertions = [list(ids) for _, ids in sorted(plan.insertions)]
        if list(plan.order) != sorted(plan.order):  # something moved: keep what stays, insert nothing
            plan, insertions = type(plan)(plan.length, tuple(sorted(plan.order))), []
        streams[sentence] = Stream(output, plan.tags(), insertions)
    return Streams(streams)


# ---------------------------------------------------------------- replaying


@contextmanager
def replayed(streams: Streams, *, edit5: bool = True, target: bool = True) -> Iterator[None]:
    """Within the block, EdiT5 and targets decide as the streams say."""
    with ExitStack() as stack:
        if edit5:
            stack.enter_context(_edit5_follows(streams))
        if target:
            stack.enter_context(_target_follows(streams))
        yield


@contextmanager
def swapped(module: ModuleType | type, **functions: Callable[..., Any]) -> Iterator[None]:
    """Other functions under these names, until the block ends."""
    before = {name: getattr(module, name) for name in functions}
    for name, function in functions.items():
        setattr(module, name, function)
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(module, name, function)


class _Calls(local):
    """What the calls that run are about; each thread of a corrector has its own."""

    def __init__(self) -> None:
        self.sentences: dict[int, str] = {}  # of the target's call, by number
        self.batch: list[Stream] = []  # of the sentences that change, in the order in which their slots open
        self.written: dict[int, list[int]] = {}  # into each slot, by its identity


@contextmanager
def _target_follows(streams: Streams) -> Iterator[None]:
    from edit_gec import target, verify

    choose, admit, generate = target.Target.choose, verify.admit, target.Target.generate
    calls = _Calls()

    def replay_choose(self: Target, logits: Any, sampling: Any, places: Sequence[tuple[int, int]]) -> list[int]:
        choose(self, logits, sampling, places)
        return [streams.token(calls.sentences[row], position) for row, position in places]

    def replay_admit(admitted: list[tuple[int, str]], *rest: Any) -> Any:
        calls.sentences.update(admitted)
        return admit(admitted, *rest)

    def replay_generate(self: Target, given: Sequence[str], *rest: Any, **options: Any) -> list[list[int]]:
        calls.sentences.update(enumerate(given))
        return generate(self, given, *rest, **options)

    with swapped(target.Target, choose=replay_choose, generate=replay_generate), swapped(verify, admit=replay_admit):
        yield


@contextmanager
def _edit5_follows(streams: Streams) -> Iterator[None]:
    from edit_gec import decode, insertion, tagging

    choose_tags, open_slots, advance = tagging.choose_tags, insertion.open_slots, insertion.advance
    calls = _Calls()

    def replay_tags(probabilities: list[list[float]], sentence: Any, tokens: Any) -> list[int]:
        choose_tags(probabilities, sentence, tokens)
        stream = streams.of(sentence.source[sentence.starts[0] : sentence.ends[-1]])
        rest = (1 - SURE) / 3
        for n, tag in enumerate(stream.tags):
            probabilities[n] = [SURE if t == tag else rest for t in range(4)]
        if any(stream.tags):
            calls.batch.append(stream)
        return list(stream.tags)

    def replay_slots(*given: Any) -> Any:
        slots = open_slots(*given)
        queue = iter([[*pieces, EOS] for stream in calls.batch for pieces in stream.insertions])
        calls.written = {id(slot): next(queue, [EOS]) for slot in slots}
        calls.batch.clear()
        return slots

    def replay_advance(queue: Any, at: list[int], row: int, choice: int, sure: float, tokens: Any) -> int:
        slot = queue[at[row]]
        stream = calls.written[id(slot)]
        choice = stream[min(len(slot.pieces), len(stream) - 1)]
        return int(advance(queue, at, row, choice, 0.0, tokens))

    with (
        swapped(decode, choose_tags=replay_tags, open_slots=replay_slots),
        swapped(insertion, advance=replay_advance),
    ):
        yield
