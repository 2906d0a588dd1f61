"""A uniform random sample of a stream of unknown length, the same for a seed whatever order it comes in."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable
from typing import Generic, TypeVar

from streams.domain.identity import length_prefixed

T = TypeVar("T")


class Sample(Generic[T]):
    """Keeps the `size` items whose hashes with the seed are the smallest: bottom-k sampling (Cohen and Kaplan, 2007).

    As each identity has a hash like a random number, every set of `size` of them is equally likely; what comes twice
    counts once.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size = size
        self._seed = seed
        self._heap: list[tuple[int, tuple[str, ...]]] = []  # of the negated hash: the largest hash is on top
        self._kept: dict[tuple[str, ...], T] = {}
        self.seen = 0  # with what came twice

    def add(self, identity: tuple[str, ...], item: T) -> None:
        """Take an item into account; of equal identities the first one is kept."""
        self.seen += 1
        if identity in self._kept:
            return
        entry = (-place(self._seed, identity), identity)
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            _, dropped = heapq.heapreplace(self._heap, entry)
            del self._kept[dropped]
        else:
            return
        self._kept[identity] = item

    def items(self) -> Iterable[tuple[tuple[str, ...], T]]:
        """Return what was drawn, in the order of the hashes."""
        return [(identity, self._kept[identity]) for _, identity in sorted(self._heap, reverse=True)]


def place(seed: int, identity: tuple[str, ...]) -> int:
    """Return 64 bits of the SHA-256 of a seed and an identity."""
    digest = hashlib.sha256(length_prefixed((str(seed), *identity)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big")
