"""What was found lately, by key: the least recently used entries are dropped.

>>> recent = Recent[str, int](2)
>>> for key in "abac":
...     recent.put(key, ord(key))
>>> recent.get("a"), recent.get("b")
(97, None)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


class Recent(Generic[K, R]):
    """Results by key, as long as their keys are not larger than `capacity` together; each counts 1 by default."""

    def __init__(self, capacity: int, size_of: Callable[[K], int] = lambda key: 1) -> None:
        self.capacity = capacity
        self.size_of = size_of
        self.size = 0
        self.known: OrderedDict[K, R] = OrderedDict()

    def get(self, key: K) -> R | None:
        """The result for a key, or None if it is unknown."""
        if key in self.known:
            self.known.move_to_end(key)
        return self.known.get(key)

    def put(self, key: K, found: R) -> None:
        """Store the result for a key."""
        if key not in self.known:
            self.size += self.size_of(key)
        self.known[key] = found
        self.known.move_to_end(key)
        while self.size > self.capacity:
            self.size -= self.size_of(self.known.popitem(last=False)[0])
