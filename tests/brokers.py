"""A Kafka broker of a test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from streams.embedded import kafka
from streams.embedded.ports import Ports
from streams.embedded.server import Server
from tests.conftest import unavailable
from topics import admin


async def jars() -> Path:
    """Return Kafka's jars; where they cannot be had the test is skipped, and fails in CI."""
    try:
        return await kafka.prepare(lambda _: None)
    except kafka.KafkaUnavailable as error:
        unavailable(str(error))
        raise


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Server]:
    """Run a broker with the topics of the catalogue, its data below a folder."""
    found, ports = await jars(), Ports(folder)
    port, controller = ports.take("kafka"), ports.take("controller")
    server = await kafka.start(
        folder / "kafka", jars=found, port=port, controller_port=controller, log=folder / "kafka.log"
    )
    try:
        await admin.apply(server.url)
        yield server
    finally:
        await server.child.stop(10)
        ports.release()
