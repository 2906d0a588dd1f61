"""A broker on which each processor is a user of its own, with its own rights and no more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence

import pytest

from streams.embedded.kafka import KafkaUnavailable
from streams.gateways import permitted
from streams.processors import rights
from streams.processors.rights import Right
from tests.conftest import unavailable
from tests.integration.security.broker import SETTLED, SecuredKafka, running
from topics import admin
from topics.connection import KafkaConnection

NAMES = tuple(rights.of_everyone())
NOBODY = "nobody"  # a user without a right


async def until_known(kafka: KafkaConnection, wanted: Sequence[Right], *, lacks: bool) -> None:
    """Wait until the broker acts on a change of rights."""
    until = time.monotonic() + SETTLED
    while bool(await permitted.lacking(kafka, wanted)) is not lacks:
        assert time.monotonic() < until
        await asyncio.sleep(0.05)


@pytest.fixture(scope="session")
async def secured(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SecuredKafka]:
    folder = tmp_path_factory.mktemp("secured")
    try:
        async with running(folder, [*NAMES, NOBODY]) as broker:
            await broker.grant("operator", rights.of_operator())
            await admin.apply(broker.as_user("operator"))
            for name, granted in rights.of_everyone().items():
                await broker.grant(name, granted)
            for name, granted in rights.of_everyone().items():
                await until_known(broker.as_user(name), granted, lacks=False)
            yield broker
    except KafkaUnavailable as error:
        unavailable(str(error))
        raise
