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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from edit_gec.editing.confidence import log_odds, logistic
from edit_gec.editing.second_pass import shift
from edit_gec.errors import ModelError
from edit_gec.modeling.config import read_config
from edit_gec.speculative import prompt as prompts
from edit_gec.speculative.language_model import LanguageModel, Question
from edit_gec.speculative.prompt import PLACE, Prompt, cut_specials
from edit_gec.speculative.rewordings import Rewording, RewordingKind, choose_apart, find_rewordings, touch
from edit_gec.text.edits import Change, apply_changes
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.predictor import Window, WindowChanges
    from edit_gec.modeling.byte_pairs import BytePairs
    from edit_gec.modeling.tokenizer import Pieces

MOST_GAIN = 8.0  # nats, in either direction; more counts as this
NO_RIVAL = -3.0  # log-odds above which a change rivals others; it and the next are round numbers, not fitted
MOST_RIVALRY = 4.0
LEAST_DOUBT = 0.3  # of EdiT5, for a sentence without proposals to be read: 13 of 1,450 edits have less (LOG.md)
KEY = "judge"  # of config.json


class JudgedChange(NamedTuple):
    """A change that is judged. `kind` is None where EdiT5 proposes it, with its confidence."""

    change: Change
    gain: float
    kind: RewordingKind | None = None


@dataclass(frozen=True)
class JointScale:
    """From EdiT5's confidence and the judge's gain to one confidence; the judge's folder carries fitted values.

    alone    = first_slope * log-odds(EdiT5's confidence) + gain_slope * gain - rare_slope * rare + offset
    alone    = own_slope * gain - rare_slope * rare + the prior of its kind            of what the judge itself proposes
    log-odds = alone - rival_slope * rivalry

    rare: the share of the sentence that is rare words, numbers and marks (editing/lexicon.py); what is written in
    everyday words has more errors. rivalry: how sure the surest other change in the place of a rewording is. Without
    priors the judge proposes nothing. `min_confidence` is the default threshold.
    """

    first_slope: float = 1.0
    gain_slope: float = 0.0
    rare_slope: float = 0.0
    offset: float = 0.0
    min_confidence: float = 0.5
    own_slope: float = 0.0
    rival_slope: float = 0.0
    priors: Mapping[str, float] = field(default_factory=dict)  # log-odds of each RewordingKind

    def confidences(self, candidates: Sequence[JudgedChange], rare: float) -> list[float]:
        """How often such changes of one sentence are right, 0 to 1."""
        alone = [self.alone(each, rare) for each in candidates]
        found = []
        for each, odds in zip(candidates, alone, strict=True):
            found.append(logistic(odds - self.rival_slope * weigh_rivals(each, candidates, alone)))
        return found

    def alone(self, candidate: JudgedChange, rare: float) -> float:
        """The log-odds of a change, whatever else is proposed."""
        gain = max(-MOST_GAIN, min(MOST_GAIN, candidate.gain))
        if candidate.kind:
            return self.own_slope * gain - self.rare_slope * rare + self.priors[candidate.kind]
        first = self.first_slope * log_odds(candidate.change.confidence)
        return first + self.gain_slope * gain - self.rare_slope * rare + self.offset

    def lowest_first(self, confidence: float) -> float:
        """The confidence of EdiT5 below which nothing lifts an edit to this confidence."""
        most = self.gain_slope * MOST_GAIN + self.offset
        return logistic((log_odds(confidence) - most) / self.first_slope)

    def able_kinds(self, confidence: float) -> frozenset[str]:
        """The kinds of rewordings that can reach a confidence."""
        most = self.own_slope * MOST_GAIN
        return frozenset(kind for kind, prior in self.priors.items() if prior + most >= log_odds(confidence))

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
        known = isinstance(priors, dict) and set(priors) <= {*RewordingKind}
        if not known or not all(isinstance(value, int | float) for value in (*values.values(), *priors.values())):
            raise ModelError(f"{expected}, and priors for some of {', '.join(RewordingKind)}")
        scale = cls(**values, priors=priors)
        slopes = (scale.gain_slope, scale.rare_slope, scale.own_slope, scale.rival_slope)
        if min(slopes) < 0 or scale.first_slope <= 0 or not 0 < scale.min_confidence <= 1:
            raise ModelError(f"{expected}: first_slope above 0, other slopes not below, min_confidence a share above 0")
        return scale


def weigh_rivals(candidate: JudgedChange, candidates: Sequence[JudgedChange], alone: Sequence[float]) -> float:
    """How sure the surest other change in the place of one that the judge proposes is, 0 if there is none.

    `alone` are the log-odds of the candidates. What an EdiT5 proposes has no rivals.
    """
    if candidate.kind is None:
        return 0.0
    pairs = zip(candidates, alone, strict=True)
    rivals = (odds for each, odds in pairs if each is not candidate and touch(each.change, candidate.change))
    return min(max(max(rivals, default=NO_RIVAL) - NO_RIVAL, 0.0), MOST_RIVALRY)


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

    def judge(self, windows: Sequence[Window], drafts: Sequence[WindowChanges], threshold: float) -> list[list[Change]]:
        """The changes of each window whose joint confidence reaches the threshold, with that confidence."""
        weighed = self.weigh([window.pieces for window in windows], drafts, self.scale.able_kinds(threshold))
        judged: list[list[Change]] = []
        for window, candidates in zip(windows, weighed, strict=True):
            rare = self.words.rare_share(window.pieces.covered) if self.words else 0.0
            sure = self.scale.confidences(candidates, rare)
            joint = [c.change._replace(confidence=value) for c, value in zip(candidates, sure, strict=True)]
            judged.append(choose_apart(change for change in joint if change.confidence >= threshold))
        with self._counting:
            self._asked += sum(map(len, weighed))
            self._refused += sum(map(len, weighed)) - sum(map(len, judged))
        return judged

    def weigh(
        self, windows: Sequence[Pieces], drafts: Sequence[WindowChanges], kinds: Collection[str]
    ) -> list[list[JudgedChange]]:
        """What is drafted in each window, and behind it what the judge proposes of these kinds, each with its gain.

        A window without changes in which EdiT5 doubts no piece by LEAST_DOUBT is not read.
        """
        weighed: list[list[JudgedChange]] = [[] for _ in windows]
        asked = [n for n, each in enumerate(drafts) if each.changes or (kinds and each.doubt >= LEAST_DOUBT)]
        with span(Stage.VERIFY):
            for reading in self.model.read([self._ask(windows[n]) for n in asked]):
                numbers = [asked[source.number] for source in reading.sources]
                own = find_rewordings(reading, self.model.tokens, self.words) if kinds else [[] for _ in numbers]
                wanted = ([each for each in found if each.kind in kinds] for found in own)
                variants = [
                    list_variants(windows[n], drafts[n].changes, more) for n, more in zip(numbers, wanted, strict=True)
                ]
                gains = self.model.compare(reading, [[each.text for each in found] for found in variants])
                for n, found, of_each in zip(numbers, variants, gains, strict=True):
                    pairs = zip(found, of_each, strict=True)
                    weighed[n] = [JudgedChange(each.change, gain, each.kind) for each, gain in pairs]
        return weighed

    def _ask(self, pieces: Pieces) -> Question:
        """A question about a window."""
        return Question(self.prompt.fill(pieces.covered) if self.prompt else "", pieces.covered)


class Variant(NamedTuple):
    """A window with one change."""

    text: str
    change: Change
    kind: RewordingKind | None


def list_variants(pieces: Pieces, proposed: Sequence[Change], own: Sequence[Rewording]) -> list[Variant]:
    """A window with each change that is proposed, and with each rewording that makes another text of it."""
    start, text = pieces.starts[0] if pieces.starts else 0, pieces.covered
    variants = [Variant(apply_changes(text, shift([change], -start)), change, None) for change in proposed]
    known = {variant.text for variant in variants}
    rewordings = (Variant(apply_changes(text, [change]), shift([change], start)[0], kind) for change, kind in own)
    return [*variants, *(variant for variant in rewordings if variant.text not in known)]


def plain_prompt(text: str, tokens: BytePairs) -> Prompt:
    """A prompt without the special tokens that it names: LanguageModel begins each text itself."""
    prompt = Prompt.parse(text)
    parts = (cut_specials(each, tokens.specials) for each in (prompt.before, prompt.after))
    return Prompt(*("".join(each for each in part if isinstance(each, str)) for part in parts))
