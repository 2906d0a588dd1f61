"""What an operator does with generations, in Postgres: start, promote, drop, and see how far they are."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from psycopg.types.json import Jsonb

from streams.adapters import postgres
from streams.adapters.postgres import sql
from streams.domain.generation import MOST_ACTIVE, Generation, State
from streams.errors import ConfigurationError

SWEPT = 50  # documents a transaction


@dataclass(frozen=True, kw_only=True)
class Known:
    """A generation that there is or was."""

    id: str
    state: State
    live_until: datetime | None  # when another one last took its place


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How many of the live generation's documents another generation has, has failed at, and has still to get."""

    ready: int
    failed: int
    behind: int


@dataclass(frozen=True, kw_only=True)
class Lacking:
    """A version that a generation lacks, and why it failed where it did."""

    tenant: str
    source: str
    doc_id: str
    version: int
    reason: str = ""


class PostgresReindex:
    """Changes the table of generations: each change is one transaction, under the locks of all its rows."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def known(self) -> tuple[Known, ...]:
        """Return all generations that there ever were."""
        async with postgres.transaction(self._pool, "read the generations") as connection:
            return await _known(connection)

    async def now(self) -> datetime:
        """Return the database's time, which versions are stamped with."""
        async with postgres.transaction(self._pool, "read the time") as connection:
            return await _now(connection)

    async def start(self, generation: Generation) -> None:
        """Record a generation that is built from now on; raise ConfigurationError while another one is, or too many."""
        row = asdict(generation) | {
            "also": Jsonb([asdict(each) for each in generation.also]),
            "lexical": list(generation.lexical),
        }
        async with postgres.transaction(self._pool, "start a generation") as connection:
            states = {each.id: each.state for each in await _known(connection)}
            if building := [name for name, state in states.items() if state == "building"]:
                raise ConfigurationError(
                    f"{building[0]} is being built already; promote it, or `rankstream reindex drop {building[0]}`"
                )
            active = [name for name, state in states.items() if state != "dropped"]
            if len(active) >= MOST_ACTIVE:
                kept = [name for name in active if states[name] == "kept"]
                raise ConfigurationError(
                    f"{len(active)} generations are kept up to date; first `rankstream reindex drop` one of "
                    f"{', '.join(kept)}"
                )
            await connection.execute(sql("generation_start"), row)

    async def promote(self, name: str, *, whole: bool = False, recent: float = 0.0) -> str | None:
        """Make a generation the live one, keep the one that was, and return that one's id.

        With `whole`: only if each document's live version is live in it too, whatever was accepted in the last `recent`
        seconds left aside; none is returned, and nothing changed, where it is not.
        """
        async with postgres.transaction(self._pool, "promote a generation", seconds=60) as connection:
            states = {each.id: each.state for each in await _known(connection)}
            if states.get(name) not in ("building", "kept"):
                raise ConfigurationError(f"{name} is {states.get(name, 'unknown')}; it cannot be promoted")
            live = next(each for each, state in states.items() if state == "live")
            if whole:
                # A version that becomes live meanwhile waits for this, and its source is told of the new generation.
                await connection.execute(sql("documents_still"))
                before = await _now(connection) - timedelta(seconds=recent) if recent else None
                progress = await _progress(connection, name, live, before)
                if progress.behind or progress.failed:
                    return None
            await connection.execute(sql("generation_retire"))
            await connection.execute(sql("generation_promote"), {"id": name})
        return live

    async def forget(self, name: str) -> None:
        """Mark a generation as dropped: nothing is written to it from then on; raise ConfigurationError."""
        async with postgres.transaction(self._pool, "drop a generation") as connection:
            states = {each.id: each.state for each in await _known(connection)}
            if name not in states:
                raise ConfigurationError(f"there is no generation {name!r}; there are {', '.join(sorted(states))}")
            if states[name] == "live":
                raise ConfigurationError(f"{name} is live, and questions read it; promote another one first")
            await connection.execute(sql("generation_forget"), {"id": name})

    async def sweep(self, name: str, after: int = 0) -> tuple[int, int]:
        """Remove some documents of a generation, those with the next ids; return how many, and the last one's id."""
        at = {"generation": name, "after": after, "limit": SWEPT}
        async with postgres.transaction(self._pool, "remove a generation's rows", seconds=120) as connection:
            rows = await (await connection.execute(sql("generation_sweep"), at)).fetchall()
            if not rows:  # of what its passages say none can be made any more
                await connection.execute(sql("generation_sweep_overviews"), at)
        return len(rows), max((row["id"] for row in rows), default=after)

    async def progress(self, name: str, live: str, before: datetime | None = None) -> Progress:
        """Return how far a generation is with what was accepted before a moment; without one, with everything."""
        async with postgres.transaction(self._pool, "see how far a generation is", seconds=120) as connection:
            return await _progress(connection, name, live, before)

    async def failures(self, name: str, limit: int) -> tuple[Lacking, ...]:
        """Return up to `limit` documents whose last version failed in a generation."""
        at = {"generation": name, "limit": limit}
        async with postgres.transaction(self._pool, "read failures") as connection:
            rows = await (await connection.execute(sql("generation_failures"), at)).fetchall()
        return tuple(Lacking(**row) for row in rows)

    async def missing(self, name: str, live: str, limit: int) -> tuple[Lacking, ...]:
        """Return up to `limit` documents that the live generation has, and another one neither has nor failed at."""
        at = {"generation": name, "live": live, "limit": limit}
        async with postgres.transaction(self._pool, "read what is missing", seconds=120) as connection:
            rows = await (await connection.execute(sql("generation_missing"), at)).fetchall()
        return tuple(Lacking(**row) for row in rows)


async def _known(connection: postgres.Connection) -> tuple[Known, ...]:
    rows = await (await connection.execute(sql("generations_lock"))).fetchall()
    return tuple(Known(**row) for row in rows)


async def _now(connection: postgres.Connection) -> datetime:
    row = await (await connection.execute(b"SELECT now() AS now")).fetchone()
    assert row is not None
    moment: datetime = row["now"]
    return moment


async def _progress(connection: postgres.Connection, name: str, live: str, before: datetime | None) -> Progress:
    at = {"generation": name, "live": live, "before": before}
    row = await (await connection.execute(sql("generation_progress"), at)).fetchone()
    assert row is not None
    return Progress(**row)
