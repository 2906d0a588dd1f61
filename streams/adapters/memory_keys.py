"""The in-memory twin of the API keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime

from streams.domain.api_keys import ApiKey


class MemoryKeys:
    """The KeyStore port in memory."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}

    async def add(self, key: ApiKey) -> None:
        """Keep a new key."""
        self._keys[key.key_id] = key

    async def all(self, *, revoked: bool = False) -> Sequence[ApiKey]:
        """Return the keys, oldest first; with `revoked`, those that were revoked too."""
        kept = [key for key in self._keys.values() if revoked or key.revoked_at is None]
        return sorted(kept, key=lambda key: (key.created_at, key.key_id))

    async def some(self, key_ids: Sequence[str]) -> Sequence[ApiKey]:
        """Return those of these keys that there are and that were not revoked, in no order."""
        found = (self._keys.get(key_id) for key_id in key_ids)
        return [key for key in found if key is not None and key.revoked_at is None]

    async def revoke(self, key_id: str, now: datetime) -> bool:
        """Close a key from now on; return whether there is such a key."""
        key = self._keys.get(key_id)
        if key is None:
            return False
        self._keys[key_id] = dataclasses.replace(key, revoked_at=key.revoked_at or now)
        return True
