"""Lists of ids -> the tensors that networks read."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

IGNORE = -100  # a target that no loss counts; the value that torch's losses ignore by default


def pad(lists: Sequence[Sequence[int]], value: int, length: int = 0) -> Tensor:
    """N lists of integers -> one tensor [N, longest], or [N, length] where that is longer; `value` fills it up."""
    longest = max(length, *map(len, lists))
    return torch.tensor([[*numbers, *[value] * (longest - len(numbers))] for numbers in lists])
