"""What speculative decoding should gain (Leviathan et al. 2022).

    >>> round(expected_tokens(0.8, 5), 2), round(gain(0.8, 5, 0.0), 2), best_gamma(0.8, 0.05)
    (3.69, 3.69, 8)

alpha is the mean probability that a drafted token is accepted, given that the ones before it were accepted. It is not
the share of accepted tokens among the proposed ones, which also counts tokens that were never reached.
"""

from __future__ import annotations

from functools import cache


def expected_tokens(alpha: float, gamma: int) -> float:
    """Tokens per target pass when each of gamma drafted tokens is accepted with probability alpha (equation 1)."""
    return gamma + 1.0 if alpha >= 1 else (1 - alpha ** (gamma + 1)) / (1 - alpha)


def gain(alpha: float, gamma: int, cost: float) -> float:
    """Wall-clock improvement over one token per pass; `cost` is a drafter step in target steps (theorem 3.8)."""
    return expected_tokens(alpha, gamma) / (gamma * cost + 1)


@cache
def best_length(alpha: float, overhead: float, longest: int = 64) -> int:
    """The number of drafted tokens, 1 to `longest`, with the highest rate of output.

    A pass costs `overhead` plus one per token that it reads. Long drafts save passes, but the tokens after the first
    rejected one are read in vain.

    >>> best_length(0.97, 28.5), best_length(0.97, 3.3), best_length(0.9, 3.3)
    (35, 13, 6)
    """
    return max(range(1, longest + 1), key=lambda gamma: expected_tokens(alpha, gamma) / (overhead + gamma + 1))


def best_gamma(alpha: float, cost: float, longest: int = 64) -> int:
    """Number of drafted tokens, 0 to `longest`, with the largest gain; 0: do not draft."""
    return max(range(longest + 1), key=lambda gamma: gain(alpha, gamma, cost))
