"""A broker with topics, a server that answers on it, and a client."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from streams.gateways.client import Client
from tests import brokers
from tests.integration.answering import Server


@pytest.fixture(scope="session")
async def broker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """A broker with the topics of the catalogue, and nobody but the test's server to answer on it."""
    async with brokers.running(tmp_path_factory.mktemp("broker")) as server:
        yield server.url


@pytest.fixture
async def server(broker: str) -> AsyncIterator[Server]:
    async with Server(broker) as running:
        yield running


@pytest.fixture
async def client(broker: str) -> AsyncIterator[Client]:
    async with Client(bootstrap=broker) as running:
        yield running
