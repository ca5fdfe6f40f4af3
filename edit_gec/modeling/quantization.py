"""Weights in a byte each: rows of integers, each row with a scale of its own.

    digits, scales = round_rows(weight)        weight [N, K] is nearly digits [N, K] * scales [N, 1]
    unpack(pack(tensors))                      nearly the tensors again: what a small model folder holds

A matrix loses 0.7 % (root mean square); the corrections of a 12-layer EdiT5 hardly change (profiles/LOG.md). Weights
are integers on the disk only: a model computes with the floats that `unpack` returns.
"""

from __future__ import annotations

import torch
from torch import Tensor

from edit_gec.errors import ModelError
from edit_gec.modeling.weights import LARGEST, SCALES

MIN_WEIGHTS = 4096  # of a matrix that is packed; smaller ones save little


def round_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """weight [N, K] -> integers [N, K] from -127 to 127, still as floats, and the scales [N] of their rows."""
    largest = torch.linalg.vector_norm(weight, torch.inf, dim=1)
    scales = largest.clamp(min=torch.finfo(torch.float32).tiny) / LARGEST
    return (weight / scales[:, None]).round_(), scales


def pack(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Tensors for a small file: large matrices in int8 with float32 scales, everything else in bfloat16."""
    small: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 2 and tensor.numel() >= MIN_WEIGHTS:
            digits, small[name + SCALES] = round_rows(tensor.float())
            small[name] = digits.to(torch.int8)
        else:
            small[name] = tensor.to(torch.bfloat16)
    return small


def unpack(tensors: dict[str, Tensor], source: str) -> dict[str, Tensor]:
    """The tensors that `pack` was given, approximately; tensors of other files as they are.

    Raises ModelError, naming `source`, for int8 tensors without their scales.
    """
    found = {}
    for name, tensor in tensors.items():
        if tensor.dtype == torch.int8:
            scales = tensors.get(name + SCALES)
            if scales is None or tensor.ndim != 2 or scales.shape != tensor.shape[:1]:
                raise ModelError(f"{source}: {name} is in int8; expected a scale for each row in {name + SCALES}")
            found[name] = tensor.float() * scales.float()[:, None]
        elif not name.endswith(SCALES):
            found[name] = tensor
    return found
