"""rankstream topics: the topics and the database, as the catalogue and the migrations want them."""

from __future__ import annotations

import asyncio

import click

from streams import settings
from streams.cli import console


@click.group("topics", short_help="List, check or apply topics (and the database).")
def command() -> None:
    """List the topics, check them, or bring them (and the database) up to date."""


@command.command("list")
def show() -> None:
    """List every topic with what it carries."""
    from topics.catalogue import ALL  # noqa: PLC0415
    from topics.table import render_table  # noqa: PLC0415

    console.say(render_table(ALL))


@command.command("check")
def check() -> int:
    """Say how the broker's topics differ from the catalogue; exit 1 when they do."""
    from topics import admin  # noqa: PLC0415

    found = settings.load()
    differences = asyncio.run(admin.check(settings.need(found.kafka, settings.KAFKA)))
    for difference in differences:
        console.say(str(difference))
    if not differences:
        console.say("all topics are as the catalogue wants them")
    return 1 if differences else 0


@command.command("apply")
@click.option("--replication", default=1, show_default=True, type=click.IntRange(1), help="Copies of new topics.")
@click.option("--partitions", type=click.IntRange(1), help="Of new topics, instead of the catalogue's numbers.")
def apply(replication: int, partitions: int | None) -> None:
    """Create topics that are missing, set their configuration, and prepare the database where one is set."""
    found = settings.load()
    for line in asyncio.run(prepare(found, replication=replication, partitions=partitions)):
        console.say(line)


async def prepare(found: settings.Settings, *, replication: int = 1, partitions: int | None = None) -> list[str]:
    """Bring topics and database up to date and return a line for everything that was done."""
    from topics import admin  # noqa: PLC0415

    kafka = settings.need(found.kafka, settings.KAFKA)
    changes = await admin.apply(kafka, replication=replication, partitions=partitions)
    lines = [str(change) for change in changes] or ["topics: nothing to do"]
    if found.postgres:
        from streams.adapters import migrations  # noqa: PLC0415

        applied = await migrations.migrate(found.postgres)
        lines.append(f"database: {', '.join(applied) or 'nothing to do'}")
    else:
        lines.append(f"database: {settings.POSTGRES} is not set, left alone")
    return lines
