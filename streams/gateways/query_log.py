"""Reading the query log: a random sample of questions with what they were answered."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from schemas import codec
from schemas.query_log import LoggedQuestion, LoggedReply
from streams.domain.sampling import Sample
from streams.errors import ConfigurationError, Transient
from streams.gateways import scan
from topics.catalogue import QUERY_LOG
from topics.connection import Kafka

WITHIN = 300.0  # seconds that reading the log once may take

Entry = LoggedQuestion | LoggedReply
_ENTRY: Any = Entry  # a union decodes as one type, which no annotation can say


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A sample, and out of how many questions it was drawn."""

    questions: tuple[LoggedQuestion, ...]
    replies: dict[tuple[str, str], LoggedReply] = field(
        default_factory=dict
    )  # by tenant and query id: the last revision
    seen: int = 0


async def sample(kafka: Kafka, *, size: int, seed: int, since: float, tenant: str | None = None) -> Drawn:
    """Draw up to `size` of the questions that came after `since` (seconds since the epoch).

    Reads the log twice, for the questions and for the answers to those drawn, and holds no more than those. Raises
    ConfigurationError without a broker or the topic, and Transient when it takes too long.
    """
    async with scan.reading(kafka) as consumer:
        spans = await _spans(consumer, since)
        drawn: Sample[LoggedQuestion] = Sample(size, seed)
        async for entry in _entries(consumer, spans):
            if isinstance(entry, LoggedQuestion) and entry.at >= since and tenant in (None, entry.tenant):
                drawn.add((entry.tenant, entry.query_id), entry)
        questions = tuple(question for _, question in drawn.items())
        wanted = {(question.tenant, question.query_id) for question in questions}
        replies: dict[tuple[str, str], LoggedReply] = {}
        async for entry in _entries(consumer, spans):
            if isinstance(entry, LoggedReply) and (entry.tenant, entry.query_id) in wanted:
                before = replies.get((entry.tenant, entry.query_id))
                if before is None or before.revision < entry.revision:
                    replies[entry.tenant, entry.query_id] = entry
    return Drawn(questions=questions, replies=replies, seen=drawn.seen)


async def _spans(consumer: AIOKafkaConsumer, since: float) -> scan.Spans:
    """Return where each partition is to be read: from the first record of that time to what is there now."""
    cluster = await consumer._client.fetch_all_metadata()  # asking Tansu for a name would create it
    numbers = cluster.partitions_for_topic(QUERY_LOG.name) or set()
    if not numbers:
        raise ConfigurationError(f"topic {QUERY_LOG.name} is not there: run `rankstream topics apply`")
    partitions = [TopicPartition(QUERY_LOG.name, number) for number in sorted(numbers)]
    ends = await consumer.end_offsets(partitions)
    begins = await consumer.offsets_for_times({partition: max(0, int(since * 1000)) for partition in partitions})
    return {
        partition: (found.offset, ends[partition])
        for partition, found in begins.items()
        if found is not None and found.offset < ends[partition]
    }


async def _entries(consumer: AIOKafkaConsumer, spans: scan.Spans) -> AsyncIterator[Entry]:
    until = time.monotonic() + WITHIN
    async for records in scan.scan(consumer, spans, until):
        for record in records:
            try:
                yield codec.decode(record.value or b"", _ENTRY)
            except codec.InvalidMessage:
                continue  # of a newer release
    if time.monotonic() >= until:
        raise Transient(f"the query log could not be read within {WITHIN:.0f} s; take a later --since")
