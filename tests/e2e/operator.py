"""What an operator sees and types: the command in a process of its own, against the running pipeline."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from schemas import codec
from schemas.documents import DocumentStatus
from tests.pipeline import Pipeline, records
from topics import catalogue

T = TypeVar("T")


async def rankstream(pipeline: Pipeline, *arguments: str) -> tuple[int, str, str]:
    """Run `rankstream` with the settings of the pipeline; return its exit code and what it said."""
    found = pipeline.settings
    servers = {
        "KAFKA_BOOTSTRAP_SERVERS": found.kafka,
        "DATABASE_URL": found.postgres,
        "QDRANT_URL": found.qdrant,
        "REDIS_URL": found.redis,
        "RANKSTREAM_DATA": str(found.data_dir),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "streams.cli.main", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, **{name: value for name, value in servers.items() if value}},
    )
    out, err = await asyncio.wait_for(process.communicate(), 90)
    return process.returncode or 0, out.decode(), err.decode()


async def statuses(pipeline: Pipeline, tenant: str) -> list[DocumentStatus]:
    """Return all receipts of a tenant so far; those of one document in the order in which they came."""
    found = [
        codec.decode(record.value or b"", DocumentStatus)
        for record in await records(pipeline.settings.kafka or "", catalogue.DOCUMENT_STATUS)
    ]
    return [status for status in found if status.tenant == tenant]


async def until(found: Callable[[], Awaitable[T | None]], *, doing: str, seconds: float = 40.0) -> T:
    """Ask again until there is something."""
    ends = asyncio.get_running_loop().time() + seconds
    while (result := await found()) is None:
        assert asyncio.get_running_loop().time() < ends, f"{doing}: nothing within {seconds:g} s"
        await asyncio.sleep(0.1)
    return result


async def receipt(pipeline: Pipeline, tenant: str, version: int, status: str) -> DocumentStatus:
    """Wait for a receipt of this version and kind."""

    async def found() -> DocumentStatus | None:
        of = [each for each in await statuses(pipeline, tenant) if (each.version, each.status) == (version, status)]
        return of[-1] if of else None

    return await until(found, doing=f"receipt {status} of {version}")
