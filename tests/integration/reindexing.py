"""A pipeline whose replays run in a process of their own, and the command that an operator uses."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from streams.adapters import postgres
from streams.adapters.migrations import migrate
from streams.adapters.postgres_generations import PostgresGenerations
from streams.adapters.postgres_reindex import PostgresReindex
from streams.bootstrap import Resources
from streams.embedded.stack import Stack
from streams.fleet import Fleet
from streams.gateways.client import Client
from streams.processors import catalogue
from streams.settings import Settings
from topics.admin import apply

ROOT = Path(__file__).parents[2]


@dataclass(kw_only=True)
class Installation:
    """All processors but `replay` in this process, on servers of its own."""

    stack: Stack
    folder: Path
    client: Client
    resources: Resources
    pool: postgres.Pool

    @property
    def table(self) -> PostgresReindex:
        return PostgresReindex(pool=self.pool)

    @property
    def generations(self) -> PostgresGenerations:
        return PostgresGenerations(pool=self.pool)

    async def process(self, *arguments: str, **environment: str) -> asyncio.subprocess.Process:
        """Start `rankstream` in a process of its own; what it says goes to pipes."""
        kept = {name: value for name, value in os.environ.items() if not name.endswith(("_URL", "_SERVERS"))}
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "streams.cli.main", *arguments),
            cwd=ROOT,
            env={**kept, "RANKSTREAM_DATA": str(self.folder), "RANKSTREAM_SESSION_TIMEOUT": "6"} | environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def command(self, *arguments: str, seconds: float = 180.0, **environment: str) -> tuple[int, str]:
        """Run `rankstream` to its end; return its exit code and everything that it said."""
        process = await self.process(*arguments, **environment)
        out, err = await asyncio.wait_for(process.communicate(), seconds)
        return process.returncode or 0, out.decode() + err.decode()

    @asynccontextmanager
    async def replaying(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """Run `rankstream run replay` beside the block; a block that kills it may do so."""
        process = await self.process("run", "replay")
        assert process.stderr is not None
        try:
            said = b""
            while b"running: replay" not in said:
                said = await asyncio.wait_for(process.stderr.readline(), 60)
                assert said, "`rankstream run replay` ended"
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
            await asyncio.wait_for(process.communicate(), 20)

    async def embedded(self, model: str) -> int:
        """Return how many passages this process has embedded by a model."""
        counts = (await self.resources.embedder(model)).counts
        return sum(each.texts for kind, each in counts.items() if "passage" in kind)


@asynccontextmanager
async def installed(stack: Stack, folder: Path) -> AsyncIterator[Installation]:
    """Run an installation on servers whose data lie in `folder`."""
    at = stack.endpoints
    await migrate(at.postgres)
    await apply(at.kafka)
    settings = Settings(
        data_dir=folder / "processors",
        kafka=at.kafka,
        qdrant=at.qdrant,
        postgres=at.postgres,
        redis=at.redis,
        session_timeout=6.0,
        fast_fetch=at.broker == "tansu",
    )
    fleet = Fleet(settings, [processor.name for processor in catalogue.ALL if processor.name != "replay"])
    pool = await postgres.open_pool(at.postgres, size=2)
    try:
        await fleet.start()
        await fleet.ready()
        async with Client(bootstrap=at.kafka, fast_fetch=settings.fast_fetch) as client:
            yield Installation(stack=stack, folder=folder, client=client, resources=fleet._resources, pool=pool)
    finally:
        await fleet.stop()
        await pool.close()
