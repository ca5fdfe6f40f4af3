"""Muon for matrices and AdamW for the rest, as the one optimizer that a Trainer expects.

Muon (Jordan et al. 2024) orthogonalises each matrix update with a Newton-Schulz iteration; here, at 12 layers and two
cores, it was worth several times AdamW's progress per pair. It does what torch.optim.Muon does, with two differences:
matrices of one shape are orthogonalised together, and a processor that does not compute in bfloat16 uses float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from edit_gec.modeling.onednn import has_native_dtype

if TYPE_CHECKING:
    from edit_gec.lab.training.recipe import Recipe, TrainingStage

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the quintic: Jordan et al.; steepest at zero
ITERATIONS = 4
MOMENTUM = 0.95
RATIO = 0.2  # root mean square of an update against the learning rate, as AdamW's (Liu et al. 2025)


class Muon(torch.optim.Optimizer):
    """Updates matrices by their orthogonalised gradients with Nesterov momentum; weight decay is decoupled."""

    def __init__(self, groups: list[dict[str, Any]], *, weight_decay: float = 0.0) -> None:
        """Parameter groups, {"params": ..., "lr": ...} each; all parameters are matrices."""
        super().__init__(groups, {"weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of all matrices that have a gradient."""
        for group in self.param_groups:
            stacks: dict[tuple[int, int], list[Tensor]] = {}  # matrices of one shape, transposed or not
            for p in group["params"]:
                if p.grad is not None:
                    stacks.setdefault((min(p.shape), max(p.shape)), []).append(p)
            for (_, longest), parameters in stacks.items():
                self._move(parameters, group["lr"], group["weight_decay"], longest)

    def _move(self, parameters: list[Tensor], lr: float, weight_decay: float, longest: int) -> None:
        gradients = [p.grad for p in parameters]
        for p, gradient in zip(parameters, gradients, strict=True):
            if "momentum_buffer" not in self.state[p]:
                self.state[p]["momentum_buffer"] = torch.zeros_like(gradient)  # type: ignore[arg-type]
        momenta = [self.state[p]["momentum_buffer"] for p in parameters]
        torch._foreach_lerp_(momenta, gradients, 1 - MOMENTUM)  # type: ignore[arg-type]
        ahead = torch._foreach_lerp(gradients, momenta, MOMENTUM)  # type: ignore[arg-type]
        dtype = torch.bfloat16 if has_native_dtype(torch.bfloat16, ahead[0].device.type) else torch.float32
        flat = [u if len(u) <= u.shape[1] else u.T for u in ahead]
        updates = orthogonal(torch.stack([u.to(dtype) for u in flat]))  # [N, rows, columns]
        if weight_decay:
            torch._foreach_mul_(parameters, 1 - lr * weight_decay)
        for p, update in zip(parameters, updates, strict=True):
            p.add_(update if len(p) <= p.shape[1] else update.T, alpha=-lr * RATIO * longest**0.5)


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices [N, rows, columns], rows <= columns -> the same with singular values near 1, by Newton-Schulz."""
    a, b, c = COEFFICIENTS
    x: Tensor = matrices / matrices.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = x @ x.mT  # [N, rows, rows]
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


def make_adamw(groups: list[dict[str, Any]]) -> torch.optim.AdamW:
    """AdamW without weight decay."""
    return torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.0, fused=True)


class MuonAdamW(torch.optim.Optimizer):
    """Two optimizers in one. Their parameter groups are shared, so schedulers reach both."""

    def __init__(
        self, matrices: list[dict[str, Any]], rest: list[dict[str, Any]], *, weight_decay: float = 0.0
    ) -> None:
        """Parameter groups, {"params": ..., "lr": ...} each, for Muon and for AdamW; weight decay of the matrices."""
        super().__init__([*matrices, *rest], {})
        self.muon = Muon(matrices, weight_decay=weight_decay)
        self.adamw = make_adamw(rest)
        self._share()

    def _share(self) -> None:
        self.param_groups = [*self.muon.param_groups, *self.adamw.param_groups]

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of all parameters."""
        self.muon.step()
        self.adamw.step()

    def state_dict(self) -> dict[str, Any]:
        """State of both."""
        return {"muon": self.muon.state_dict(), "adamw": self.adamw.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore both."""
        self.muon.load_state_dict(state_dict["muon"])
        self.adamw.load_state_dict(state_dict["adamw"])
        self._share()


def optimizer_for(
    model: nn.Module, stage: TrainingStage, recipe: Recipe, rate: Callable[[str], float] = lambda _: 1.0
) -> Any:
    """Muon for the hidden matrices, AdamW for embeddings, norms, biases and heads.

    `rate` says how fast each parameter learns against the others; those with rate 0 are frozen.
    """
    groups: dict[tuple[bool, float], list[Any]] = {}
    for name, parameter in model.named_parameters():
        matrix = parameter.ndim == 2 and name.split(".")[-2] in ("qkv", "q", "kv", "o", "wi", "wo", "anchor")
        parameter.requires_grad_(rate(name) > 0)
        if parameter.requires_grad:
            groups.setdefault((matrix, rate(name)), []).append(parameter)

    def make_groups(matrices: bool, lr: float) -> list[dict[str, Any]]:
        return [{"params": p, "lr": lr * share} for (matrix, share), p in groups.items() if matrix == matrices]

    matrices, rest = make_groups(True, stage.lr), make_groups(False, stage.lr * recipe.adamw)
    return MuonAdamW(matrices, rest, weight_decay=recipe.weight_decay) if matrices else make_adamw(rest)
