"""`rankstream run` in a process beside the bench, on the same servers."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import corpus
from streams import settings as names
from streams.embedded.processes import HOST, free_port
from streams.errors import RankstreamError
from streams.gateways import keys
from streams.settings import Settings

STARTING = 90.0  # seconds
STOPPING = 15.0  # seconds


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """A gateway that runs, and a key of the bench's tenant."""

    address: str  # host:port
    key: str
    pid: int


@asynccontextmanager
async def running(found: Settings, name: str, *, folder: str, **environment: str) -> AsyncIterator[int]:
    """Run a processor, or the gateway, with a data folder of its own while the block runs; yield its process."""
    given = {
        names.KAFKA: str(found.kafka or ""),
        names.QDRANT: found.qdrant,
        names.POSTGRES: found.postgres,
        names.REDIS: found.redis,
        names.MODELS: str(found.models or ""),
        names.EMBEDDER: found.embedder,
        names.DATA_DIR: str(found.data_dir / folder),
        names.SESSION: f"{found.session_timeout:g}",
        **environment,
    }
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "streams.cli.main", "run", name),
        cwd=Path(__file__).parents[1],
        env={**os.environ, **{name: value for name, value in given.items() if value}},
        stderr=asyncio.subprocess.PIPE,
    )
    assert child.stderr is not None
    reading: asyncio.Task[bytes] | None = None
    try:
        async with asyncio.timeout(STARTING):
            while b"running:" not in (line := await child.stderr.readline()):
                if not line:
                    raise RankstreamError(f"`rankstream run {name}` ended before it ran")
        reading = asyncio.create_task(child.stderr.read())  # a full pipe would stop it
        yield child.pid
    finally:
        if child.returncode is None:
            child.terminate()
        await asyncio.wait_for(child.wait(), STOPPING)
        if reading is not None:
            await reading


@asynccontextmanager
async def gateway(found: Settings, **environment: str) -> AsyncIterator[Gateway]:
    """Run a gateway while the block runs."""
    async with keys.store(found) as kept:
        key = await keys.create(kept, tenant=corpus.TENANT)
    address = f"{HOST}:{free_port()}"
    async with running(found, "gateway", folder="gateway", **{names.HTTP: address}, **environment) as pid:
        yield Gateway(address=address, key=key, pid=pid)
