"""Live passages in Postgres: the fence at fusion, pinned documents, and what people are shown of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from schemas.chunks import Chunk
from schemas.documents import DocKey
from schemas.queries import Filters
from streams.adapters import postgres, postgres_scope, versions
from streams.domain import lexemes
from streams.domain.scope import Scope
from streams.domain.versions import LivePassage, VersionView
from streams.telemetry.calls import traced


@traced("postgresql", "resolve", "gone", "live_versions", "pinned", "describe")
class PostgresPassages:
    """The PassageReader and PinnedReader ports on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def resolve(
        self, scope: Scope, chunk_ids: Sequence[str], terms: Sequence[str] = ()
    ) -> Mapping[str, LivePassage]:
        """Read all candidates of a question in one statement."""
        if not chunk_ids:
            return {}
        rows = await postgres.read(
            self._pool,
            "read passages",
            tenant=scope.tenant,
            statement=postgres.sql("resolve"),
            parameters=postgres_scope.visible(scope)
            | {"chunk_ids": list(dict.fromkeys(chunk_ids)), "terms": [lexemes.tsquery([term]) for term in terms]},
        )
        return {
            row.pop("chunk_id"): LivePassage(
                **row | {"heading_path": tuple(row["heading_path"]), "terms": tuple(row["terms"])}
            )
            for row in rows
        }

    async def gone(self, scope: Scope, chunk_ids: Sequence[str]) -> bool:
        """Tell whether any of these chunks belongs to no version any more."""
        rows = await postgres.read(
            self._pool,
            "look for chunks",
            tenant=scope.tenant,
            statement=postgres.sql("gone"),
            parameters={"chunk_ids": list(chunk_ids)},
        )
        return bool(rows[0]["gone"])

    async def live_versions(
        self, tenant: str, generation: str, keys: Sequence[tuple[str, str]]
    ) -> Mapping[tuple[str, str], int]:
        """Return the live version by (source, doc id), an accepted deletion's too; absent: none is live."""
        if not keys:
            return {}
        rows = await postgres.read(
            self._pool,
            "read live versions",
            tenant=tenant,
            statement=postgres.sql("live_versions"),
            parameters={
                "tenant": tenant,
                "generation": generation,
                "sources": [source for source, _ in keys],
                "doc_ids": [doc_id for _, doc_id in keys],
            },
        )
        return {(row["source"], row["doc_id"]): row["live_version"] for row in rows}

    async def pinned(self, scope: Scope, limit: int) -> Sequence[LivePassage]:
        """Return the passages of the documents that are pinned for the agent."""
        if scope.agent is None:
            return ()
        everything = replace(scope, filters=Filters())
        rows = await postgres.read(
            self._pool,
            "read pinned documents",
            tenant=scope.tenant,
            statement=postgres.sql("pinned"),
            parameters=postgres_scope.visible(everything) | {"limit": limit},
        )
        return [LivePassage(**row | {"heading_path": tuple(row["heading_path"])}) for row in rows]

    async def describe(self, key: DocKey, generation: str) -> tuple[VersionView, ...]:
        """Return the kept versions, newest first; the chunks of a live one, unless it is being deleted."""
        named = versions.key_of(key, generation)
        views, chunks = [
            await postgres.read(
                self._pool, "describe a document", tenant=key.tenant, statement=postgres.sql(name), parameters=named
            )
            for name in ("describe_versions", "describe_chunks")
        ]
        shown: dict[int, list[Chunk]] = {}
        for row in chunks:
            version = row.pop("version")
            shown.setdefault(version, []).append(Chunk(**row | {"heading_path": tuple(row["heading_path"])}))
        return tuple(
            VersionView(**row | {"waits": tuple(row["waits"]), "chunks": tuple(shown.get(row["version"], ()))})
            for row in views
        )
