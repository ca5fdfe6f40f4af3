"""The systems that are measured: text in, corrected text out, whatever happens between.

    run = find_system("t5").build(Pair(setup));  run(["She go home."])  ->  ["She goes home."]

SYSTEMS stand side by side in `bench`, OF_LANGUAGE_MODELS where the target is one; peers.py builds those that are not
ours. All rows of a target write the same text where nothing was quantised; whether they did is in the result. STAGED
are those that `profile` takes apart:

    t5                 the target alone: one decoder step for each token
    edit5-sequential   EdiT5 alone with one slot after the other, as in the paper
    edit5              the same with all slots at once, as `edit-gec correct` runs it
    verified           EdiT5 drafts, the target verifies
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.errors import InputError
from edit_gec.lab.evaluation.checkers import CHECKERS
from edit_gec.lab.performance import peers
from edit_gec.lab.performance.peers import Run
from edit_gec.lab.performance.setup import ONNX, Pair, Setup

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.speculative.any_target import AnyTarget

LARGEST = 256  # sentences that are one batch; more of them (bench --cost) are batched as the product does


@dataclass(frozen=True)
class System:
    """A row of a table."""

    name: str
    build: Callable[[Pair], Run]
    needs: tuple[str, ...] = ()  # of the setup: model, target, assistant
    module: str = ""  # Python package of a peer
    batches: bool = True  # False: one sentence at a time, whatever the batch
    follows: bool = False  # it takes the steps of the setup's streams, where there are any
    exact: bool = False  # writes what the target writes greedily


def run_target(target: AnyTarget) -> Run:
    """Our greedy decoding, one decoder step for each token."""
    return lambda given: [target.text(ids) for ids in target.generate(given, batch_size=len(given))]


def run_copies(target: AnyTarget, *, unique: bool) -> Run:
    """The source is the draft; re-synchronised by unique n-grams (SAD), or by alignment."""
    from edit_gec.lab.performance.drafting import Verification
    from edit_gec.speculative.drafters import TextDrafter
    from edit_gec.speculative.realign import Realigner, UniqueNGram

    return Verification(target, TextDrafter(target.tokens, rule=UniqueNGram if unique else Realigner))


def run_drafts(pair: Pair) -> Run:
    """EdiT5's correction is the draft, on the target's encoder where they share one."""
    from edit_gec.lab.performance.drafting import Verification
    from edit_gec.speculative.drafters import make_edit5_drafter

    target, edit5 = pair.target, pair.corrector.edit5
    return Verification(target, make_edit5_drafter(target, edit5.model, edit5.tokens, edit5.thresholds))


def run_outputs(target: AnyTarget) -> Run:
    """The target's own output is the draft: the bound of all drafts."""
    from edit_gec.lab.performance.drafting import OutputDrafter, Verification

    return Verification(target, OutputDrafter(target))


def run_corrector(corrector: Corrector) -> Run:
    """The product's whole path: text to edits to text, alone or with the target."""

    def run(given: Sequence[str]) -> list[str]:
        size = len(given) if len(given) <= LARGEST else corrector.batch_size
        sized = replace(corrector, batch_size=size)
        return [c.corrected for c in sized.correct_batch(given, lines=True, markup=False)]

    return run


def run_onnx(setup: Setup, precision: str) -> Run:
    """The product by ONNX Runtime."""
    return run_corrector(Pair(replace(setup, mode=ONNX, dtype=precision)).corrector)


def onnx_is_missing(setup: Setup) -> str | None:
    """Why ONNX Runtime cannot run the model of a setup, None where it can."""
    if setup.random or setup.streams is not None or setup.device != "cpu":
        return "random weights, replays and GPUs are torch's"
    from edit_gec.backends.sessions import has_graphs

    return None if has_graphs(Path(setup.model)) else f"{setup.model} has no graphs (edit-gec export)"


def build_checker(name: str) -> Callable[[Pair], Run]:
    """What builds a checker that is not ours."""
    return lambda _: peers.RuleChecker(name)


ONNX_RUNTIME = "onnxruntime"
_T = ("target",)
_BOTH = ("model", "target")


def list_of_target(name: str) -> tuple[System, ...]:
    """The systems of every target; `name` stands for it in theirs."""
    return (
        System("transformers", lambda p: peers.run_transformers(p), _T, "transformers", exact=True),
        System(
            "transformers assisted", lambda p: peers.run_transformers(p, assisted=True),
            ("target", "assistant"), "transformers", batches=False, exact=True,
        ),
        System(
            "transformers lookup", lambda p: peers.run_transformers(p, lookup=True),
            _T, "transformers", batches=False, exact=True,
        ),
        System(name, lambda p: run_target(p.target), _T, follows=True, exact=True),
        System(f"{name} + copy, SAD", lambda p: run_copies(p.target, unique=True), _T, follows=True, exact=True),
        System(f"{name} + copy", lambda p: run_copies(p.target, unique=False), _T, follows=True, exact=True),
        System(f"{name} + edit5 draft", lambda p: run_drafts(p), _BOTH, follows=True, exact=True),
        System("edit5", lambda p: run_corrector(p.corrector), ("model",), follows=True),
    )  # fmt: skip


SYSTEMS = (
    *list_of_target("t5"),
    System(
        "ctranslate2 float32", lambda p: peers.run_ctranslate2(p.setup, "float32"), _T, "ctranslate2", exact=True,
    ),
    System("ctranslate2 int8", lambda p: peers.run_ctranslate2(p.setup, "int8"), _T, "ctranslate2"),
    System("edit5 onnx", lambda p: run_onnx(p.setup, "float32"), ("model",), ONNX_RUNTIME),
    System("edit5 onnx int8", lambda p: run_onnx(p.setup, "int8"), ("model",), ONNX_RUNTIME),
    System("edit5 + t5", lambda p: run_corrector(p.verified(respelt=False)), _T, follows=True),
    *(System(name, build_checker(name)) for name in CHECKERS),
)  # fmt: skip
OF_LANGUAGE_MODELS = (
    *list_of_target("lm"),
    System("lm + own output", lambda p: run_outputs(p.target), _T, exact=True),
)


def list_systems(setup: Setup) -> tuple[System, ...]:
    """The systems that are measured with the target of a setup, a T5 or a language model."""
    return OF_LANGUAGE_MODELS if setup.is_causal else SYSTEMS


def find_system(name: str, systems: Sequence[System] = SYSTEMS) -> System:
    """The system with that name. Raises InputError when there is none."""
    for system in systems:
        if system.name == name:
            return system
    raise InputError(f"bench: no system {name!r}; there are {', '.join(repr(system.name) for system in systems)}")


STAGED = (
    find_system("t5"),
    System("edit5-sequential", lambda p: run_corrector(p.corrector.with_thresholds(sequential=True)), ("model",)),
    find_system("edit5"),
    System("verified", lambda p: run_corrector(p.verified()), _BOTH),
)


def missing(system: System, setup: Setup) -> str | None:
    """Why a system cannot run here, None where it can."""
    if system.name in CHECKERS:
        return CHECKERS[system.name].missing()
    if system.module and importlib.util.find_spec(system.module) is None:
        return f"{system.module} is not installed: pip install '.[bench]' in edit-gec's folder"
    if system.module == ONNX_RUNTIME:
        return onnx_is_missing(setup)
    absent = [need for need in system.needs if not getattr(setup, need)]
    return f"no {' and no '.join(absent)} given (--{absent[0]} FOLDER)" if absent else None


def build_staged(pair: Pair, names: Sequence[str]) -> dict[str, Run]:
    """The systems of STAGED with these names, all that the setup has models for if there are none, on one pair.

    Raises InputError for a system that lacks its model.
    """
    possible = {system.name: system for system in STAGED if not missing(system, pair.setup)}
    if absent := [name for name in names if name not in possible]:
        kinds = {"t5": "a T5", "verified": "both an EdiT5 and a T5"}
        raise InputError(f"system {absent[0]} needs {kinds.get(absent[0], 'an EdiT5')}; add a --preset or a --model")
    return {name: possible[name].build(pair) for name in names or possible}
