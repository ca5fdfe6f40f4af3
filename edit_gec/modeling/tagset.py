"""The tags of an EdiT5: whether a piece stays, and whether something is inserted there.

    KEEP      the piece stays
    DELETE    the piece goes
    INSERT    the piece stays, something is written after it
    REPLACE   the piece goes, something is written in its place

The numbers are rows of the tag head and of the tag embedding: a trained model depends on them.
"""

from __future__ import annotations

from enum import IntEnum


class Tag(IntEnum):
    """A tag of a piece; a tag list [S] holds them or equal integers, as they come from a tensor."""

    KEEP = 0
    DELETE = 1
    INSERT = 2
    REPLACE = 3


KEEP, DELETE, INSERT, REPLACE = Tag  # a global is looked up faster than a member of an enum
