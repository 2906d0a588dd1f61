"""A broker on which each processor is a user of its own, with its own rights and no more."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from streams.embedded.kafka import KafkaUnavailable
from streams.processors import rights
from tests.conftest import unavailable
from tests.integration.security.broker import SecuredKafka, running
from topics import admin

NAMES = tuple(rights.of_everyone())
NOBODY = "nobody"  # a user without a right


@pytest.fixture(scope="session")
async def secured(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SecuredKafka]:
    folder = tmp_path_factory.mktemp("secured")
    try:
        async with running(folder, [*NAMES, NOBODY]) as broker:
            await broker.grant("operator", rights.of_operator())
            await admin.apply(broker.as_user("operator"))
            for name, granted in rights.of_everyone().items():
                await broker.grant(name, granted)
            yield broker
    except KafkaUnavailable as error:
        unavailable(str(error))
        raise
