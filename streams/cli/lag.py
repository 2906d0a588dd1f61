"""How far every processor is behind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from streams.gateways.broker import reaching
from streams.processor import Processor
from streams.processors import catalogue

Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True, kw_only=True)
class Lag:
    """Records of its topic that a processor's group has not acknowledged yet."""

    processor: str
    topic: str
    records: int | None  # none: the broker does not say
    state: str  # of the consumer group, in Kafka's words: Stable, Empty (nobody works), PreparingRebalance …


async def measure(bootstrap: str) -> tuple[Lag, ...]:
    """Return the lags in pipeline order; raise ConfigurationError when the broker cannot be reached."""
    servers = bootstrap.split(",")
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    consumer = AIOKafkaConsumer(bootstrap_servers=servers, group_id=None, enable_auto_commit=False)
    try:
        async with reaching(bootstrap):
            await asyncio.gather(admin.start(), consumer.start())
        cluster = await consumer._client.fetch_all_metadata()

        def partitions(topic: str) -> list[TopicPartition]:
            return [TopicPartition(topic, number) for number in sorted(cluster.partitions_for_topic(topic) or ())]

        everything = sorted({tp for processor in catalogue.ALL for tp in partitions(processor.source.name)})
        ends, begins = await consumer.end_offsets(everything), await consumer.beginning_offsets(everything)
        lags = [
            await _lag(admin, processor, partitions(processor.source.name), begins, ends) for processor in catalogue.ALL
        ]
        return tuple(lags)
    finally:
        await consumer.stop()
        await admin.close()


async def _lag(
    admin: AIOKafkaAdminClient, processor: Processor, read: list[TopicPartition], begins: Offsets, ends: Offsets
) -> Lag:
    try:
        committed: Mapping[TopicPartition, Any] = await admin.list_consumer_group_offsets(processor.group)
        state = await _group_state(admin, processor.group)
    except KafkaError:
        return Lag(processor=processor.name, topic=processor.source.name, records=None, state="unknown")
    behind = 0
    for tp in read:
        offset = committed[tp].offset if tp in committed else -1
        # A group that never acknowledged here begins at the beginning.
        behind += max(0, ends[tp] - max(offset, begins[tp]))
    return Lag(processor=processor.name, topic=processor.source.name, records=behind, state=state)


async def _group_state(admin: AIOKafkaAdminClient, group: str) -> str:
    [answer] = await admin.describe_consumer_groups([group])
    # (error, group, state, protocol type, protocol, members, …)
    return str(answer.groups[0][2]) or "unknown"
