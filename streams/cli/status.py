"""rankstream status: what runs, what lags, what is in, what died."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import click

from streams import settings
from streams.cli import console
from streams.settings import Settings
from topics.connection import Kafka

SECONDS = 5.0  # for each server
DEAD_LETTER_SECONDS = 10.0  # to read them in
OK = "ok"


@click.command("status", short_help="Show servers, lag, documents, dead letters.")
def command() -> int:
    """Show servers, topics, lag of every processor, documents of every tenant, dead letters; exit 1 if any is amiss."""
    return asyncio.run(_status(settings.load()))


async def _status(found: Settings) -> int:
    # Imported before any server's time runs: they take longer than the servers.
    from streams.gateways import servers  # noqa: PLC0415

    asked: dict[str, tuple[Any, str, Callable[[Any], Awaitable[None]]]] = {
        "kafka": (found.kafka, settings.KAFKA, servers.kafka),
        "postgres": (found.postgres, settings.POSTGRES, servers.postgres),
        "qdrant": (found.qdrant, settings.QDRANT, partial(servers.qdrant, key=found.qdrant_key, ca=found.qdrant_ca)),
        "redis": (found.redis, settings.REDIS, servers.valkey),
    }
    states = await asyncio.gather(*(_state(place, setting, ask) for place, setting, ask in asked.values()))
    _table([("server", "state"), *zip(asked, states, strict=True)])
    kafka, postgres, *_ = (state == OK for state in states)
    well = all(state == OK for state in states)
    if kafka:
        well &= await _topics_and_lag(found)
    if postgres:
        await _counts(found)
    return 0 if well else 1


async def _state(place: Any, setting: str, ask: Callable[[Any], Awaitable[None]]) -> str:
    """Return what is wrong with a server, in one line, or that nothing is."""
    if not place:
        return f"{setting} is not set"
    try:
        async with asyncio.timeout(SECONDS):
            await ask(place)
    except TimeoutError:
        return f"no answer within {SECONDS:.0f} s"
    except Exception as error:
        return " ".join(str(error).split())[:120] or type(error).__name__
    return OK


async def _topics_and_lag(found: Settings) -> bool:
    from streams.gateways.lag import measure  # noqa: PLC0415
    from topics import admin  # noqa: PLC0415
    from topics.catalogue import ALL  # noqa: PLC0415

    kafka = settings.need(found.kafka, settings.KAFKA)
    differences = await admin.check(kafka)
    console.say()
    console.say(f"topics: {len(ALL)} wanted, " + (f"{len(differences)} differences" if differences else "all in place"))
    for difference in differences:
        console.say(f"  {difference}")
    if any(difference.kind == "missing" for difference in differences):
        console.say("  `rankstream topics apply` makes what is missing")
        return False
    lags = await measure(kafka)
    console.say()
    _table(
        [("processor", "reads", "lag", "state")]
        + [(lag.processor, lag.topic, "?" if lag.records is None else str(lag.records), lag.state) for lag in lags]
    )
    console.say()
    return await _dead_letters(kafka)


async def _dead_letters(kafka: Kafka) -> bool:
    """Say what died and waits for somebody; what was re-driven or discarded does not."""
    from streams.domain.letter_choice import grouped  # noqa: PLC0415
    from streams.gateways import dead_letters  # noqa: PLC0415

    found = await dead_letters.read(kafka, seconds=DEAD_LETTER_SECONDS)
    counts = Counter[str]()
    parked = 0
    for group in grouped(found.letters):
        counts[group.topic] += group.waiting
        parked += group.counts["parked"]
    dead = ", ".join(f"{topic}.dlq {count}" for topic, count in counts.items() if count)
    said = dead or ("none" if found.complete else "not all were read")
    if not found.complete:
        said += f" (stopped reading after {DEAD_LETTER_SECONDS:.0f} s)"
    console.say(f"dead letters: {said}" + (f", {parked} of them parked" if parked else ""))
    if dead:
        console.say("  `rankstream dlq list` says more, `rankstream dlq redrive` sends them back")
    return found.complete and not dead


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
