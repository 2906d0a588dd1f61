"""One small question to each server; whatever goes wrong is raised as its client raises it."""

from __future__ import annotations

import psycopg
import redis.asyncio
from aiokafka.admin import AIOKafkaAdminClient
from qdrant_client import AsyncQdrantClient

from streams.gateways.broker import reaching


async def kafka(bootstrap: str) -> None:
    """Fetch the metadata of the cluster."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap.split(","))
    try:
        async with reaching(bootstrap):
            await admin.start()
    finally:
        await admin.close()


async def postgres(url: str) -> None:
    """Run a statement."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(b"SELECT 1")


async def qdrant(url: str, *, key: str | None) -> None:
    """List the collections."""
    client = AsyncQdrantClient(url=url, api_key=key, check_compatibility=False)
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
