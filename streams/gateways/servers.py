"""One small question to each server; whatever goes wrong is raised as its client raises it."""

from __future__ import annotations

import ssl
from pathlib import Path

import psycopg
import redis.asyncio
from aiokafka.admin import AIOKafkaAdminClient

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
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(b"SELECT 1")


async def qdrant(url: str, *, key: str | None, ca: Path | None = None) -> None:
    """List the collections."""
    from qdrant_client import AsyncQdrantClient  # noqa: PLC0415 - slow to import, and seldom asked for

    client = AsyncQdrantClient(
        url=url, api_key=key, check_compatibility=False, verify=ssl.create_default_context(cafile=ca) if ca else True
    )
    try:
        await client.get_collections()
    finally:
        await client.close()


async def valkey(url: str) -> None:
    """Ping."""
    client = redis.asyncio.from_url(url)
    try:
        await client.ping()
    finally:
        await client.aclose()
