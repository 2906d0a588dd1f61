"""Each processor works with its own rights on Kafka, and says which one it lacks without one of them."""

from __future__ import annotations

import asyncio
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
from streams.cli.run import _check_rights
from streams.domain.letters import Letter
from streams.embedded import stack as stacks
from streams.errors import ConfigurationError
from streams.gateways import dead_letters, lag, permitted
from streams.gateways.broker import open_producer
from streams.gateways.client import Client
from streams.processors import catalogue, replay, rights
from streams.processors.rights import Right
from streams.settings import Settings
from tests.integration.security.broker import SecuredKafka
from tests.integration.security.conftest import NOBODY, until_known
from tests.pipeline import page
from topics.catalogue import ALL, DOCUMENT_CHANGES, VECTORS
from topics.connection import KafkaConnection, client_settings


@asynccontextmanager
async def workers(secured: SecuredKafka, settings: Settings) -> AsyncIterator[None]:
    """Run every processor as its own user; stores and models are shared."""
    resources = Resources(settings)
    found: list[Worker] = []
    try:
        for processor in catalogue.ALL:
            own = replace(settings, kafka=secured.as_user(processor.name))
            deps = await resources.deps(processor)
            if processor.per_generation:  # of one that is dropped before it is filled
                processor, deps = replay.of("g9", processor), replace(deps, generation="g9")  # noqa: PLW2901
            found.append(Worker(processor, deps, own))
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
        producer = await open_producer(secured.as_user("clients"), linger_ms=0)
        await producer.send_and_wait(DOCUMENT_CHANGES.name, b"no document", partition=0)
        await producer.stop()
        # What its operator does: looks at dead letters, sends them back, is done with them; and at lags.
        operator = secured.as_user("operator")
        [dead, *_] = await letters(operator, "open")
        [sent] = await dead_letters.redrive(operator, [dead], seconds=20)
        assert sent.error is None
        # It died the same way again.
        parked = await letters(operator, "parked")
        await dead_letters.discard(operator, parked)
        assert {each.place for each in parked} <= {each.place for each in await letters(operator, "discarded")}
        lags = await lag.measure(operator)
        assert {each.processor for each in lags} == {each.name for each in catalogue.ALL if not each.per_generation}
        assert None not in [each.records for each in lags]


async def letters(kafka: KafkaConnection, state: str) -> list[Letter]:
    """Wait for letters in a state."""
    async with asyncio.timeout(30):
        while True:
            read = await dead_letters.read(kafka, seconds=20)
            if found := [letter for letter in read.letters if letter.state == state]:
                return found
            await asyncio.sleep(0.2)


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
            await until_known(user, [without], lacks=True)
            with pytest.raises(ConfigurationError) as refused:
                await _check_rights(found, (processor.name,))
        finally:
            await secured.grant(processor.name, [without])
        await until_known(user, [without], lacks=False)
        assert str(refused.value) == (
            f"Kafka gives {processor.name} no right to {kind} on {right.kind} {right.name}{'*' * right.begins}: "
            f"`rankstream acls --processor {processor.name}` prints what is needed"
        )


async def reads(kafka: KafkaConnection, topic: str) -> list[bytes | None]:
    """Return what a user reads of the first partition of a topic, in a second."""
    consumer = AIOKafkaConsumer(**client_settings(kafka), group_id=None, auto_offset_reset="earliest")
    await consumer.start()
    try:
        consumer.assign([TopicPartition(topic, 0)])
        found = await consumer.getmany(timeout_ms=1000)
        return [record.value for records in found.values() for record in records]
    except TopicAuthorizationFailedError:
        return []
    finally:
        await consumer.stop()


async def test_whoever_asks_questions_reads_no_vectors_and_writes_none(secured: SecuredKafka) -> None:
    producer = await open_producer(secured.as_user("embed"), linger_ms=0)
    await producer.send_and_wait(VECTORS.name, b"a vector", partition=0)
    await producer.stop()
    assert await reads(secured.as_user("index-vectors"), VECTORS.name) == [b"a vector"]
    assert await reads(secured.as_user("clients"), VECTORS.name) == []
    client = await open_producer(secured.as_user("clients"), linger_ms=0)
    with pytest.raises(TopicAuthorizationFailedError):
        await client.send_and_wait(VECTORS.name, b"another", partition=0)
    await client.stop()


async def test_a_user_without_rights_has_none(secured: SecuredKafka) -> None:
    with pytest.raises(ConfigurationError, match=r"is not there.* \(or nobody has no right to it: `rankstream acls`\)"):
        await Client(bootstrap=secured.as_user(NOBODY)).start()
    wanted = [Right(kind="topic", name=topic.name, operations=("Read", "Write", "Describe")) for topic in ALL]
    assert await permitted.lacking(secured.as_user(NOBODY), wanted) == tuple(wanted)
