"""Each processor works with its own rights on Kafka, and says which one it lacks without one of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import TopicAuthorizationFailedError

from streams.adapters.migrations import migrate
from streams.app import Worker
from streams.bootstrap import Resources
from streams.cli import lag
from streams.cli.run import _check_rights
from streams.embedded import stack as stacks
from streams.errors import ConfigurationError
from streams.gateways import dead_letters, permitted
from streams.gateways.client import Client
from streams.processors import catalogue, rights
from streams.processors.rights import Right
from streams.settings import Settings
from tests.integration.security.broker import SETTLED, SecuredKafka
from tests.integration.security.conftest import NOBODY
from tests.pipeline import page
from topics.catalogue import ALL, CHUNKS, VECTORS
from topics.connection import client_settings


@asynccontextmanager
async def workers(secured: SecuredKafka, settings: Settings) -> AsyncIterator[None]:
    """Run every processor as its own user; stores and models are shared."""
    resources = Resources(settings)
    found: list[Worker] = []
    try:
        for processor in catalogue.ALL:
            if processor.per_generation:
                continue
            own = replace(settings, kafka=secured.as_user(processor.name))
            found.append(Worker(processor, await resources.deps(processor), own))
        await asyncio.gather(*(worker.start() for worker in found))
        async with asyncio.timeout(90):
            await asyncio.gather(*(worker.assigned.wait() for worker in found))
        yield
        assert not [worker.processor.name for worker in found if worker.failed.done()]
    finally:
        await asyncio.gather(*(worker.stop() for worker in found), return_exceptions=True)
        await resources.close()


@pytest.fixture(scope="module")
async def settings(secured: SecuredKafka, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Settings]:
    folder = tmp_path_factory.mktemp("stores")
    started = await stacks.start(folder, kafka=secured.at("login"))
    at = started.endpoints
    await migrate(at.postgres)
    yield Settings(
        data_dir=folder,
        kafka=secured.as_user("clients"),
        qdrant=at.qdrant,
        postgres=at.postgres,
        redis=at.redis,
        session_timeout=6.0,
    )
    await started.stop()


async def test_processors_that_are_each_a_user_of_their_own_index_a_document_and_answer_a_question(
    secured: SecuredKafka, settings: Settings
) -> None:
    async with workers(secured, settings), Client(bootstrap=settings.kafka) as client:
        receipt = await client.publish(page("vpn", "# VPN\n\nUse the gateway south-gate."), wait=True, timeout=60)
        assert receipt is not None
        assert receipt.status == "searchable"
        [bulk] = [each async for each in client.publish_many([page("mail", "# Mail\n\nUse port 465.")], bulk=True)]
        assert bulk.status == "searchable"
        for question, doc_id in (("which gateway does the VPN use?", "vpn"), ("which port does mail use?", "mail")):
            reply = await client.ask(question, tenant="acme", timeout=20)
            assert reply.error is None
            assert reply.passages[0].doc_id == doc_id
    # What its operator looks at: lags of all groups, dead letters of all topics; and there are none.
    operator = secured.as_user("operator")
    lags = await lag.measure(operator)
    assert [each.processor for each in lags if each.records != 0] == []
    found = await dead_letters.read(operator, seconds=20)
    assert (found.letters, found.complete) == ((), True)


async def until_said(kafka: object, wanted: Right, *, lacks: bool) -> None:
    """Wait until the broker knows of a change of rights."""
    until = time.monotonic() + SETTLED
    while bool(await permitted.lacking(kafka, [wanted])) is not lacks:  # type: ignore[arg-type]
        assert time.monotonic() < until
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("processor", catalogue.ALL, ids=lambda processor: processor.name)
async def test_a_processor_that_lacks_one_of_its_rights_says_which(
    secured: SecuredKafka, tmp_path: Path, processor: rights.Processor
) -> None:
    user = secured.as_user(processor.name)
    found = Settings(data_dir=tmp_path, kafka=user)
    wanted = rights.of_processor(processor)
    await _check_rights(found, (processor.name,))
    for right in wanted[1:]:  # the first one is on all topics: those that follow give a part of it
        kind = next(operation for operation in right.operations if operation != "Describe")
        without = replace(right, operations=(kind,))
        await secured.take(processor.name, without)
        try:
            await until_said(user, without, lacks=True)
            with pytest.raises(ConfigurationError) as refused:
                await _check_rights(found, (processor.name,))
        finally:
            await secured.grant(processor.name, [without])
        await until_said(user, without, lacks=False)
        assert str(refused.value) == (
            f"Kafka gives {processor.name} no right to {kind} on {right.kind} {right.name}{'*' * right.begins}: "
            f"`rankstream acls --processor {processor.name}` prints what is needed"
        )


async def reads(kafka: object, topic: str) -> list[bytes]:
    consumer = AIOKafkaConsumer(**client_settings(kafka), group_id=None, auto_offset_reset="earliest")  # type: ignore[arg-type]
    await consumer.start()
    try:
        consumer.assign([TopicPartition(topic, 0)])
        found = await consumer.getmany(timeout_ms=3000)
        return [record.value for records in found.values() for record in records]
    finally:
        await consumer.stop()


async def test_whoever_asks_questions_reads_no_vectors(secured: SecuredKafka) -> None:
    with pytest.raises(TopicAuthorizationFailedError):
        await reads(secured.as_user("clients"), VECTORS.name)
    await reads(secured.as_user("index-vectors"), VECTORS.name)


async def test_a_user_without_rights_has_none_and_a_name_alone_opens_nothing(secured: SecuredKafka) -> None:
    with pytest.raises(TopicAuthorizationFailedError):
        await reads(secured.as_user(NOBODY), CHUNKS.name)
    wanted = [Right(kind="topic", name=topic.name, operations=("Read", "Write", "Describe")) for topic in ALL]
    assert await permitted.lacking(secured.as_user(NOBODY), wanted) == tuple(wanted)
