"""How many of some cases must pass where a share is promised: so that one case more or less does not decide."""

from __future__ import annotations

import math
from itertools import accumulate


def floor(cases: int, promised: int) -> int:
    """The 1 % quantile of Binomial(cases, promised / 100): the least count that does not contradict the promise.

    A model that passes each case with the promised chance falls below it on less than one list in a hundred. Computed
    in whole numbers: the chances are multiplied by 100**cases.
    """
    chances = (math.comb(cases, k) * promised**k * (100 - promised) ** (cases - k) for k in range(cases + 1))
    return next(k for k, up_to_k in enumerate(accumulate(chances)) if 100 * up_to_k >= 100**cases)
