"""How far every processor is behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from streams.gateways.broker import reaching
from streams.processor import Processor
from streams.processors import catalogue
from topics.connection import Kafka, client_settings

Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True, kw_only=True)
class Lag:
    """Records of its topic that a processor's group has not acknowledged yet."""

    processor: str
    topic: str
    records: int | None  # none: the broker does not say
    state: str  # of the consumer group, in Kafka's words: Stable, Empty (nobody works), PreparingRebalance …


class Broker:
    """Answers how far groups are."""

    def __init__(self, admin: AIOKafkaAdminClient, consumer: AIOKafkaConsumer, cluster: Any) -> None:
        self._admin = admin
        self._consumer = consumer
        self._cluster = cluster

    def partitions(self, *topics: str) -> list[TopicPartition]:
        """Return the partitions of topics."""
        return sorted(
            TopicPartition(topic, number)
            for topic in set(topics)
            for number in self._cluster.partitions_for_topic(topic) or ()
        )

    async def cluster(self) -> str:
        """Return the cluster's id."""
        return str((await self._admin.describe_cluster()).get("cluster_id"))

    async def begins(self, partitions: Sequence[TopicPartition]) -> Offsets:
        """Return the first offset of each partition."""
        found: Offsets = await self._consumer.beginning_offsets(partitions)
        return found

    async def ends(self, partitions: Sequence[TopicPartition]) -> Offsets:
        """Return the offset that each partition's next record will have."""
        found: Offsets = await self._consumer.end_offsets(partitions)
        return found

    async def lag(self, processor: Processor, begins: Offsets, ends: Offsets) -> Lag:
        """Return how far a processor's group is behind the given ends."""
        topic = processor.source.name
        try:
            committed: Mapping[TopicPartition, Any] = await self._admin.list_consumer_group_offsets(processor.group)
            state = await self._group_state(processor.group)
        except KafkaError:
            return Lag(processor=processor.name, topic=topic, records=None, state="unknown")
        behind = 0
        for tp in self.partitions(topic):
            offset = committed[tp].offset if tp in committed else -1
            # A group that never acknowledged here begins at the beginning.
            behind += max(0, ends[tp] - max(offset, begins[tp]))
        return Lag(processor=processor.name, topic=topic, records=behind, state=state)

    async def _group_state(self, group: str) -> str:
        [answer] = await self._admin.describe_consumer_groups([group])
        # (error, group, state, protocol type, protocol, members, …)
        return str(answer.groups[0][2]) or "unknown"


@asynccontextmanager
async def asking(kafka: Kafka) -> AsyncIterator[Broker]:
    """Give the block a broker to ask; raise ConfigurationError when it cannot be reached."""
    admin = AIOKafkaAdminClient(**client_settings(kafka))
    consumer = AIOKafkaConsumer(**client_settings(kafka), group_id=None, enable_auto_commit=False)
    try:
        async with reaching(kafka):
            await asyncio.gather(admin.start(), consumer.start())
        yield Broker(admin, consumer, await consumer._client.fetch_all_metadata())
    finally:
        await consumer.stop()
        await admin.close()


async def measure(kafka: Kafka) -> tuple[Lag, ...]:
    """Return the lags in pipeline order; raise ConfigurationError when the broker cannot be reached.

    Replays are told of by `rankstream reindex status`.
    """
    processors = [processor for processor in catalogue.ALL if not processor.per_generation]
    async with asking(kafka) as broker:
        everything = broker.partitions(*(processor.source.name for processor in processors))
        begins, ends = await broker.begins(everything), await broker.ends(everything)
        return tuple([await broker.lag(processor, begins, ends) for processor in processors])
