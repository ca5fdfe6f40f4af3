"""Test sets: from files, or by the name of a published corpus in a data folder, in the layout of its publication.

    find_test_sets("jfleg-dev", Path("data"))   ->  data/jfleg/dev/dev.src, dev.ref0 ... dev.ref3  ->  [TestSet]

Nothing is downloaded: where a corpus is absent, the error says where to get it and under which licence.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from edit_gec.annotation import m2
from edit_gec.annotation.m2 import M2Sentence, read_lines
from edit_gec.errors import InputError, MissingExtraError
from edit_gec.text.rows import read_table


@dataclass(frozen=True)
class TestSet:
    """Sentences with gold edits (`m2`), with reference lines (`references`, one list per annotator), or clean ones.

    `lines` holds tokens joined by a space, or raw text where `raw` is set.
    """

    __test__ = False  # not a pytest class
    name: str
    lines: list[str]
    metric: str
    m2: list[M2Sentence] = field(default_factory=list)
    references: list[list[str]] = field(default_factory=list)
    raw: bool = False

    @cached_property
    def digest(self) -> str:
        """Eight hex digits over sources and references."""
        parts = [*self.lines, m2.format_m2(self.m2), *(line for ref in self.references for line in ref)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]

    @cached_property
    def corrected(self) -> list[list[str]]:
        """The corrected lines, one list per annotator. Where an annotator gave no edits, the line is the source."""
        if self.references:
            return self.references
        names = sorted({k for sentence in self.m2 for k in sentence.annotators})
        return [[" ".join(m2.apply_edits(s.tokens, s.annotators.get(k, []))) for s in self.m2] for k in names]


class Benchmark(NamedTuple):
    """A row of corpora.tsv."""

    metric: str
    sources: list[str]
    references: list[str]
    get: str


CORPORA: dict[str, Benchmark] = {}
GROUPS: dict[str, list[str]] = {}  # one name stands for several sets
for _name, _group, _metric, _sources, _references, _get in read_table(Path(__file__).with_name("corpora.tsv"))[1:]:
    CORPORA[_name] = Benchmark(_metric, _sources.split(), _references.split() if _references != "-" else [], _get)
    GROUPS.setdefault(_group, []).append(_name)
GROUPS.pop("-")
HUB = "hf:"


def find_test_sets(name: str, data: Path | None) -> list[TestSet]:
    """The test sets of a name: a corpus, a group of them, or `hf:repository[:split]` on the Hugging Face hub.

    Raises InputError where the name is unknown or the files are absent.
    """
    if name.startswith(HUB):
        return [load_hub_set(name[len(HUB) :])]
    if name in GROUPS:
        return [one for member in GROUPS[name] for one in find_test_sets(member, data)]
    if name not in CORPORA:
        raise InputError(f"benchmark '{name}' is unknown: expected {', '.join([*GROUPS, *CORPORA])} or hf:REPOSITORY")
    corpus = CORPORA[name]
    if data is None:
        raise InputError(f"benchmark '{name}' needs a data folder: give --data or EDIT_GEC_DATA; get it: {corpus.get}")
    source = next((data / pattern for pattern in corpus.sources if (data / pattern).is_file()), None)
    if source is None:
        raise InputError(f"benchmark '{name}': no {data / corpus.sources[0]}; get it: {corpus.get}")
    if corpus.metric == "errant":
        return [read_m2_set(source, name)]
    if corpus.metric == "false-alarms":
        return [read_clean_set(source, name)]
    pattern = corpus.references[corpus.sources.index(str(source.relative_to(data).as_posix()))]
    references = [p for i in range(10) if (p := data / pattern.format(i=i)).is_file()]
    if not references:
        raise InputError(f"benchmark '{name}': no {data / pattern.format(i=0)}; get it: {corpus.get}")
    return [read_parallel_set(source, references, corpus.metric, name)]


def read_m2_set(path: str | Path, name: str = "") -> TestSet:
    """Gold edits of an M2 file."""
    sentences = m2.read_m2(path)
    return TestSet(name or Path(path).stem, [" ".join(s.tokens) for s in sentences], "errant", m2=sentences)


def read_parallel_set(source: str | Path, references: Sequence[str | Path], metric: str, name: str = "") -> TestSet:
    """Tokenised source and reference files, one sentence per line. Raises InputError where line counts differ."""
    lines = [line.strip() for line in read_lines(source)]
    columns = [[line.strip() for line in read_lines(r)] for r in references]
    for path, column in zip(references, columns, strict=True):
        if len(column) != len(lines):
            raise InputError(f"{path}: {len(column)} lines, {source} has {len(lines)}; same set?")
    return TestSet(name or Path(source).name, lines, metric, references=columns)


def read_clean_set(path: str | Path, name: str = "") -> TestSet:
    """Raw sentences without errors, one per line; empty lines do not count."""
    return TestSet(name or Path(path).name, read_lines(path), "false-alarms", raw=True)


def load_hub_set(repository: str) -> TestSet:
    """A data set with columns `sentence` and `corrections` (as jhu-clsp/jfleg has), from the hub or a local folder.

    `repository` may end in :split; otherwise its validation split is taken. Raises InputError where it does not load.
    """
    path, _, split = repository.partition(":")
    try:
        datasets = importlib.import_module("datasets")
    except ImportError:
        raise MissingExtraError("hf: benchmarks need the datasets library: pip install datasets") from None
    try:
        rows = datasets.load_dataset(path, split=split or "validation")
    except Exception as error:  # the library raises many kinds: network, absent repository, absent split
        raise InputError(f"hf:{repository} does not load: {str(error).splitlines()[0]}") from None
    if not {"sentence", "corrections"} <= set(rows.column_names):
        raise InputError(f"hf:{repository}: expected columns sentence and corrections, found {rows.column_names}")
    lines = [row.strip() for row in rows["sentence"]]
    columns = [[c.strip() for c in column] for column in zip(*rows["corrections"], strict=True)]
    return TestSet(f"{Path(path).name}-{split or 'validation'}", lines, "gleu", references=columns)
