"""The stores that a run without a bus needs: those that are there, or embedded ones of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from streams import settings
from streams.embedded import stack
from streams.settings import Settings

_NO_BROKER = "not-started:0"  # what clients of this folder are told meanwhile


@asynccontextmanager
async def at_hand(progress: Callable[[str], None] = lambda message: None) -> AsyncIterator[Settings]:
    """Give settings with Postgres, Qdrant and Redis: of the environment, of a running `rankstream up`, or started now.

    What is started keeps its data in the same folder as `up`, and ends with the block. Raises EmbeddedError.
    """
    given = settings.given()
    if (given.postgres and given.qdrant) or stack.running(given.data_dir) is not None:
        yield settings.load()
        return
    progress(f"starting Postgres and Qdrant, data in {given.data_dir}")
    started = await stack.start(
        given.data_dir,
        kafka=str(given.kafka or _NO_BROKER),
        qdrant=given.qdrant,
        postgres=given.postgres,
        redis=given.redis,
        progress=progress,
    )
    try:
        at = started.endpoints
        yield replace(given, qdrant=at.qdrant, postgres=at.postgres, redis=at.redis)
    finally:
        await started.stop()
