"""The servers that tests need: started once, on free ports and in a folder of their own, and stopped at the end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streams.embedded.stack import EmbeddedError, Stack, start

if TYPE_CHECKING:
    from tests.pipeline import Pipeline


def unavailable(what: str) -> None:
    """Skip where something cannot be had on a laptop; fail in CI."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """All servers, with real Apache Kafka; URLs in the environment replace them."""
    environment = os.environ.get
    try:
        started = await start(
            tmp_path_factory.mktemp("servers"),
            kafka=environment("KAFKA_BOOTSTRAP_SERVERS"),
            qdrant=environment("QDRANT_URL"),
            postgres=environment("DATABASE_URL"),
            redis=environment("REDIS_URL"),
            broker="kafka",
        )
    except EmbeddedError as error:
        unavailable(str(error))
        raise
    yield started
    await started.stop()


@pytest.fixture(scope="session")
def kafka(stack: Stack) -> str:
    """The bootstrap servers of a real Kafka broker."""
    return stack.endpoints.kafka


@pytest.fixture(scope="session")
async def pipeline(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    """All processors, running; each test uses documents, and where it matters a tenant, of its own."""
    from tests.pipeline import running  # unit tests must not wait for the processors' libraries

    async with running(stack, tmp_path_factory.mktemp("pipeline")) as started:
        yield started


def shared(path: str) -> Path:
    """Return a folder or file of the labelled data, which lies beside the project; skip where it does not."""
    found = Path(__file__).parents[2] / "shared" / path
    if not found.exists():
        unavailable(f"{path}: the labelled data is not here")
    return found
