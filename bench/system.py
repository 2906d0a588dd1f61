"""The whole pipeline in this process, as `rankstream up` runs it, on embedded servers whose data go away afterwards."""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench import corpus
from schemas.documents import DocumentChange
from streams import garbage
from streams.adapters.migrations import migrate
from streams.embedded import stack as stacks
from streams.errors import RankstreamError
from streams.fleet import Fleet
from streams.gateways.client import Client
from streams.settings import Settings
from topics.admin import apply


@dataclass(frozen=True, kw_only=True)
class System:
    """Running servers and processors, and a client."""

    settings: Settings
    client: Client
    broker: str

    async def publish(self, changes: Sequence[DocumentChange]) -> tuple[float, int]:
        """Publish changes and wait for all receipts; return the seconds that took and the number of chunks."""
        began = time.perf_counter()
        chunks = 0
        async for status in self.client.publish_many(changes, timeout=120):
            if status.status == "failed":
                raise RankstreamError(f"{status.doc_id}: {status.reason}")
            chunks += status.chunks
        return time.perf_counter() - began, chunks

    async def fill(self, chunks: int) -> int:
        """Index the demonstration corpus and generated pages until there are `chunks` chunks; return how many."""
        _, there = await self.publish(corpus.demo_pages())
        source = corpus.pages()
        while there < chunks:
            _, more = await self.publish([next(source) for _ in range(20)])
            there += more
        # As autovacuum does soon: without statistics the searches of the first seconds are others than all later ones.
        async with await psycopg.AsyncConnection.connect(self.settings.postgres or "", autocommit=True) as connection:
            await connection.execute("ANALYZE")
        return there


@asynccontextmanager
async def servers(*, tenant_quota: float = 0.0) -> AsyncIterator[Settings]:
    """Run the embedded servers, with their tables and topics; without a quota, all that is published stays live."""
    with tempfile.TemporaryDirectory(prefix="rankstream-bench-", ignore_cleanup_errors=True) as folder:
        stack = await stacks.start(Path(folder))
        try:
            at = stack.endpoints
            await migrate(at.postgres)
            await apply(at.kafka)
            yield Settings(
                data_dir=Path(folder),
                kafka=at.kafka,
                qdrant=at.qdrant,
                postgres=at.postgres,
                redis=at.redis,
                session_timeout=6.0,
                fast_fetch=at.broker == "tansu",
                tenant_quota=tenant_quota,
            )
        finally:
            await stack.stop()


@asynccontextmanager
async def running(*, tenant_quota: float = 0.0) -> AsyncIterator[System]:
    """Run everything."""
    async with servers(tenant_quota=tenant_quota) as settings:
        fleet = Fleet(settings)
        try:
            await fleet.start()
            await fleet.ready()
            async with Client(bootstrap=settings.kafka or "", fast_fetch=settings.fast_fetch) as client:
                broker = "tansu" if settings.fast_fetch else "kafka"
                garbage.settle()
                yield System(settings=settings, client=client, broker=broker)
        finally:
            await fleet.stop()
