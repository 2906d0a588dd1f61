"""The graph as a whole, and the overviews made of its parts, in Postgres."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psycopg.rows import DictRow

from streams.adapters import postgres, postgres_scope
from streams.domain import lexemes
from streams.domain.communities import Bond
from streams.domain.overviews import Made, Matched, OverviewsFound, Source
from streams.domain.scope import Scope
from streams.telemetry.calls import traced

MOST_AUDIENCES = 16
OUTLINE_SECONDS = 120.0  # whole graphs are read, and nobody waits for them


class PostgresOutlines:
    """The Outlines port on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def audiences(self, tenant: str, generation: str) -> Sequence[tuple[str, ...]]:
        """Return the audiences of live passages, those with most first."""
        rows = await self._rows("audiences", tenant, generation, limit=MOST_AUDIENCES)
        return [tuple(row["audience"]) for row in rows]

    async def bonds(self, tenant: str, generation: str, audience: Sequence[str], limit: int) -> Sequence[Bond]:
        """Sum up the relations of every two entities."""
        rows = await self._rows("bonds", tenant, generation, audience=list(audience), limit=limit)
        return [Bond(**row) for row in rows]

    async def sources(
        self, tenant: str, generation: str, audience: Sequence[str], keys: Sequence[str], limit: int
    ) -> Sequence[Source]:
        """Read the passages that mention most of the keys."""
        rows = await self._rows(
            "sources", tenant, generation, audience=list(audience), keys=list(dict.fromkeys(keys)), limit=limit
        )
        return [Source(**row | {"heading_path": tuple(row["heading_path"])}) for row in rows]

    async def _rows(self, name: str, tenant: str, generation: str, **more: object) -> list[DictRow]:
        return await postgres.read(
            self._pool,
            f"read the {name} of the graph",
            tenant=tenant,
            statement=postgres.sql(f"outline_{name}"),
            parameters={"tenant": tenant, "generation": generation, **more},
            seconds=OUTLINE_SECONDS,
        )


@traced("postgresql", "kept", "put", "retain", "search")
class PostgresOverviews:
    """The Overviews port on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def kept(self, tenant: str, generation: str) -> frozenset[str]:
        """Return the hashes of those that stand."""
        rows = await postgres.read(
            self._pool,
            "read overviews",
            tenant=tenant,
            statement=postgres.sql("overview_kept"),
            parameters={"tenant": tenant, "generation": generation},
            seconds=postgres.WRITE_SECONDS,
        )
        return frozenset(row["hash"] for row in rows)

    async def put(self, tenant: str, generation: str, overview: Made) -> bool:
        """Write one while its documents are held: one that is deleted meanwhile takes it along, or keeps it out."""
        at = {
            "tenant": tenant,
            "generation": generation,
            "hash": overview.hash,
            "title": overview.title,
            "text": overview.text,
            "language": overview.language,
            "weight": overview.weight,
            "evidence": list(overview.evidence),
            "lexemes": lexemes.tsvector((overview.title,), overview.text, overview.language),
            "model": overview.model,
        }
        async with postgres.transaction(self._pool, "write an overview") as connection:
            await connection.execute(postgres.sql("overview_lock"), at)
            return (await connection.execute(postgres.sql("overview_put"), at)).rowcount > 0

    async def retain(self, tenant: str, generation: str, hashes: Collection[str]) -> int:
        """Delete all others."""
        at = {"tenant": tenant, "generation": generation, "hashes": sorted(hashes)}
        async with postgres.transaction(self._pool, "delete overviews") as connection:
            return (await connection.execute(postgres.sql("overview_retain"), at)).rowcount

    async def search(self, scope: Scope, terms: Sequence[str], limit: int) -> OverviewsFound:
        """Find by terms; where nothing is found, look whether there is anything."""
        asked = [lexemes.tsquery([term]) for term in terms]
        rows = await postgres.read(
            self._pool,
            "search overviews",
            tenant=scope.tenant,
            statement=postgres.sql("overview_search"),
            parameters=postgres_scope.visible(scope) | {"terms": asked, "limit": limit},
        )
        found = [Matched(**row | {"evidence": tuple(row["evidence"]), "terms": tuple(row["terms"])}) for row in rows]
        return OverviewsFound(matched=found, known=bool(found) or await self._any(scope))

    async def _any(self, scope: Scope) -> bool:
        rows = await postgres.read(
            self._pool,
            "look for overviews",
            tenant=scope.tenant,
            statement=postgres.sql("overview_any"),
            parameters={"tenant": scope.tenant, "generation": scope.generation},
        )
        return bool(rows[0]["known"])
