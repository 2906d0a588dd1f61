"""A broker with topics, a server that answers on it, and a client."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from streams.embedded import kafka
from streams.embedded.processes import free_port
from streams.gateways.client import Client
from tests.conftest import unavailable
from tests.integration.answering import Server
from topics import admin


@pytest.fixture(scope="session")
async def broker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """A broker with the topics of the catalogue, and nobody but the test's server to answer on it."""
    try:
        jars = await kafka.prepare(lambda _: None)
    except kafka.KafkaUnavailable as error:
        unavailable(str(error))
        raise
    folder = tmp_path_factory.mktemp("broker")
    port, controller = free_port(), free_port()
    server = await kafka.start(folder, jars=jars, port=port, controller_port=controller, log=folder / "log")
    try:
        await admin.apply(server.url)
        yield server.url
    finally:
        await server.child.stop()


@pytest.fixture
async def server(broker: str) -> AsyncIterator[Server]:
    async with Server(broker) as running:
        yield running


@pytest.fixture
async def client(broker: str) -> AsyncIterator[Client]:
    async with Client(bootstrap=broker) as running:
        yield running
