"""The whole pipeline in this process, on the embedded servers, for end-to-end tests."""

from __future__ import annotations

import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiokafka import AIOKafkaConsumer

from schemas.documents import DocumentChange, DocumentStatus
from streams.adapters.migrations import migrate
from streams.embedded.stack import Stack
from streams.fleet import Fleet
from streams.gateways.client import Client
from streams.settings import Settings
from streams.wire import Record, all_headers
from topics.admin import apply
from topics.topic import Topic

_versions = itertools.count(int(time.time() * 1000))


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """All processors, running, and a client."""

    stack: Stack
    settings: Settings
    client: Client

    async def publish(self, *changes: DocumentChange) -> list[DocumentStatus]:
        """Publish changes one after the other, and return their receipts."""
        return [status for change in changes if (status := await self.client.publish(change, wait=True, timeout=60))]


@asynccontextmanager
async def running(stack: Stack, folder: Path) -> AsyncIterator[Pipeline]:
    """Run all processors on a stack."""
    at = stack.endpoints
    await migrate(at.postgres)
    await apply(at.kafka)
    settings = Settings(
        data_dir=folder,
        kafka=at.kafka,
        qdrant=at.qdrant,
        postgres=at.postgres,
        redis=at.redis,
        session_timeout=6.0,
        fast_fetch=at.broker == "tansu",
    )
    fleet = Fleet(settings)
    try:
        await fleet.start()
        await fleet.ready()
        async with Client(bootstrap=at.kafka, fast_fetch=settings.fast_fetch) as client:
            yield Pipeline(stack=stack, settings=settings, client=client)
    finally:
        await fleet.stop()


def next_version() -> int:
    """Return a version above all earlier ones."""
    return next(_versions)


def page(doc_id: str, content: str, **fields: object) -> DocumentChange:
    """Return a Markdown page of the tenant `acme`; its title is the first line's."""
    title = content.splitlines()[0].lstrip("# ") if content else ""
    given = {"tenant": "acme", "source": "help", "version": next_version(), "title": title, "content": content}
    return DocumentChange(doc_id=doc_id, **{**given, **fields})  # type: ignore[arg-type]


async def records(kafka: str, topic: Topic, *, seconds: float = 5.0) -> list[Record]:
    """Read everything that a topic holds now."""
    consumer = AIOKafkaConsumer(topic.name, bootstrap_servers=kafka, auto_offset_reset="earliest")
    await consumer.start()
    found: list[Record] = []
    try:
        ends = await consumer.end_offsets(list(consumer.assignment()))
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if all([await consumer.position(partition) >= end for partition, end in ends.items()]):
                break
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                found += [
                    Record(
                        topic=each.topic,
                        partition=each.partition,
                        offset=each.offset,
                        timestamp=each.timestamp / 1000,
                        key=each.key,
                        value=each.value,
                        headers=all_headers(each.headers)[0],
                        came=tuple(each.headers),
                    )
                    for each in batch
                ]
    finally:
        await consumer.stop()
    return found
