r"""The text in which a decoder-only target finds the sentence, and after which it writes the correction.

    >>> Prompt.parse(r"Correct: {source}\n").fill("She go.")
    'Correct: She go.\n'

Special tokens of the model may be written by name ("<|im_start|>"). In the sentence they are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from edit_gec.errors import InputError

KEY = "prompt"  # of config.json
PLACE = "{source}"
ESCAPES = {r"\n": "\n", r"\t": "\t"}  # as a shell hands them over


@dataclass(frozen=True)
class Prompt:
    """What stands before and after the sentence."""

    before: str
    after: str

    @classmethod
    def parse(cls, text: str) -> Prompt:
        """A prompt with {source} where the sentence goes. Raises InputError unless it stands there once."""
        for written, meant in ESCAPES.items():
            text = text.replace(written, meant)
        if text.count(PLACE) != 1:
            raise InputError(f"target prompt {text!r}: expected {PLACE} once, in the place of the sentence")
        return cls(*text.split(PLACE))

    def fill(self, sentence: str) -> str:
        """The prompt of a sentence."""
        return self.before + sentence + self.after

    @property
    def is_line(self) -> bool:
        """Sentence and correction stand on lines of their own: a line end ends an output."""
        return "\n" in self.after

    @property
    def is_spaced(self) -> bool:
        """A word of the prompt stands right before the correction, which begins with a space."""
        return self.after[-1:].strip() != ""


def cut_specials(text: str, specials: Mapping[str, int]) -> list[str | int]:
    """A text as stretches of text and ids of special tokens; text stands first and last.

    >>> cut_specials("<s>Correct: ", {"<s>": 0})
    ['', 0, 'Correct: ']
    """
    names = "|".join(map(re.escape, sorted(specials, key=len, reverse=True)))
    parts = re.split(f"({names})", text) if names else [text]
    return [specials[part] if n % 2 else part for n, part in enumerate(parts)]
