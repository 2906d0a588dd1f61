"""The in-memory twin of the contexts of passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.documents import DocKey
from streams.adapters.memory_state import State


class MemoryContexts:
    """The Contexts port in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def read(self, tenant: str, chunk_ids: Sequence[str]) -> Mapping[str, str]:
        """Return what is kept of a tenant's passages, by chunk id."""
        kept = self._state.contexts
        return {each: kept[each][1] for each in chunk_ids if each in kept and kept[each][0] == tenant}

    async def write(self, key: DocKey, generation: str, contexts: Mapping[str, str]) -> None:
        """Keep contexts of the passages that a kept version has; what is there stays as it is."""
        wanted = self._state.document(key, generation).wanted()
        for chunk_id, context in contexts.items():
            if chunk_id in wanted:
                self._state.contexts.setdefault(chunk_id, (key.tenant, context))
