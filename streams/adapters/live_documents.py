"""Live documents in Postgres, whole, for those who read and do not search."""

from __future__ import annotations

from streams.adapters import postgres
from streams.adapters.postgres import sql
from streams.domain.live_document import Holdings, LiveDocument, LivePart
from streams.domain.scope import Scope


class PostgresDocuments:
    """The DocumentReader port on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def read(self, scope: Scope, source: str, doc_id: str) -> LiveDocument | None:
        """Return a document as the scope sees it."""
        rows = await postgres.read(
            self._pool,
            "read a document",
            tenant=scope.tenant,
            statement=sql("live_document"),
            parameters={
                "tenant": scope.tenant,
                "generation": scope.generation,
                "agent": scope.agent,
                "source": source,
                "doc_id": doc_id,
            },
        )
        if not rows:
            return None
        parts = tuple(
            LivePart(passage_id=row["passage_id"], heading_path=tuple(row["heading_path"]), body=row["body"])
            for row in rows
            if row["body"] is not None  # a document without text has one row, and no passage
        )
        names = ("version", "kind", "title", "uri", "trust", "language", "updated_at")
        fields = {name: rows[0][name] for name in names}
        return LiveDocument(source=source, doc_id=doc_id, tags=tuple(rows[0]["tags"]), parts=parts, **fields)

    async def holdings(self, tenant: str, generation: str) -> Holdings:
        """Return how much of a tenant is live."""
        rows = await postgres.read(
            self._pool,
            "count documents",
            tenant=tenant,
            statement=sql("holdings"),
            parameters={"tenant": tenant, "generation": generation},
        )
        return Holdings(**rows[0])
