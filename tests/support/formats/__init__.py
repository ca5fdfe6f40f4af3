"""Documents in each format that has a reader of its own, for the laws of readers (tests/text/test_readers.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Samples:
    """Documents of one format, and what its reader makes of them.

    seen: a document and its sentences, "~" before a fragment. staying: what a sentence shows as it is and keeps.
    inline: a sentence, what is shown of it (None: all), and what of that stays. literal: how a block that is no prose
    begins and ends, and what such a block cannot hold. openers: what is costly to read if it has no end.
    """

    format: str
    seen: Sequence[tuple[str, list[str]]]
    staying: Sequence[str]
    inline: Sequence[tuple[str, str | None, list[str]]]
    literal: Sequence[tuple[str, str, str]]
    texts: st.SearchStrategy[str]
    openers: Sequence[str]


def joined(pieces: Sequence[str]) -> st.SearchStrategy[str]:
    """Texts of a format's marks in any order, and any other text."""
    return st.lists(st.sampled_from(pieces)).map("".join) | st.text()
