"""Lists of ids -> the tensors that networks read."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from edit_gec.modeling.tokenizer import EOS, Tokens

IGNORE = -100  # a target that no loss counts; the value that torch's losses ignore by default


def wrap(ids: Sequence[int], tokens: Tokens) -> list[int]:
    """Source ids as an EdiT5's encoder reads them: sentinel <extra_id_0>, pieces, </s>."""
    return [tokens.slot(0), *ids, EOS]


def pad(lists: Sequence[Sequence[int]], value: int, length: int = 0) -> Tensor:
    """N lists of integers -> one tensor [N, longest], or [N, length] where that is longer; `value` fills it up."""
    longest = max(length, *map(len, lists))
    return torch.tensor([[*numbers, *[value] * (longest - len(numbers))] for numbers in lists])
