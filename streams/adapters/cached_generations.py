"""Keeps which generations there are for a moment: every question and every change asks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from streams.domain.generation import Generation
from streams.errors import StoreUnavailable
from streams.ports import Generations


class ExactGenerations:
    """The Generations port for whoever must not be a moment late: reads anew while there is more than one.

    Between the start of a second one and its promotion lies more time than an answer is kept.
    """

    def __init__(self, kept: Generations, inner: Generations) -> None:
        self._kept = kept
        self._inner = inner

    async def live(self) -> Generation:
        """Return the live generation."""
        return (await self.active())[0]

    async def active(self) -> Sequence[Generation]:
        """Return the active generations."""
        known = await self._kept.active()
        return known if len(known) == 1 else await self._inner.active()


class CachedGenerations:
    """The Generations port over another one; a promotion is seen within `seconds`."""

    def __init__(
        self, inner: Generations, *, seconds: float = 1.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._inner = inner
        self._seconds = seconds
        self._clock = clock
        self._known: Sequence[Generation] = ()
        self._until = 0.0
        self._asking = asyncio.Lock()

    async def live(self) -> Generation:
        """Return the live generation; the last one known while the database cannot be asked."""
        return (await self.active())[0]

    async def active(self) -> Sequence[Generation]:
        """Return the active generations, read in one statement, so that exactly one of them is live."""
        async with self._asking:  # one asks, the others take its answer
            if not self._known or self._clock() >= self._until:
                try:
                    self._known = await self._inner.active()
                except StoreUnavailable:
                    if not self._known:
                        raise
                self._until = self._clock() + self._seconds
            return self._known
