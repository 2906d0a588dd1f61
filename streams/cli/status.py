"""rankstream status: what runs, what lags, what is in, what died."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

import click

from streams import settings
from streams.cli import console
from streams.settings import Settings

SECONDS = 5.0  # for each server


@click.command("status", short_help="Show servers, lag, documents, dead letters.")
def command() -> int:
    """Show servers, topics, lag of every processor, documents of every tenant, dead letters; exit 1 if any is amiss."""
    return asyncio.run(_status(settings.load()))


async def _status(found: Settings) -> int:
    servers = {
        "kafka": (found.kafka, settings.KAFKA, _kafka(found.kafka)),
        "postgres": (found.postgres, settings.POSTGRES, _postgres(found.postgres)),
        "qdrant": (found.qdrant, settings.QDRANT, _qdrant(found)),
        "redis": (found.redis, settings.REDIS, _redis(found.redis)),
    }
    states = dict(zip(servers, await asyncio.gather(*(_state(check) for *_, check in servers.values())), strict=True))
    rows = [("server", "state")]
    for name, (place, setting, _) in servers.items():
        rows.append((name, states[name] or "ok" if place else f"{setting} is not set"))
    _table(rows)
    well = all(place and not states[name] for name, (place, *_) in servers.items())
    if found.kafka and not states["kafka"]:
        well &= await _topics_and_lag(found)
    if found.postgres and not states["postgres"]:
        await _counts(found)
    return 0 if well else 1


async def _state(check: Awaitable[None]) -> str:
    """Return what is wrong with a server, in one line; empty when it answers."""
    try:
        async with asyncio.timeout(SECONDS):
            await check
    except Exception as error:
        return " ".join(str(error).split())[:120] or type(error).__name__
    return ""


async def _kafka(bootstrap: str | None) -> None:
    from topics import admin  # noqa: PLC0415

    if bootstrap:
        await admin.check(bootstrap)


async def _postgres(url: str | None) -> None:
    if not url:
        return
    import psycopg  # noqa: PLC0415

    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(b"SELECT 1")


async def _qdrant(found: Settings) -> None:
    if not found.qdrant:
        return
    from qdrant_client import AsyncQdrantClient  # noqa: PLC0415

    client = AsyncQdrantClient(
        url=found.qdrant, api_key=found.qdrant_key, timeout=int(SECONDS), check_compatibility=False
    )
    try:
        await client.get_collections()
    finally:
        await client.close()


async def _redis(url: str | None) -> None:
    if not url:
        return
    import redis.asyncio  # noqa: PLC0415

    client = redis.asyncio.from_url(url, socket_connect_timeout=SECONDS)
    try:
        await client.ping()
    finally:
        await client.aclose()


async def _topics_and_lag(found: Settings) -> bool:
    from streams.cli.lag import measure  # noqa: PLC0415
    from topics import admin  # noqa: PLC0415
    from topics.catalogue import ALL  # noqa: PLC0415

    bootstrap = settings.need(found.kafka, settings.KAFKA)
    differences = await admin.check(bootstrap)
    console.say()
    console.say(f"topics: {len(ALL)} wanted, " + (f"{len(differences)} differences" if differences else "all in place"))
    for difference in differences:
        console.say(f"  {difference}")
    if any(difference.kind == "missing" for difference in differences):
        console.say("  `rankstream topics apply` makes what is missing")
        return False
    measured = await measure(bootstrap)
    console.say()
    _table(
        [("processor", "reads", "lag", "state")]
        + [(lag.processor, lag.topic, str(lag.records), lag.state) for lag in measured.lags]
    )
    console.say()
    dead = {topic: count for topic, count in measured.dead_letters.items() if count}
    console.say("dead letters: " + (", ".join(f"{topic} {count}" for topic, count in dead.items()) or "none"))
    return not dead


async def _counts(found: Settings) -> None:
    from streams.adapters.postgres_generations import PostgresGenerations  # noqa: PLC0415
    from streams.cli import stored  # noqa: PLC0415
    from streams.errors import RankstreamError  # noqa: PLC0415

    console.say()
    try:
        async with stored.database(found) as pool:
            generations = PostgresGenerations(pool=pool)
            generation = await generations.live()
            counts = await generations.counts(generation.id)
    except RankstreamError as error:
        console.say(f"documents: {error}")
        return
    _table(
        [(f"tenant (generation {generation.id})", "documents", "chunks")]
        + [(count.tenant, str(count.documents), str(count.chunks)) for count in counts]
    )


def _table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        console.say(click.style(line, bold=True) if number == 0 else line)
