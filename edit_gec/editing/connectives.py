"""Connectives: words and phrases that take a comma where they begin a sentence.

    >>> [follows_connective(text) for text in ("However", "I left. In my opinion", "I like tea, for example", "Maybe")]
    [True, True, True, False]

"However it rains" is nearly always an error, and the model is seldom sure of it: its commas there are right more often
than others, so they are a kind of their own (confidence.py). "Now", "then" and "today" are no connectives here: good
writers leave their comma out as often as not.
"""

from __future__ import annotations

import re

OPENERS = (
    "however,therefore,moreover,furthermore,unfortunately,fortunately,luckily,nevertheless,nonetheless,consequently,"
    "additionally,obviously,finally,firstly,secondly,thirdly,lastly,first of all,nowadays,actually,personally,also,"
    "anyway,suddenly,afterwards,thus,hence,otherwise,besides,overall,meanwhile,in conclusion,to conclude,to sum up,"
    "in addition,in general,in the end,in my view,as you know,at the same time,in this way,all in all,in other words,"
    "from my point of view,by the way,in contrast,for this reason,last but not least"
).split(",")  # at the start of a sentence
ASIDES = (
    "for example,for instance,of course,in fact,in my opinion,as a result,on the other hand,on the one hand"
).split(",")  # there, and after "and", "but", "because", "that" or a comma
_OPENING = rf"(?:^|[.!?] )(?i:{'|'.join(OPENERS + ASIDES)})"
_INSIDE = rf"(?:\b(?i:and|but|because|that)|[,;]) (?:{'|'.join(ASIDES)})"
_CONNECTIVE = re.compile(f"(?:{_OPENING}|{_INSIDE})$")


def follows_connective(before: str) -> bool:
    """Whether the text before a place ends with a connective."""
    return bool(_CONNECTIVE.search(before))
