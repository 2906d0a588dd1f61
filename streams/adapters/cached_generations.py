"""Keeps which generation is live for a moment: every question asks."""

from __future__ import annotations

import asyncio
import time

from streams.domain.generation import Generation
from streams.errors import StoreUnavailable
from streams.ports import Generations


class CachedGenerations:
    """The Generations port over another one; a promotion is seen within `seconds`."""

    def __init__(self, inner: Generations, *, seconds: float = 1.0) -> None:
        self._inner = inner
        self._seconds = seconds
        self._known: Generation | None = None
        self._until = 0.0
        self._asking = asyncio.Lock()

    async def live(self) -> Generation:
        """Return the live generation; the last one known while the database cannot be asked."""
        async with self._asking:  # one asks, the others take its answer
            if self._known is None or time.monotonic() >= self._until:
                try:
                    self._known = await self._inner.live()
                except StoreUnavailable:
                    if self._known is None:
                        raise
                self._until = time.monotonic() + self._seconds
            return self._known
