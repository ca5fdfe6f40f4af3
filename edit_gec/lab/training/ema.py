"""A running average of the weights in training (exponential moving average), on disk as a model folder.

The average of a constant learning rate is about as good as the end of a decay, and needs none: it can be scored at any
time. An update costs one pass over the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from edit_gec.errors import InputError


class Average:
    """The running average of a module's parameters."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self._parameters = dict(model.named_parameters())
        self._average = {name: p.detach().clone() for name, p in self._parameters.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after update `step`, from 1. The first ones weigh more: the start is soon forgotten."""
        decay = min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_([*self._average.values()], [*self._parameters.values()], 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Within it the module has the averaged weights."""
        held = {name: p.data for name, p in self._parameters.items()}
        try:
            for name, p in self._parameters.items():
                p.data = self._average[name]
            yield
        finally:
            for name, p in self._parameters.items():
                p.data = held[name]

    def save(self, path: Path) -> None:
        """Write the average as it is, to go on with."""
        from safetensors.torch import save_file

        save_file({name: tensor.cpu().contiguous() for name, tensor in self._average.items()}, path)

    def load(self, path: Path) -> None:
        """Go on with an average that was written. Raises InputError when it is another model's."""
        from safetensors.torch import load_file

        found = load_file(path)
        if {n: t.shape for n, t in found.items()} != {n: t.shape for n, t in self._average.items()}:
            raise InputError(f"{path}: not the average of this model")
        for name, tensor in found.items():
            self._average[name].copy_(tensor)
