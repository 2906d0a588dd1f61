"""One small question to each server; whatever goes wrong is raised as its client raises it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from aiokafka.admin import AIOKafkaAdminClient
from redis.asyncio import Redis

from streams.adapters.postgres import parsed as parse
from streams.adapters.redis_answers import connections
from streams.gateways.broker import reaching
from topics.connection import Kafka, client_settings

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient


async def kafka(at: Kafka) -> None:
    """Fetch the metadata of the cluster."""
    admin = AIOKafkaAdminClient(**client_settings(at))
    try:
        async with reaching(at):
            await admin.start()
    finally:
        await admin.close()


async def postgres(url: str) -> None:
    """Run a statement."""
    parse(url)  # psycopg's own message would repeat it
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(b"SELECT 1")


async def qdrant(url: str, *, key: str | None, ca: Path | None = None) -> None:
    """List the collections."""
    async with _qdrant(url, key, ca) as client:
        await client.get_collections()


async def qdrant_takes(url: str, *, key: str | None, ca: Path | None = None) -> None:
    """Delete a collection that is not there: it changes nothing, and a key that may only read is refused."""
    async with _qdrant(url, key, ca) as client:
        await client.delete_collection(f"check-{uuid.uuid4().hex}")


async def valkey_takes(url: str) -> None:
    """Keep something under a key of our own for a millisecond, with the commands that answers are kept by."""
    async with _valkey(url) as client:
        key = f"answers:check:{uuid.uuid4().hex}"
        await client.set(key, b"", px=1)
        await client.get(key)


async def valkey(url: str) -> None:
    """Ping."""
    async with _valkey(url) as client:
        await client.ping()


@asynccontextmanager
async def _qdrant(url: str, key: str | None, ca: Path | None) -> AsyncIterator[AsyncQdrantClient]:
    from streams.adapters.qdrant import unasked  # noqa: PLC0415 - slow to import, and seldom asked for

    client = unasked(url, key, ca=ca)
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def _valkey(url: str) -> AsyncIterator[Redis]:
    pool = connections(url)
    try:
        yield Redis(connection_pool=pool)
    finally:
        await pool.aclose()
