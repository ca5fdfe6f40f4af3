"""A language model judges what an EdiT5 proposes: how much likelier does each change make its sentence?

    prompt    She go to school.\\n
    source    She go to school.
    variant   She goes to school.            gain: log p(variant) - log p(source), after the prompt
    variant   She go to schools.

The confidence of a change is one number from both models
(`JointScale`), and the only one that a threshold is compared with. On capitals and added marks a language model says
little; there its gain is small, and EdiT5 decides.

The prompt is that of a model which has learnt to correct: its likelihoods know what a minimal correction is. A plain
language model has none, and prefers what is frequent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from edit_gec.editing.confidence import log_odds, logistic
from edit_gec.editing.second_pass import shift
from edit_gec.errors import ModelError
from edit_gec.modeling.config import read_config
from edit_gec.speculative import prompt as prompts
from edit_gec.speculative.language_model import LanguageModel, Question
from edit_gec.speculative.prompt import PLACE, Prompt, cut_specials
from edit_gec.speculative.rewordings import RewordingKind, choose_apart, find_rewordings
from edit_gec.text.edits import Change, apply_changes
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.predictor import Window
    from edit_gec.modeling.byte_pairs import BytePairs
    from edit_gec.modeling.tokenizer import Pieces

MOST_GAIN = 8.0  # nats, in either direction; more counts as this
KEY = "judge"  # of config.json


@dataclass(frozen=True)
class JointScale:
    """From EdiT5's confidence and the judge's gain to one confidence; the judge's folder carries fitted values.

    log-odds = first_slope * log-odds(EdiT5's confidence) + gain_slope * gain - rare_slope * rare + offset

    rare: the share of the sentence that is rare words, numbers and marks (editing/lexicon.py); what is written in
    everyday words has more errors. `min_confidence` is the default threshold.

    What the judge itself proposes (rewordings.py) has no confidence of EdiT5's; `priors` has one for each kind. Without
    any the judge proposes nothing.
    """

    first_slope: float = 1.0
    gain_slope: float = 0.0
    rare_slope: float = 0.0
    offset: float = 0.0
    min_confidence: float = 0.5
    priors: Mapping[str, float] = field(default_factory=dict)

    def confidence(self, first: float, gain: float, rare: float = 0.0) -> float:
        """How often such edits are right, 0 to 1. `first` is EdiT5's confidence."""
        most = max(-MOST_GAIN, min(MOST_GAIN, gain))
        odds = self.first_slope * log_odds(first) + self.gain_slope * most - self.rare_slope * rare
        return logistic(odds + self.offset)

    def lowest_first(self, confidence: float) -> float:
        """The confidence of EdiT5 below which no gain lifts an edit to this confidence."""
        return logistic((log_odds(confidence) - self.gain_slope * MOST_GAIN - self.offset) / self.first_slope)

    @classmethod
    def load(cls, folder: Path) -> JointScale:
        """The scale in config.json of a judge's folder. Raises ModelError for missing or wrong entries."""
        entries: Any = read_config(folder).get(KEY)
        names = [each.name for each in fields(cls) if each.name != "priors"]
        expected = f"{folder / 'config.json'}: {KEY} {entries!r}; expected numbers for {', '.join(names)}"
        if not isinstance(entries, dict) or not set(names) <= set(entries):
            raise ModelError(expected)
        values = {name: entries[name] for name in names}
        priors = entries.get("priors", {})
        if not isinstance(priors, dict) or not all(isinstance(value, int | float) for value in values.values()):
            raise ModelError(expected)
        if unknown := set(priors) - {*RewordingKind}:
            raise ModelError(f"{expected}: priors for {sorted(unknown)}; expected {', '.join(RewordingKind)}")
        if not all(isinstance(value, int | float) and 0 < value < 1 for value in priors.values()):
            raise ModelError(f"{expected}: priors {priors!r}; expected shares between 0 and 1")
        scale = cls(**values, priors=priors)
        slopes = min(scale.gain_slope, scale.rare_slope)
        if slopes < 0 or scale.first_slope <= 0 or not 0 < scale.min_confidence <= 1:
            raise ModelError(f"{expected}: first_slope above 0, other slopes not below, min_confidence a share above 0")
        return scale


class LanguageJudge:
    """A language model that judges the changes of an EdiT5 (judged.py). Several threads may use one."""

    def __init__(
        self, model: LanguageModel, scale: JointScale, prompt: Prompt | None = None, words: WordList | None = None
    ) -> None:
        self.model = model
        self.scale = scale
        self.prompt = prompt
        self.words = words
        self._counting = Lock()
        self._asked = self._refused = 0

    @classmethod
    def load(
        cls, folder: Path, scale: JointScale | None = None, words: WordList | None = None, **how: Any
    ) -> LanguageJudge:
        """The judge of a folder, by default with its own scale; `how` is that of LanguageModel.load. `words` is EdiT5's
        list: without it no word is rare.

        Raises ModelError for a prompt without {source}, and as JointScale.load and LanguageModel.load do.
        """
        scale = scale or JointScale.load(folder)
        given = read_config(folder).get(prompts.KEY)
        if given is not None and not (isinstance(given, str) and given.count(PLACE) == 1):
            raise ModelError(f"{folder / 'config.json'}: {prompts.KEY} {given!r}; expected a text with {PLACE} once")
        model = LanguageModel.load(folder, **how)
        return cls(model, scale, None if given is None else plain_prompt(given, model.tokens), words)

    def summary(self) -> dict[str, int]:
        """What it did, for JSON: edits that it was asked about, and those refused."""
        return {"edits": self._asked, "refused": self._refused}

    def lowest_proposed(self, threshold: float) -> float:
        """The confidence of EdiT5 below which no gain lifts an edit to this threshold."""
        return self.scale.lowest_first(threshold)

    def judge(
        self, windows: Sequence[Window], proposed: Sequence[Sequence[Change]], threshold: float
    ) -> list[list[Change]]:
        """The changes of each window whose joint confidence reaches the threshold, with that confidence."""
        pieces = [window.pieces for window in windows]
        own = self.reword(pieces, threshold)
        asked = [
            [*changes, *leave_out_known(each, changes, more)]
            for each, changes, more in zip(pieces, proposed, own, strict=True)
        ]
        found = self.gains(pieces, asked)
        judged: list[list[Change]] = []
        for window, changes, gains in zip(windows, asked, found, strict=True):
            rare = self.words.rare_share(window.pieces.covered) if self.words else 0.0
            sure = [self.scale.confidence(c.confidence, gain, rare) for c, gain in zip(changes, gains, strict=True)]
            joint = [change._replace(confidence=value) for change, value in zip(changes, sure, strict=True)]
            judged.append(choose_apart(change for change in joint if change.confidence >= threshold))
        with self._counting:
            self._asked += sum(map(len, asked))
            self._refused += sum(map(len, asked)) - sum(map(len, judged))
        return judged

    def reword(self, windows: Sequence[Pieces], threshold: float) -> list[list[Change]]:
        """What the judge proposes in each window, with the prior of its kind; only what can reach a threshold."""
        lowest = self.scale.lowest_first(threshold)
        priors = {kind: prior for kind, prior in self.scale.priors.items() if prior >= lowest}
        if not priors:
            return [[] for _ in windows]
        with span(Stage.VERIFY):
            found = find_rewordings(self.model, [self._ask(pieces) for pieces in windows], self.words)
        own = []
        for pieces, rewordings in zip(windows, found, strict=True):
            changes = [each.change._replace(confidence=priors[each.kind]) for each in rewordings if each.kind in priors]
            own.append(shift(changes, pieces.starts[0]) if changes else [])
        return own

    def gains(self, windows: Sequence[Pieces], asked: Sequence[Sequence[Change]]) -> list[list[float]]:
        """By how many nats each change, alone, makes its window likelier."""
        questions = []
        for pieces, changes in zip(windows, asked, strict=True):
            here = shift(changes, -pieces.starts[0]) if changes else []
            questions.append(self._ask(pieces, tuple(apply_changes(pieces.covered, [change]) for change in here)))
        with span(Stage.VERIFY):
            return self.model.gains(questions)

    def _ask(self, pieces: Pieces, variants: tuple[str, ...] = ()) -> Question:
        """A question about a window."""
        return Question(self.prompt.fill(pieces.covered) if self.prompt else "", pieces.covered, variants)


def leave_out_known(pieces: Pieces, known: Sequence[Change], own: Sequence[Change]) -> list[Change]:
    """Those of the judge's own changes of a window that are not known."""
    start = pieces.starts[0] if own else 0
    written = {apply_changes(pieces.covered, [change]) for change in shift(known, -start)} if own else set()
    here = zip(own, shift(own, -start), strict=True)
    return [change for change, moved in here if apply_changes(pieces.covered, [moved]) not in written]


def plain_prompt(text: str, tokens: BytePairs) -> Prompt:
    """A prompt without the special tokens that it names: LanguageModel begins each text itself."""
    prompt = Prompt.parse(text)
    parts = (cut_specials(each, tokens.specials) for each in (prompt.before, prompt.after))
    return Prompt(*("".join(each for each in part if isinstance(each, str)) for part in parts))
