"""Muon for matrices and AdamW for the rest, as the one optimizer that a Trainer wants.

Muon (Jordan et al. 2024) orthogonalises each matrix update with a Newton-Schulz iteration; here, at 12 layers and two
cores, it was worth several times AdamW's progress per pair. Both parts come from torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from edit_gec.errors import InputError


class MuonAdamW(torch.optim.Optimizer):
    """Two optimizers in one. Their parameter groups are shared, so schedulers reach both."""

    def __init__(self, matrices: list[dict[str, Any]], rest: list[dict[str, Any]]):
        """Parameter groups, {"params": ..., "lr": ...} each, for Muon and for AdamW."""
        if not hasattr(torch.optim, "Muon"):
            raise InputError(f"torch {torch.__version__} has no Muon; training needs torch 2.9 or newer")
        super().__init__([*matrices, *rest], {})
        self.muon = torch.optim.Muon(matrices, weight_decay=0.0, ns_steps=4, adjust_lr_fn="match_rms_adamw")
        self.adamw = torch.optim.AdamW(rest, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
        self._share()

    def _share(self) -> None:
        self.param_groups = [*self.muon.param_groups, *self.adamw.param_groups]

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of all parameters."""
        self.muon.step()  # type: ignore[no-untyped-call]
        self.adamw.step()

    def state_dict(self) -> dict[str, Any]:
        """State of both."""
        return {"muon": self.muon.state_dict(), "adamw": self.adamw.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore both."""
        self.muon.load_state_dict(state_dict["muon"])
        self.adamw.load_state_dict(state_dict["adamw"])
        self._share()
