"""Is a text English? Asked only with `language=auto`: a corrector of English must be silent on German.

    >>> confidence("The house that we saw is not the one on the map.")
    1.0
    >>> confidence("Das Haus, das wir gesehen haben, ist nicht das auf der Karte.")
    0.0

The share of English ones among the function words that English and its neighbours do not have in common; a letter of
another alphabet counts as foreign. Where there are none of either, as in "Thanks!", the text is taken for English.
"""

from __future__ import annotations

import re

# Words of one side only: no "is" and "of" (Dutch), "was" (German), "for" (Danish), "to" (Polish), "or" (French).
ENGLISH = frozenset(
    "the and are were been you your they them their she our this that these those there with from not but because "
    "which who what when where how would can could should does about into some any my i'm don't it's it we be "
    "have has had will must very only then than after before".split()
)
FOREIGN = frozenset(
    "der das und ist nicht ein eine einen ich wir sie sind haben auf mit für von zu zum im den dem auch es sehr wie "
    "le la les et est pas une des du je nous vous ils que qui dans pour avec sur au ce cette avons "
    "el los las y por para con una del no se su mis como pero muy fuimos de en "
    "il lo gli di che per sono della nel alla un po e i o os da na em uma com não dos foi "
    "het een van niet zijn naar voor maar ook met dat deze wij "
    "og det er ikke jeg til af på som för att och är inte jag den ett av".split()
) - {"i", "no"}
MIN_ENGLISH = 0.5  # a text of less confidence is left alone
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_OTHER_ALPHABET = re.compile(r"[\u0370-\u1cff\u3040-\ud7ff]")


def confidence(text: str) -> float:
    """How surely a text is English, 0 to 1, judged by its beginning."""
    words = [word.replace("’", "'") for word in _WORD.findall(text[:4000].casefold())]
    english = sum(word in ENGLISH for word in words)
    foreign = sum(word in FOREIGN or bool(_OTHER_ALPHABET.match(word)) for word in words)
    return round(english / (english + foreign), 2) if english + foreign else 1.0
