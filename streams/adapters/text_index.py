"""Chunk texts and their full-text index in Postgres."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping, Sequence

from psycopg.rows import DictRow

from schemas.documents import DocKey, Kind
from schemas.queries import Hit
from streams.adapters import postgres, postgres_scope, versions
from streams.adapters.postgres import Parameters
from streams.domain import lexemes
from streams.domain.lexemes import TextFound, TextRow
from streams.domain.scope import Scope
from streams.telemetry.calls import traced

COUNTED_FOR = 60.0  # seconds
MOST_COUNTED = 10_000  # kinds of tenants
RANKED = 2_000  # rows; what ranking costs grows with the rows that match, not with those returned
FILED: Mapping[Kind, str] = {"document": "parent", "qa": "pair"}  # under which level passages are in their index


@traced("postgresql", "write", "search")
class PostgresTextIndex:
    """The TextIndex port on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool
        self._counted: dict[tuple[str, str, Kind], tuple[int, float]] = {}

    async def write(self, key: DocKey, version: int, generation: str, rows: Sequence[TextRow], *, kind: Kind) -> bool:
        """Insert chunks that are not there yet; a chunk's text follows from its id and is never updated."""
        owner = postgres_scope.owner(key.tenant, generation)
        async with postgres.transaction(self._pool, "write texts") as connection:
            document = await versions.share(connection, key, version, generation)
            if document is None:
                return False
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    postgres.sql("chunk_insert"),
                    [
                        {
                            "id": row.id,
                            "document": document,
                            "tenant": key.tenant,
                            "level": FILED[kind] if row.level == "parent" else row.level,
                            "heading_path": list(row.heading_path),
                            "body": row.body,
                            "lexemes": f"{row.lexemes} {owner}" if row.level == "parent" else "",
                        }
                        # One order for all, or two writers of the same chunks wait for each other.
                        for row in sorted(rows, key=lambda row: row.id)
                    ],
                )
        return True

    async def search(
        self, scope: Scope, terms: Sequence[str], limit: int, *, kind: Kind, prefix: bool = False
    ) -> TextFound:
        """Return up to `limit` live parents of a kind that share any of the terms, best first.

        The score is Postgres' cover density rank with a heading's lexemes (weight A) at 1.0 and the body's (D) at 0.1.
        """
        terms = [term for term in terms if lexemes.tsquery([term])]
        if not terms or limit < 1:
            return TextFound(hits=[])
        parameters = postgres_scope.visible(scope) | {
            "terms": [lexemes.tsquery([term], prefix=prefix) for term in terms],
            "query": lexemes.tsquery(terms, prefix=prefix),
            "owner": postgres_scope.owner(scope.tenant, scope.generation),
            "bound": RANKED,
            "limit": limit,
        }
        if _narrowed(scope):
            rows = await self._read("search_narrowed", kind, parameters)
            frequencies = [row["rows"] for row in await self._read("search_frequencies", kind, parameters)]
        else:
            rows = await self._read("search", kind, parameters)
            ranked, frequencies = rows[0]["ranked"], rows[0]["frequencies"]
            rows = [row for row in rows if row["chunk_id"] is not None]
            # Where most of what was ranked is not visible, the bound may have kept out what is.
            if len(rows) < limit and ranked >= RANKED:
                rows = await self._read("search_narrowed", kind, parameters)
        counted = await self._count(scope, kind, parameters)
        return TextFound(
            hits=[Hit(chunk_id=row["chunk_id"], score=row["score"]) for row in rows],
            frequencies=tuple(_estimated(rows, counted) for rows in frequencies),
            counted=counted,
        )

    async def _count(self, scope: Scope, kind: Kind, parameters: Parameters) -> int:
        """Return how many passages of a kind a tenant has, asked for once in a while: it only weighs words."""
        key = (scope.tenant, scope.generation, kind)
        known, until = self._counted.get(key, (0, 0.0))
        if time.monotonic() < until:
            return known
        rows = await self._read("search_passages", kind, parameters)
        if len(self._counted) >= MOST_COUNTED:
            self._counted.clear()
        found = int(rows[0]["passages"])
        if found:  # of a tenant without any the first may be on their way
            self._counted[key] = (found, time.monotonic() + COUNTED_FOR)
        return found

    async def _read(self, name: str, kind: Kind, parameters: Parameters) -> list[DictRow]:
        return await postgres.read(
            self._pool,
            "search texts",
            tenant=parameters["tenant"],
            statement=statement(name, kind),
            parameters=parameters,
            # Which of words and filters is the rarer is a matter of their values.
            prepare=None if name == "search" else False,
        )


@functools.cache
def statement(name: str, kind: Kind) -> bytes:
    """Return a search statement for passages of a kind; the planner must see the level to know which index has them."""
    return postgres.sql(name).replace(b"{level}", f"'{FILED[kind]}'".encode())


def _narrowed(scope: Scope) -> bool:
    filters = scope.filters
    return any((filters.sources, filters.tags, filters.directory))


def _estimated(rows: int, counted: int) -> int:
    """Return a count that stopped at the bound as the geometric middle of what it can be."""
    return rows if rows <= RANKED else max(rows, math.isqrt(rows * max(rows, counted)))
