"""The contexts of passages in Postgres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.documents import DocKey
from streams.adapters import postgres, versions
from streams.telemetry.calls import traced


@traced("postgresql", "read", "write")
class PostgresContexts:
    """The Contexts port on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def read(self, tenant: str, chunk_ids: Sequence[str]) -> Mapping[str, str]:
        """Return what is kept, by chunk id; empty where a model was asked and nothing was believed."""
        if not chunk_ids:
            return {}
        named = {"tenant": tenant, "chunk_ids": list(chunk_ids)}
        async with postgres.transaction(self._pool, "read contexts") as connection:
            rows = await (await connection.execute(postgres.sql("contexts_read"), named)).fetchall()
        return {row["chunk_id"]: row["context"] for row in rows}

    async def write(self, key: DocKey, generation: str, contexts: Mapping[str, str]) -> None:
        """Keep contexts of the passages that a kept version has; what is there stays as it is."""
        if not contexts:
            return
        async with postgres.transaction(self._pool, "write contexts") as connection:
            found = await connection.execute(postgres.sql("document_share"), versions.key_of(key, generation))
            row = await found.fetchone()
            if row is None:
                return
            await connection.execute(
                postgres.sql("contexts_insert"),
                {
                    "document": row["id"],
                    "tenant": key.tenant,
                    "chunk_ids": list(contexts),
                    "contexts": list(contexts.values()),
                },
            )
