"""rankstream delete: takes a document out of the index."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import click

from streams import settings
from streams.cli import connect, console
from streams.errors import ConfigurationError, RankstreamError

if TYPE_CHECKING:
    from schemas.documents import DocKey


@click.command("delete", short_help="Delete a document.")
@click.argument("name", metavar="SOURCE/DOC")
@connect.tenant_option
@click.option("--wait", is_flag=True, help="Return when the document is gone from every answer.")
@click.option("--timeout", default=60.0, show_default=True, help="With --wait: seconds for the receipt.")
@click.option("--version", type=click.IntRange(0), help="Of the deletion; one above the last known where absent.")
def command(name: str, tenant: str, wait: bool, timeout: float, version: int | None) -> int:
    """Delete a document. It comes back with its next change, or with the next `ingest` that finds it."""
    key = connect.document(name, tenant)
    return asyncio.run(_delete(settings.load(), key, wait, timeout, version))


async def _delete(found: settings.Settings, key: DocKey, wait: bool, timeout: float, version: int | None) -> int:
    from schemas.documents import DocumentChange  # noqa: PLC0415
    from streams.sources import state  # noqa: PLC0415

    settings.need(found.kafka, settings.KAFKA)
    name = f"{key.source}/{key.doc_id}"
    path = connect.memory(found, key.tenant, key.source)
    last = await _last(found, key)
    asked = last is not None
    last = -1 if last is None else last
    mirrored = False
    if path.exists():
        with state.opened(path) as memory:
            known = memory.known().get(key.doc_id)
            last, mirrored = max(last, known.version if known else -1), known is not None
    if last < 0 and version is None and asked:
        console.note(f"{console.printable(name)}: tenant {key.tenant} has no such document")
        return 1
    number = version
    if number is None:
        # `ingest` counts by the clock; a source with versions of its own goes on from the one that was deleted.
        by_clock = mirrored or not asked
        number = max(last + 1, int(time.time() * 1000)) if by_clock else last + 1
    change = DocumentChange(tenant=key.tenant, source=key.source, doc_id=key.doc_id, version=number, op="delete")
    async with connect.client(found) as client:
        status = await client.publish(change, wait=wait, timeout=timeout)
    if path.exists():
        with state.opened(path) as memory:
            memory.deleted(key.doc_id, number)
    if status is not None and status.status == "failed":
        raise RankstreamError(f"{name} version {number}: {status.reason}")
    console.say(f"{console.printable(name)} version {number}: {status.status if status else 'deletion published'}")
    return 0


async def _last(found: settings.Settings, key: DocKey) -> int | None:
    """Return the highest version that Postgres knows, -1 for none; None where it cannot be asked."""
    if not found.postgres:
        return None
    from streams.cli import stored  # noqa: PLC0415

    try:
        views = await stored.versions(found, key)
    except ConfigurationError as error:
        console.note(f"{error}; going by the clock for the version")
        return None
    return max((view.version for view in views), default=-1)
