"""The in-memory twin of the epochs."""

from __future__ import annotations

from streams.adapters.memory_state import State


class MemoryEpochs:
    """The Epochs port in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def current(self, tenant: str) -> int:
        """Return how often anything of a tenant changed."""
        return self._state.epochs.get(tenant, 0)

    async def bump(self, tenant: str) -> None:
        """Count one more change."""
        self._state.epochs[tenant] += 1
