"""Labelled text: edits with their confidence, for text that nobody edited and for pairs that may be false.

    label(Proposals(corrector), [Path("noisy.txt.xz")], Path("DATA/labelled"))
    label(JudgedPairs(judge, tokens), [Path("pairs.tsv")], Path("DATA/labelled"))

        labelled/edits.tsv     file, edits as JSON [[start, end, replacement, confidence], ...], sentence
        labelled/state.json    what is done: the same call goes on from there

Of a sentence that nobody edited, a corrector with a judge proposes edits; of a pair, the judge says of each edit how
likely its source is an error. Training draws each edit with its confidence (labelled_text.py): a soft label. Sentences
without an edit teach nothing and are only counted (break-it-fix-it, Yasunaga and Liang 2021; LM-Critic, Yasunaga et al.
2021). Files have a sentence a line, or columns with tabs between them, of which the last, or last two, count.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from edit_gec.editing.confidence import logistic
from edit_gec.editing.predictor import WindowChanges
from edit_gec.errors import InputError
from edit_gec.text.edits import Change
from edit_gec.text.files import write_json
from edit_gec.text.word_edits import split_change

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.modeling.tokenizer import Tokens
    from edit_gec.speculative.judge import LanguageJudge

EDITS, STATE = "edits.tsv", "state.json"
CHUNK = 256  # sentences between two states
FEWEST_WORDS, MOST_WORDS = 4, 60
# Log-odds that the source of an edit is an error, by what the edit gains: read by eye on 96 synthetic errors.
GAIN_SLOPE, GAIN_OFFSET = 0.55, 2.3


class LabelledSentence(NamedTuple):
    """A sentence, and edits of it with their confidence."""

    text: str
    edits: Sequence[Change]


class Proposals:
    """What a corrector proposes in the last column, however unsure."""

    def __init__(self, corrector: Corrector) -> None:
        self._corrector = corrector.with_settings(0.0, None)

    def __call__(self, lines: Sequence[str]) -> list[LabelledSentence]:
        """The usable sentences with what is proposed in them."""
        texts = [text for line in lines if is_usable(text := line.rpartition("\t")[2].strip())]
        corrections = self._corrector.correct_batch(texts, lines=True, markup=False)
        return [
            LabelledSentence(each.text, [Change(*e.span, e.replacement, e.confidence) for e in each.edits])
            for each in corrections
        ]


class JudgedPairs:
    """The edits from the last column but one, which is the source, to the last one, as a language model judges them."""

    def __init__(self, judge: LanguageJudge, tokens: Tokens) -> None:
        self._judge = judge
        self._tokens = tokens

    def __call__(self, lines: Sequence[str]) -> list[LabelledSentence]:
        """The usable pairs. Raises InputError for a line without two columns."""
        found = []
        for line in lines:
            source, tab, target = line.rpartition("\t")
            if not tab:
                raise InputError(f"{line[:80]!r}: one column; expected a source, a tab and its correction")
            source, target = source.rpartition("\t")[2].strip(), target.strip()
            if is_usable(source):
                edits = split_change(source, Change(0, len(source), target, 1.0)) if source != target else []
                found.append((source, edits))
        pieces = [self._tokens.encode(source) for source, _ in found]
        judged = self._judge.weigh(pieces, [WindowChanges(tuple(edits)) for _, edits in found], kinds=())
        return [
            LabelledSentence(source, list(add_rest(source, [_weigh(source, *each[:2]) for each in edits])))
            for (source, _), edits in zip(found, judged, strict=True)
        ]


def add_rest(source: str, edits: Sequence[Change]) -> Iterator[Change]:
    """The edits, and what is right between them: edits that change nothing, for sure."""
    last = 0
    for edit in [*edits, Change(len(source), len(source), "", 1.0)] if edits else ():
        if last < edit.start:
            yield Change(last, edit.start, source[last : edit.start], 1.0)
        if edit.start < edit.end or edit.replacement:
            yield edit
        last = edit.end


def _weigh(source: str, edit: Change, gain: float) -> Change:
    """An edit with the probability that its source is an error. The judge says little of marks and capitals: they are
    taken as they are."""
    changes_words = _read_words(source[edit.start : edit.end]) != _read_words(edit.replacement)
    return edit._replace(confidence=logistic(GAIN_SLOPE * gain + GAIN_OFFSET) if changes_words else 1.0)


def _read_words(text: str) -> list[str]:
    """The words in small letters."""
    words = ("".join(filter(str.isalnum, word)) for word in text.lower().split())
    return [word for word in words if word]


def label(
    labeller: Callable[[Sequence[str]], list[LabelledSentence]], files: Sequence[Path], output: Path
) -> Iterator[dict[str, int]]:
    """Label the lines of files, or go on with that; yields counts of sentences after each chunk.

    Raises InputError for a file that cannot be read, and for an output that another call made.
    """
    output.mkdir(parents=True, exist_ok=True)
    state = read_state(output, files)
    for path in files:
        lines = islice(read_lines(path), state["done"].get(path.name, 0), None)
        while chunk := list(islice(lines, CHUNK)):
            labelled = labeller(chunk)
            edited = [each for each in labelled if each.edits]
            append(output / EDITS, "".join(format_line(path.name, each) for each in edited), state)
            state["done"][path.name] = state["done"].get(path.name, 0) + len(chunk)
            counts = state["counts"]
            counts["read"] = counts.get("read", 0) + len(labelled)
            counts["with edits"] = counts.get("with edits", 0) + len(edited)
            write_json(output / STATE, state)
            yield dict(counts)


def format_line(name: str, labelled: LabelledSentence) -> str:
    """A line of the output."""
    edits = [[edit.start, edit.end, edit.replacement, round(edit.confidence, 3)] for edit in labelled.edits]
    return f"{name}\t{json.dumps(edits, ensure_ascii=False)}\t{labelled.text}\n"


def append(path: Path, lines: str, state: dict[str, Any]) -> None:
    """Add lines to the output, whose length the state then has; they are on the disk before it."""
    content = lines.encode()
    with path.open("ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    state["bytes"] += len(content)


def read_state(output: Path, files: Sequence[Path]) -> dict[str, Any]:
    """What is done; the output loses what was written after it. Raises InputError for the state of another call."""
    names = [path.name for path in files]
    if len({*names}) < len(names):
        raise InputError("two files of one name: expected different ones, by which the state knows what is done")
    path = output / STATE
    state: dict[str, Any] = {"files": names, "done": {}, "bytes": 0, "counts": {}}
    if path.exists():
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            state = {name: type(empty)(read[name]) for name, empty in state.items()}
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"{path}: not a state ({error}); delete {output} to begin anew") from None
        if state["files"] != names:
            raise InputError(f"{path}: made with other files; take another folder, or delete this one")
    with (output / EDITS).open("ab") as file:
        if file.tell() < state["bytes"]:
            raise InputError(f"{file.name}: shorter than {path} says; delete {output} to begin anew")
        file.truncate(state["bytes"])
    return state


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a file, plain or .xz. Raises InputError for one that cannot be read."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\r\n")
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise InputError(f"{path}: not readable ({error}); expected UTF-8 text, or that as .xz") from None


def is_usable(text: str) -> bool:
    """A sentence of a usual length."""
    return FEWEST_WORDS <= len(text.split()) <= MOST_WORDS
