"""Looking up keys that are not known: all that come within a moment with one small statement."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from streams.domain.api_keys import ApiKey
from streams.errors import StoreUnavailable, Transient
from streams.ports import KeyStore

AGAIN = 0.05  # seconds between two statements


class UnknownKeys:
    """Finds keys by their ids. A flood of wrong ones costs twenty look-ups by primary key a second, one at a time."""

    def __init__(self, store: KeyStore, *, clock: Callable[[], float], pause: float) -> None:
        """Ask a store, and for `pause` seconds after it failed not again."""
        self._store = store
        self._clock = clock
        self._pause = pause
        self._wanted: set[str] = set()
        self._next: asyncio.Task[Mapping[str, ApiKey]] | None = None
        self._under_way: set[asyncio.Task[Mapping[str, ApiKey]]] = set()
        self._one = asyncio.Lock()
        self._asked_at = self._failed_at = float("-inf")
        self._failure = ""

    async def find(self, key_id: str) -> ApiKey | None:
        """Return a key as it is kept now; none where there is none or it was revoked. Raises StoreUnavailable."""
        self._wanted.add(key_id)
        if self._next is None:
            self._next = asyncio.create_task(self._look(), name="unknown keys")
            self._under_way.add(self._next)
            self._next.add_done_callback(self._ended)
        return (await asyncio.shield(self._next)).get(key_id)

    async def _look(self) -> Mapping[str, ApiKey]:
        async with self._one:
            await asyncio.sleep(max(0.0, self._asked_at + AGAIN - self._clock()))
            wanted, self._wanted, self._next = sorted(self._wanted), set(), None
            self._asked_at = self._clock()
            if self._asked_at - self._failed_at < self._pause:
                raise StoreUnavailable(self._failure)
            try:
                return {key.key_id: key for key in await self._store.some(wanted)}
            except Transient as error:
                self._failed_at, self._failure = self._clock(), str(error) or type(error).__name__
                raise

    def _ended(self, task: asyncio.Task[Mapping[str, ApiKey]]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # whoever asked may have left
