"""One profile: the systems timed in turns and traced; a result with its pictures and traces.

profile, written = Profiling(setup, texts).write(Path("measured"))      or .measure(), which writes nothing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from edit_gec.catalog import DEFAULT_MODEL, find_model
from edit_gec.lab.performance import machine, plots, results, torch_profiler
from edit_gec.lab.performance.peers import Run
from edit_gec.lab.performance.replay import Streams
from edit_gec.lab.performance.sentences import CASE_STUDY, Text
from edit_gec.lab.performance.setup import Pair, Setup
from edit_gec.lab.performance.stage_summary import Measured, find_disturbance, reduction_factors, summarize
from edit_gec.lab.performance.stages import TimedRuns, measure_stages
from edit_gec.lab.performance.systems import build_staged
from edit_gec.modeling.tokenizer import Tokens


@dataclass(frozen=True)
class Profiling:
    """What to profile, and how often. `names` are the models as they were asked for."""

    setup: Setup
    texts: Sequence[Text]
    systems: tuple[str, ...] = ()  # of STAGED; none: all that the models allow
    names: tuple[str, ...] = ()
    warm_up: int = 2
    repeats: int = 20
    traced: int = 2

    def measure(self) -> dict[str, Any]:
        """The result as plain values; no file is left. Raises InputError for what cannot be measured here."""
        with TemporaryDirectory(prefix="edit-gec-profile-") as folder:
            return self.write(Path(folder))[0]

    def write(self, out: Path, name: str | None = None) -> tuple[dict[str, Any], list[Path]]:
        """Measure; write result, pictures and traces under `out`. Returns the result as plain values, and the files.

        Raises InputError for what cannot be measured here.
        """
        setup = self.setup
        setup.check()
        head = results.head("profile", device=setup.device, threads=torch.get_num_threads())
        stem = name or machine.slug("-".join((*self.names, setup.dtype, setup.mode)))
        traces = out / "traces" / head["machine"]["name"]
        with ExitStack() as stack:
            runs = self.build(stack)
            times = self.time(runs)
            files = {system: traces / f"{stem}-{system}.json.gz" for system in runs}
            systems = {
                system: summarize(self.inspect(run, times[system], files[system])) for system, run in runs.items()
            }
        result = self.describe(head, systems)
        typical = {system: each.typical() for system, each in times.items()}
        written = results.save(out, stem, result, lambda made, path: plots.plot_profile(made, typical, path))
        return result, [*files.values(), *written]

    def build(self, stack: ExitStack) -> dict[str, Run]:
        """The systems, loaded. Random weights replay the corrections of the texts.

        The vocabularies of all presets begin with the shipped one, so its pieces are theirs.
        """
        setup = self.setup
        if setup.random:
            tokens = Tokens.load(find_model(DEFAULT_MODEL), 0)
            path = Path(stack.enter_context(TemporaryDirectory(prefix="edit-gec-profile-"))) / "streams.json"
            Streams.of_texts(self.texts, tokens).write(path)
            setup = replace(setup, streams=str(path), replayed=("model", "target"))
        return build_staged(Pair(setup), self.systems, stack)

    def time(self, runs: Mapping[str, Run]) -> dict[str, TimedRuns]:
        """All runs by the wall clock."""
        how = {"warm_up": self.warm_up, "repeats": self.repeats}
        return measure_stages(runs, self.sources, device=self.setup.device, **how)

    def inspect(self, run: Run, times: TimedRuns, file: Path) -> Measured:
        """What the runs of a system are made of; `file` gets its trace."""
        device = self.setup.device
        trace = torch_profiler.trace_runs(run, self.sources, repeats=self.traced, device=device, file=file)
        return Measured(times, trace, len(self.texts))

    def describe(self, head: Mapping[str, Any], systems: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """The result as plain values."""
        setup = self.setup
        settings = {
            "systems": self.systems, "presets": self.names if setup.random else (), "device": setup.device,
            "dtype": setup.dtype, "mode": setup.mode, "models": self.names, "texts": len(self.texts),
            "warm_up": self.warm_up, "repeats": self.repeats, "traced": self.traced, "replayed": self.replayed,
        }  # fmt: skip
        return {
            **head,
            "settings": settings,
            "systems": systems,
            "reduction": reduction_factors(systems),
            "disturbed": find_disturbance(systems, head["machine"]["load"]),
            "case_study": list(self.texts) == [CASE_STUDY],
        }

    @property
    def sources(self) -> list[str]:
        """The sentences themselves."""
        return [text.source for text in self.texts]

    @property
    def replayed(self) -> str | None:
        """What random weights are made to write, in words; None for trained weights."""
        if not self.setup.random:
            return None
        if list(self.texts) == [CASE_STUDY]:
            of_case = "27 of T5, 10 of EdiT5 (<extra_id_1> I was <extra_id_6> ...)"
            return f"random weights write the case study's tokens: {of_case}"
        return "random weights write the corrections that were given"
