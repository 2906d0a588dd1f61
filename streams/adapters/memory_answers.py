"""The in-memory twin of the kept answers."""

from __future__ import annotations

import time
from collections.abc import Callable


class MemoryAnswers:
    """The Answers port in memory."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[bytes, float]] = {}

    async def get(self, key: str) -> bytes | None:
        """Return what is kept under a key, if its time is not over."""
        value, until = self._kept.get(key, (None, 0.0))
        return value if self._clock() < until else None

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        """Keep a value, in place of an earlier one."""
        self._kept[key] = (value, self._clock() + seconds)

    def forget(self) -> None:
        """Forget everything, as FLUSHALL does."""
        self._kept.clear()
