"""Which edits of a text are wanted, by the settings of the user and the directives of the document.

>>> from edit_gec.text.kinds import parse_names
>>> edits_filter = EditFilter(frozenset(["kubectl"]), parse_names(["case"]))
>>> is_wanted = edits_filter.on("i use Kubectl")
>>> is_wanted(Edit(0, 1, "i", "I", 0.9)), is_wanted(Edit(6, 13, "Kubectl", "kubectl", 0.9))
(False, False)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from edit_gec.text.directives import Region, find_directives
from edit_gec.text.edits import Edit, contains_word
from edit_gec.text.expressions import Matches, find_matches
from edit_gec.text.kinds import Names, name_kind


@dataclass(frozen=True)
class EditFilter:
    """`words`, case folded, stay as they are; `ignored` kinds and types are not wanted, nor edits within a match of one
    of the `patterns`. Directives of the text count, too (directives.py)."""

    words: frozenset[str] = frozenset()
    ignored: Names = field(default_factory=Names)
    patterns: tuple[str, ...] = ()

    def needs_types(self, text: str) -> bool:
        """Whether edits of this text are judged by their ERRANT types, which they must have then."""
        regions = find_directives(text)
        return bool(self.ignored.types) or any(region.names and region.names.types for region in regions)

    def on(self, text: str) -> Callable[[Edit], bool]:
        """Whether an edit of this text is wanted. Raises InputError where the patterns take too long."""
        regions = _LeftAlone(find_directives(text))
        matches = find_matches(self.patterns, text)

        def is_wanted(edit: Edit) -> bool:
            if contains_word(edit.original, self.words) or any(_is_within(each, edit) for each in matches):
                return False
            kind = edit.kind or name_kind(text, *edit.span, edit.replacement)
            return not self.ignored.include(kind, edit.type) and not regions.include(edit, kind)

        return is_wanted


class _LeftAlone:
    """The regions of directives, to be looked up by place."""

    def __init__(self, regions: Iterable[Region]) -> None:
        self.spans: dict[Names | None, list[tuple[int, int]]] = {}
        for region in regions:
            end = region.end + (region.names is None)  # a line is left alone with its end
            self.spans.setdefault(region.names, []).append((region.start, end))
        for spans in self.spans.values():
            spans.sort()
        # the furthest end of all spans up to each
        self.reach = {names: [*accumulate((end for _, end in spans), max)] for names, spans in self.spans.items()}

    def include(self, edit: Edit, kind: str) -> bool:
        """Whether an edit of this kind begins in a region that asks to leave it alone."""
        for names, spans in self.spans.items():
            before = bisect_left(spans, (edit.start + 1, 0))
            is_inside = before > 0 and self.reach[names][before - 1] > edit.start
            if is_inside and (names is None or names.include(kind, edit.type)):
                return True
        return False


def _is_within(matches: Matches, edit: Edit) -> bool:
    """Whether an edit shares a character with a match, or inserts into one."""
    before = bisect_left(matches.starts, edit.end)
    return before > 0 and matches.ends[before - 1] > edit.start
