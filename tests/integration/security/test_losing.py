"""A processor that loses a right while it runs ends, and says which."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from streams.app import Worker
from streams.errors import CannotContinue, ConfigurationError
from streams.processors import rights
from streams.processors.catalogue import CHUNK, PUBLISH_VERSION
from streams.settings import Settings
from streams.wire import RawOutgoing
from tests.integration.security.broker import SecuredKafka
from tests.integration.security.conftest import until_known

SECONDS = 60.0  # until a heartbeat or a fetch is refused


@pytest.mark.parametrize("kind", ["topic", "group"])
async def test_a_processor_that_loses_the_right_to_read_ends_and_says_so(
    secured: SecuredKafka, tmp_path: Path, kind: Literal["topic", "group"]
) -> None:
    processor, user = PUBLISH_VERSION, secured.as_user(PUBLISH_VERSION.name)
    [lost] = [
        replace(right, operations=("Read",))
        for right in rights.of_processor(processor)
        if right.kind == kind and "Read" in right.operations
    ]
    worker = Worker(processor, None, Settings(data_dir=tmp_path, kafka=user, session_timeout=6.0))
    await worker.start()
    try:
        await asyncio.wait_for(worker.assigned.wait(), SECONDS)
        await secured.take(processor.name, lost)
        error = await asyncio.wait_for(worker.failed, SECONDS)
    finally:
        await secured.grant(processor.name, [lost])
        await worker.stop()
    assert isinstance(error, CannotContinue)
    name = f"topic {lost.name}" if kind == "topic" else f"in group {lost.name}"
    assert str(error) == (
        f"publish-version: Kafka gives no right to read {name}; `rankstream acls` prints what is needed"
    )
    await until_known(user, [lost], lacks=False)


async def test_a_processor_that_loses_the_right_to_write_stops_and_says_so(
    secured: SecuredKafka, tmp_path: Path
) -> None:
    lost = replace(rights.of_processor(CHUNK)[3], operations=("Write",))
    worker = Worker(CHUNK, None, Settings(data_dir=tmp_path, kafka=secured.as_user("chunk")))
    await worker._app.producer.start()
    await secured.take("chunk", lost)
    try:
        await until_known(secured.as_user("chunk"), [lost], lacks=True)
        with pytest.raises(ConfigurationError, match=f"Kafka gives no right to write to {lost.name}"):
            await worker._produce(RawOutgoing(topic=lost.name, key=b"k", value=b"v", headers={}))
    finally:
        await secured.grant("chunk", [lost])
        await worker._app.producer.stop()
    await until_known(secured.as_user("chunk"), [lost], lacks=False)
