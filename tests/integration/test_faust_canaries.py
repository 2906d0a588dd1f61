"""More facts about Faust that are worked around: an upgrade that changes one is seen here."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import faust
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from faust.agents.replies import ReplyPromise
from faust.auth import SASLCredentials
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

PARTITION = TP("topic", 0)


@pytest.fixture
async def bare() -> AsyncIterator[Any]:
    """An app with Faust's own defaults, not started."""
    yield faust.App("bare", broker="kafka://127.0.0.1:1", env_prefix="NOBODY_SETS_THIS")


@pytest.fixture
def consumer(bare: Any) -> Iterator[Any]:
    async def ignored(*_: Any) -> None:
        return None

    made = bare.transport.create_consumer(
        callback=ignored, on_partitions_revoked=ignored, on_partitions_assigned=ignored
    )
    yield made
    made._thread.thread_loop.close()


def test_acknowledgements_out_of_order_are_committed_past_unfinished_records(consumer: Any) -> None:
    consumer._acked[PARTITION] = [5, 6]
    consumer._committed_offset[PARTITION] = None
    # Records 0 to 4 are unfinished: a crash would lose them.
    assert consumer._new_offset(PARTITION) == 7


async def test_a_second_reply_breaks_a_promise() -> None:
    promise = ReplyPromise("replies", "1")
    promise.fulfill("1", "first")
    with pytest.raises(asyncio.InvalidStateError):
        promise.fulfill("1", "second")


async def test_defaults_that_are_set_otherwise(bare: Any) -> None:
    conf = bare.conf
    assert (conf.stream_wait_empty, conf.table_standby_replicas, conf.web_enabled) == (True, 1, True)
    assert (conf.broker_session_timeout, conf.topic_allow_declare) == (60.0, True)


async def test_another_version_of_an_app_is_another_consumer_group() -> None:
    assert faust.App("name", version=2, broker="kafka://127.0.0.1:1").conf.id == "name-v2"


async def test_the_wait_of_a_fetch_is_hard_coded(bare: Any) -> None:
    worker = SimpleNamespace(app=bare, consumer=SimpleNamespace(in_transaction=False))
    made = driver.AIOKafkaConsumerThread._create_worker_consumer(worker, bare.transport)
    assert made._fetch_max_wait_ms == 1500
    await made.stop()


def test_credentials_without_tls_go_over_the_wire_in_the_clear() -> None:
    credentials = SASLCredentials(username="user", password="password", mechanism="PLAIN")
    assert driver.credentials_to_aiokafka_auth(credentials, None)["security_protocol"] == "SASL_PLAINTEXT"


async def test_a_failed_delivery_is_told_to_its_future_alone(bare: Any) -> None:
    topic = bare.topic("topic", value_serializer="raw")
    delivery: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    delivery.set_exception(ConnectionError("gone"))
    said: list[BaseException] = []
    message = SimpleNamespace(message=SimpleNamespace(channel=topic, callback=None), set_exception=said.append)
    topic._on_published(delivery, message, producer=None, state=None)
    assert [str(error) for error in said] == ["gone"]


async def test_an_exception_that_leaves_an_agent_acknowledges_its_record(broker: str) -> None:
    """And the next process begins after it: the record is lost."""
    name = f"canary-{uuid.uuid4().hex}"
    fields = {"topic_allow_declare": True, "topic_partitions": 1, "table_standby_replicas": 0, "web_enabled": False}
    app = faust.App(
        name,
        broker=f"kafka://{broker}",
        env_prefix="NOBODY_SETS_THIS",
        consumer_auto_offset_reset="earliest",
        broker_commit_interval=0.2,
        broker_session_timeout=6.0,
        broker_heartbeat_interval=1.0,
        **fields,
    )
    topic, came = app.topic(name, value_serializer="raw", partitions=1), asyncio.Event()

    async def broken(stream: Any) -> None:
        async for _ in stream:
            came.set()
            raise ValueError("a bug")

    app.agent(topic)(broken)
    admin, producer = AIOKafkaAdminClient(bootstrap_servers=broker), AIOKafkaProducer(bootstrap_servers=broker)
    await admin.start()
    await producer.start()
    try:
        await admin.create_topics([NewTopic(name, 1, 1)])
        await producer.send_and_wait(name, b"one")
        await app.start()
        async with asyncio.timeout(60):
            await came.wait()
            while not (committed := await admin.list_consumer_group_offsets(name)):  # noqa: ASYNC110  it commits by a clock
                await asyncio.sleep(0.2)
        assert [offset.offset for offset in committed.values()] == [1]
    finally:
        await app.stop()
        await producer.stop()
        await admin.close()
