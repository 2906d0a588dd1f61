"""One small question to each server; whatever goes wrong is raised as its client raises it."""

from __future__ import annotations

from pathlib import Path

import psycopg
from aiokafka.admin import AIOKafkaAdminClient
from redis.asyncio import Redis

from streams.adapters.postgres import parsed as parse
from streams.adapters.redis_answers import connections
from streams.gateways.broker import reaching
from topics.connection import Kafka, client_settings


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
    from streams.adapters.qdrant import unasked  # noqa: PLC0415 - slow to import, and seldom asked for

    client = unasked(url, key, ca=ca)
    try:
        await client.get_collections()
    finally:
        await client.close()


async def valkey(url: str) -> None:
    """Ping."""
    pool = connections(url)
    try:
        await Redis(connection_pool=pool).ping()
    finally:
        await pool.aclose()
