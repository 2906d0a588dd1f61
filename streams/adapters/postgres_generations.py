"""Generations in Postgres, and how much each tenant has in one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psycopg.types.json import Jsonb

from streams import settings
from streams.adapters import postgres
from streams.adapters.postgres import sql
from streams.domain.generation import Generation, Model
from streams.errors import ConfigurationError
from streams.telemetry.calls import traced

FIRST = "g1"
FIRST_SECONDS, LOOK_SECONDS = 60.0, 0.5  # how long who only reads waits for the first generation, between two looks


@dataclass(frozen=True, kw_only=True)
class TenantCounts:
    """What a tenant has live."""

    tenant: str
    documents: int
    chunks: int


@traced("postgresql", "live", "active")
class PostgresGenerations:
    """The Generations port on Postgres. A caller that asks often keeps the answer."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def live(self) -> Generation:
        """Return the live generation; raise ConfigurationError when there is none yet."""
        return (await self.active())[0]

    async def active(self) -> tuple[Generation, ...]:
        """Return all generations that are not dropped, the live one first; raise ConfigurationError without one."""
        found = await self._active()
        if not found or found[0].state != "live":
            raise ConfigurationError("no generation is live; the first processor that starts makes one")
        return found

    async def find(self) -> Generation | None:
        """Return the live generation, if there is one."""
        return next((each for each in await self._active() if each.state == "live"), None)

    async def _active(self) -> tuple[Generation, ...]:
        async with postgres.transaction(self._pool, "read the generations") as connection:
            rows = await (await connection.execute(sql("generations_active"))).fetchall()
        return tuple(_generation(row) for row in rows)

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
        if await self.find() is None:
            await self._make(made)
        live = await self.live()
        check(live, model=model, dimension=dimension, also=also, lexical=lexical)
        check_chunker(live, chunker)
        return live

    async def _make(self, made: dict[str, Any]) -> None:
        """Insert the first generation; a user who may not waits until somebody else has."""
        async with postgres.transaction(self._pool, "make the first generation") as connection:
            [may] = await (await connection.execute(sql("generation_may_insert"))).fetchall()
            if may["insert"]:
                await connection.execute(sql("generation_insert"), made)
                return
        for _ in range(int(FIRST_SECONDS / LOOK_SECONDS)):
            if await self.find() is not None:
                return
            await asyncio.sleep(LOOK_SECONDS)
        raise ConfigurationError(
            f"no generation is live, and this user of {postgres.SETTING} may not make one: start `chunk` first"
        )

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
    """Raise ConfigurationError when embedders do not fit the live generation; only the first is made by settings.

    A later one was started with its own models, and any may do without weights that a model could give.
    """
    for name in sorted(set(live.lexical) - set(lexical)):
        raise ConfigurationError(
            f"embedders.{name}.lexical: the live generation {live.id} has its lexical weights, which are written at "
            "ingest: set lexical = true, or first promote one without (`rankstream reindex start --model NAME`)"
        )
    if live.replayed:
        return
    if (live.model, live.dimension) != (model, dimension):
        raise ConfigurationError(
            f"embedder: {model} ({dimension} dimensions) does not fit the live generation {live.id}, "
            f"which was made with {live.model} ({live.dimension}); use that model, and "
            f"`rankstream reindex start --model {model}` for an index by this one"
        )
    if {str(each) for each in also} != {str(each) for each in live.also}:
        has, wants = (", ".join(map(str, models)) or "none" for models in (live.also, also))
        raise ConfigurationError(
            f"{settings.EMBED_ALSO}: {wants} does not fit the live generation {live.id}, which has {has}; "
            f"vectors are written at ingest: unset it to go on, and `rankstream reindex start --also NAME` for more"
        )


def check_chunker(live: Generation, chunker: str) -> None:
    """Raise ConfigurationError when a generation was cut by a release whose indexes this one does not read."""
    made = live.chunker.partition(":")[0]  # sizes that differ are read all the same
    if chunker and made != chunker:
        raise ConfigurationError(
            f"chunker: the live generation {live.id} was cut by another release (chunker {made!r}, this one has "
            f"{chunker!r}); publish everything again into an empty database, or a new folder RANKSTREAM_DATA"
        )
