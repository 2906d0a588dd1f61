"""rankstream ingest: keeps the index like a folder or a file of JSON lines."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from streams import settings
from streams.cli import connect, console


@click.command("ingest", short_help="Publish what changed in a folder or .jsonl file.")
@click.argument("path", type=click.Path(path_type=Path))
@connect.tenant_option
@click.option("--source", metavar="NAME", help="What the documents belong to; made of the path's name where absent.")
@click.option("--uri-prefix", default="", help="Put before the relative path to make each document's link (folders).")
@click.option("--wait", is_flag=True, help="Return when everything is searchable, not when it is published.")
@click.option("--timeout", default=60.0, show_default=True, help="With --wait: seconds without any receipt.")
@click.option("--again", is_flag=True, help="Publish everything, also what did not change since the last time.")
@click.option("--allow-mass-delete", is_flag=True, help="Delete even if most documents of the source are gone.")
def command(
    *,
    path: Path,
    tenant: str,
    source: str | None,
    uri_prefix: str,
    wait: bool,
    timeout: float,
    again: bool,
    allow_mass_delete: bool,
) -> int:
    """Publish what changed in PATH, a folder (Markdown, HTML, text) or a .jsonl file.

    What was published before and is gone from PATH is deleted, within this tenant and source alone. A line of JSON has
    `id` and `text` (and `title`, `url`, `tags`, `language`, `metadata`), or `id`, `question` and `answer`.
    """
    from streams.cli import mirroring  # noqa: PLC0415

    found = settings.load()
    read = mirroring.Source.of(path, tenant=tenant, name=source, uri_prefix=uri_prefix)

    async def ingest() -> mirroring.Outcome:
        async with connect.client(found) as client:
            return await mirroring.run(
                client, found, read, wait=wait, timeout=timeout, again=again, allow_mass_delete=allow_mass_delete
            )

    outcome = asyncio.run(ingest())
    console.say(outcome.summary(waited=wait))
    return 0 if outcome.clean else 1
