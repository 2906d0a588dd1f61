"""Generations in Postgres, and how much each tenant has in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psycopg.types.json import Jsonb

from streams import settings
from streams.adapters import postgres
from streams.adapters.postgres import sql
from streams.domain.generation import Generation, Model
from streams.errors import ConfigurationError

FIRST = "g1"


@dataclass(frozen=True, kw_only=True)
class TenantCounts:
    """What a tenant has live."""

    tenant: str
    documents: int
    chunks: int


class PostgresGenerations:
    """The Generations port on Postgres. A caller that asks often keeps the answer."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def live(self) -> Generation:
        """Return the live generation; raise ConfigurationError when there is none yet."""
        found = await self.find()
        if found is None:
            raise ConfigurationError("no generation is live; the first processor that starts makes one")
        return found

    async def find(self) -> Generation | None:
        """Return the live generation, if there is one."""
        async with postgres.transaction(self._pool, "read the live generation") as connection:
            row = await (await connection.execute(sql("generation_live"))).fetchone()
        return None if row is None else _generation(row)

    async def ensure(
        self,
        *,
        model: str,
        dimension: int,
        average_length: float,
        also: Sequence[Model] = (),
        lexical: Sequence[str] = (),
        id: str = FIRST,
        chunker: str = "",
    ) -> Generation:
        """Return the live generation, making the first one; raise ConfigurationError when it was made otherwise.

        The average length of one that is there stays as it is. Without `chunker` its cutting is not looked at.
        """
        made: dict[str, Any] = {"id": id, "model": model, "dimension": dimension, "chunker": chunker}
        made["average_length"] = average_length
        made["lexical"] = list(lexical)
        made["also"] = Jsonb([asdict(each) for each in also])
        async with postgres.transaction(self._pool, "make the first generation") as connection:
            await connection.execute(sql("generation_insert"), made)
            row = await (await connection.execute(sql("generation_chunker"))).fetchone()
        live = await self.live()
        check(live, model=model, dimension=dimension, also=also, lexical=lexical)
        check_chunker(live, row["chunker"] if row else "", chunker)
        return live

    async def counts(self, generation: str) -> tuple[TenantCounts, ...]:
        """Return the live documents and chunks of every tenant that has any."""
        async with postgres.transaction(self._pool, "count documents") as connection:
            rows = await (await connection.execute(sql("counts"), {"generation": generation})).fetchall()
        return tuple(TenantCounts(**row) for row in rows)


def _generation(row: dict[str, Any]) -> Generation:
    also, lexical = tuple(Model(**each) for each in row["also"]), tuple(row["lexical"])
    return Generation(**{**row, "also": also, "lexical": lexical})


def check(
    live: Generation, *, model: str, dimension: int, also: Sequence[Model] = (), lexical: Sequence[str] = ()
) -> None:
    """Raise ConfigurationError when embedders do not fit a generation."""
    if (live.model, live.dimension) != (model, dimension):
        raise ConfigurationError(
            f"embedder: {model} ({dimension} dimensions) does not fit the live generation {live.id}, "
            f"which was made with {live.model} ({live.dimension}); use that model, or an empty database"
        )
    if {str(each) for each in also} != {str(each) for each in live.also}:
        has, wants = (", ".join(map(str, models)) or "none" for models in (live.also, also))
        raise ConfigurationError(
            f"{settings.EMBED_ALSO}: {wants} does not fit the live generation {live.id}, which has {has}; "
            f"vectors are written at ingest: unset it to go on, or use an empty database (another {settings.DATA_DIR})"
        )
    for name in sorted(set(lexical) ^ set(live.lexical)):
        has = "has" if name in live.lexical else "does not have"
        raise ConfigurationError(
            f"embedders.{name}.lexical: the live generation {live.id} {has} its lexical weights, which are written at "
            f"ingest: set lexical = {'true' if name in live.lexical else 'false'}, or use an empty database (another "
            f"{settings.DATA_DIR})"
        )


def check_chunker(live: Generation, made: str, chunker: str) -> None:
    """Raise ConfigurationError when a generation was cut by a release whose indexes this one does not read."""
    if chunker and made != chunker:
        raise ConfigurationError(
            f"chunker: the live generation {live.id} was cut by another release (chunker {made!r}, this one has "
            f"{chunker!r}); publish everything again into an empty database, or a new folder RANKSTREAM_DATA"
        )
