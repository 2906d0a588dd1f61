"""What Postgres knows of a document, for the subcommands that show or need it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from schemas.documents import DocKey
from streams import settings
from streams.adapters import postgres
from streams.adapters.passages import PostgresPassages
from streams.adapters.postgres_generations import PostgresGenerations
from streams.domain.versions import VersionView


@asynccontextmanager
async def database(found: settings.Settings) -> AsyncIterator[postgres.Pool]:
    """Open Postgres for the block; raise ConfigurationError that names the setting."""
    pool = await postgres.open_pool(settings.need(found.postgres, settings.POSTGRES), size=2)
    try:
        yield pool
    finally:
        await pool.close()


async def versions(found: settings.Settings, key: DocKey) -> tuple[VersionView, ...]:
    """Return the kept versions of a document in the live generation, newest first."""
    async with database(found) as pool:
        generation = await PostgresGenerations(pool=pool).live()
        return await PostgresPassages(pool=pool).describe(key, generation.id)
