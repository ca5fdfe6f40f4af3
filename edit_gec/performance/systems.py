"""The systems that stand side by side: text in, corrected text out, whatever happens between.

    run = build(system, setup, stack);  run(["She go home."])  ->  ["She goes home."]

Ours are built here, the others in peers.py. All T5 rows but the slim one write the same text where nothing was
quantised; whether they did is in the result.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edit_gec.errors import InputError
from edit_gec.performance import peers
from edit_gec.performance.peers import Run
from edit_gec.performance.replay import replayed
from edit_gec.performance.setup import Setup, load_corrector, load_target

if TYPE_CHECKING:
    from edit_gec.draft import Drafter
    from edit_gec.target import Target

LARGEST = 256  # sentences that are one batch; more of them (bench --cost) are batched as the product does


@dataclass(frozen=True)
class System:
    """A row of the benchmark."""

    name: str
    build: Callable[[Setup, ExitStack], Run]
    needs: tuple[str, ...] = ()  # of the setup: target, assistant, harper
    module: str = ""  # Python package of a peer
    batches: bool = True  # False: one sentence at a time, whatever the batch
    follows: tuple[str, ...] = ()  # what of it replays streams where the setup says so
    exact: bool = False  # writes what the target writes greedily


def t5(setup: Setup, which: str) -> Run:
    """Our greedy decoding, one decoder step for each token."""
    target = load_target(setup, which)
    return lambda given: [target.text(ids) for ids in target.generate(given, batch_size=len(given))]


def drafted(target: Target, drafter: Drafter) -> Run:
    """The target verifies drafts: text to text, without the product around it."""
    from edit_gec.verify import verify

    def run(given: Sequence[str]) -> list[str]:
        outputs, _ = verify(target, drafter, given, batch_size=len(given))
        return [target.text(ids) for ids in outputs]

    return run


def copied(setup: Setup, *, unique: bool) -> Run:
    """The source is the draft; re-synchronised by unique n-grams (SAD), or by alignment."""
    from edit_gec.draft import Follow
    from edit_gec.resync import Resync, UniqueNGram

    target = load_target(setup)
    return drafted(target, Follow(target.tokens, rule=UniqueNGram if unique else Resync))


def edit5_drafts(setup: Setup) -> Run:
    """EdiT5's correction is the draft, on the target's encoder where they share one."""
    from edit_gec.draft import edit5_drafter

    c = load_corrector(setup, verified=True)
    assert c.verifier is not None
    target = c.verifier.target
    return drafted(target, edit5_drafter(target, c.model, c.tokens, c.options))


def edit5(setup: Setup, *, verified: bool) -> Run:
    """The product's whole path: text to edits to text, alone or with the target."""
    corrector = load_corrector(setup, verified=verified)
    usual = corrector.batch_size

    def run(given: Sequence[str]) -> list[str]:
        corrector.batch_size = len(given) if len(given) <= LARGEST else usual
        return [c.corrected for c in corrector.correct_batch(given, lines=True, markup=False)]

    return run


_T = ("target",)
SYSTEMS = (
    System("transformers", lambda s, _: peers.transformers(s), _T, "transformers", exact=True),
    System(
        "transformers assisted", lambda s, _: peers.transformers(s, assisted=True),
        ("target", "assistant"), "transformers", batches=False, exact=True,
    ),
    System(
        "transformers lookup", lambda s, _: peers.transformers(s, lookup=True),
        _T, "transformers", batches=False, exact=True,
    ),
    System("ctranslate2 float32", lambda s, _: peers.ctranslate2(s, "float32"), _T, "ctranslate2", exact=True),
    System("ctranslate2 int8", lambda s, _: peers.ctranslate2(s, "int8"), _T, "ctranslate2"),
    System("t5", lambda s, _: t5(s, "target"), _T, follows=_T, exact=True),
    System("t5-slim", lambda s, _: t5(s, "slim"), _T, follows=("slim",)),
    System("t5 + copy, SAD", lambda s, _: copied(s, unique=True), _T, follows=_T, exact=True),
    System("t5 + copy", lambda s, _: copied(s, unique=False), _T, follows=_T, exact=True),
    System(
        "t5 + edit5 draft", lambda s, _: edit5_drafts(s), _T, follows=("model", "target"), exact=True,
    ),
    System("edit5", lambda s, _: edit5(s, verified=False), follows=("model",)),
    System("edit5 + t5", lambda s, _: edit5(s, verified=True), _T, follows=("model", "target")),
    System("harper", peers.Harper, ("harper",)),
)  # fmt: skip


def named(name: str) -> System:
    """The system of that name. Raises InputError when there is none."""
    for system in SYSTEMS:
        if system.name == name:
            return system
    raise InputError(f"bench: no system {name!r}; there are {', '.join(repr(system.name) for system in SYSTEMS)}")


def missing(system: System, setup: Setup) -> str | None:
    """Why a system cannot run here, None where it can."""
    if system.module and importlib.util.find_spec(system.module) is None:
        return f"{system.module} is not installed: pip install 'edit-gec[bench]'"
    if system.name == "harper":
        return peers.harper_is_missing(setup.harper)
    absent = [need for need in system.needs if not getattr(setup, need)]
    return f"no {' and no '.join(absent)} given (--{absent[0]} FOLDER)" if absent else None


def build(system: System, setup: Setup, stack: ExitStack) -> Run:
    """A loaded system; `stack` closes what it opened. Where it replays, streams stand in for its choices."""
    run = system.build(setup, stack)
    which = [what for what in system.follows if what in setup.replayed]
    if not which:
        return run
    streams = setup.streams_of(which[0])
    assert streams is not None

    def replaying(given: Sequence[str]) -> list[str]:
        with replayed(streams, edit5="model" in which, target="target" in which or "slim" in which):
            return run(given)

    return replaying
