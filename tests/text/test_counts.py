"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from edit_gec.text.counts import format_count


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 edits"), (1, "1 edit"), (2, "2 edits"), (1_234_567, "1,234,567 edits")]
)
def test_only_one_is_singular(number: int, said: str) -> None:
    assert format_count(number, "edit") == said
