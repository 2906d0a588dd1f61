"""What all requests of a gateway hold in memory of their bodies: so many bytes, and no more, whoever sends them."""

from __future__ import annotations

import asyncio

from starlette.types import Scope

from streams.gateways.http.problems import Refused

BYTES = 64 * 1024 * 1024  # of bodies; while it is worked on, a body is held about four times
PATIENCE = 2.0  # seconds that a body waits for room
AGAIN = 5.0  # seconds after which who found no room may come again
HELD = "rankstream.held"  # where a request's scope has what it holds


class Memory:
    """The bytes that are left for bodies."""

    def __init__(self) -> None:
        self.left = BYTES
        self._more = asyncio.Event()

    async def take(self, size: int) -> None:
        """Take bytes; raise Refused (503) when there are not so many for a while."""
        if self.left < size:
            try:
                async with asyncio.timeout(PATIENCE):
                    while self.left < size:
                        await self._more.wait()
            except TimeoutError:
                raise Refused(503, "too much is being sent at once", retry_after=AGAIN) from None
        self.left -= size

    def give(self, size: int) -> None:
        """Give bytes back."""
        self.left += size
        self._more.set()
        self._more = asyncio.Event()


class Held:
    """What one request holds."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.size = 0

    async def take(self, size: int) -> None:
        """Hold more bytes; raise Refused (503) when there are not so many for a while."""
        await self._memory.take(size)
        self.size += size

    def give(self, size: int) -> None:
        """Give some of them back."""
        self.size -= size
        self._memory.give(size)

    def end(self) -> None:
        """Give all of them back."""
        self.give(self.size)


def of(scope: Scope) -> Held:
    """Return what a request holds."""
    held: Held = scope[HELD]
    return held
