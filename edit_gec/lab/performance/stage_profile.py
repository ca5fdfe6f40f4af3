"""One profile: the systems timed in turns and taken apart; a result with its pictures and traces.

profile, written = Profiling(setup, texts).run(Path("measured"))        or .run(), which writes nothing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from edit_gec.catalog import DEFAULT_MODEL, find_model
from edit_gec.lab.performance import machine, plots, results, traces
from edit_gec.lab.performance.peers import Run
from edit_gec.lab.performance.sentences import CASE_STUDY, Text
from edit_gec.lab.performance.setup import ONNX, Pair, Setup
from edit_gec.lab.performance.stage_summary import find_disturbance, reduction_factors, summarize
from edit_gec.lab.performance.stages import measure_stages
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

    def run(self, out: Path | None = None) -> tuple[dict[str, Any], list[Path]]:
        """Measure; with `out` write result, pictures and traces under it. Returns the result as plain values, and the
        files.

        Raises InputError for what cannot be measured here.
        """
        setup = self.setup
        setup.check()
        head = results.head("profile", device=setup.device, threads=setup.threads)
        stem = machine.slug("-".join((*self.names, setup.dtype, setup.mode)))
        files = []
        runs = self.build()
        times = measure_stages(runs, self.sources, warm_up=self.warm_up, repeats=self.repeats, device=setup.device)
        systems = {system: summarize(each, len(self.texts)) for system, each in times.items()}
        if setup.mode == ONNX:
            corrector = Pair(setup).corrector
            operators = traces.measure_operators(corrector, self.sources, threads=setup.threads, repeats=self.repeats)
            systems["edit5"]["graphs"] = operators
        elif out is not None:
            files = [out / "traces" / head["machine"]["name"] / f"{stem}-{system}.json.gz" for system in runs]
            for run, file in zip(runs.values(), files, strict=True):
                traces.write_trace(run, self.sources, setup.device, file)
        result = self.describe(head, systems)
        if out is None:
            return result, []
        return result, [*files, *results.save(out, stem, result, plots.plot_stages)]

    def build(self) -> dict[str, Run]:
        """The systems, loaded. Random weights replay the corrections of the texts.

        The vocabularies of all presets begin with the shipped one, so its pieces are theirs.
        """
        setup = self.setup
        if setup.random:
            tokens = Tokens.load(find_model(DEFAULT_MODEL), 0)
            from edit_gec.lab.performance.replay import Streams

            setup = replace(setup, streams=Streams.of_texts(self.texts, tokens))
        return build_staged(Pair(setup), self.systems)

    def describe(self, head: Mapping[str, Any], systems: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """The result as plain values."""
        setup = self.setup
        settings = {
            "systems": self.systems, "presets": self.names if setup.random else (), "device": setup.device,
            "dtype": setup.dtype, "mode": setup.mode, "models": self.names, "texts": len(self.texts),
            "warm_up": self.warm_up, "repeats": self.repeats, "replayed": self.replayed,
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
