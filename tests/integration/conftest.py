"""A broker with topics, a server that answers on it, and a client."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from streams.gateways.client import Client
from tests.integration.answering import Server
from topics import admin


@pytest.fixture(scope="session")
async def broker(kafka: str) -> str:
    """A broker with the topics of the catalogue."""
    await admin.apply(kafka)
    return kafka


@pytest.fixture
async def server(broker: str) -> AsyncIterator[Server]:
    async with Server(broker) as running:
        yield running


@pytest.fixture
async def client(broker: str) -> AsyncIterator[Client]:
    async with Client(bootstrap=broker) as running:
        yield running
