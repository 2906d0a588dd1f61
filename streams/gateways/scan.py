"""Reading a part of a topic from one offset to another, without a consumer group and within a time."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import GroupAuthorizationFailedError, KafkaError, TopicAuthorizationFailedError

from streams.errors import ConfigurationError, Transient
from streams.gateways.broker import REQUEST_TIMEOUT, reaching
from topics.connection import Kafka, client_settings, of

POLL = 200  # milliseconds
FETCH = 4 * 1024 * 1024  # bytes at once, of all partitions: whoever reads holds them in memory

Spans = Mapping[TopicPartition, tuple[int, int]]  # by partition: the first offset to read, and the one to stop before


@asynccontextmanager
async def reading(kafka: Kafka) -> AsyncIterator[AIOKafkaConsumer]:
    """Open a consumer for the block, without a group; raise ConfigurationError, or Transient when it is cut off."""
    consumer = AIOKafkaConsumer(
        **client_settings(kafka),
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_bytes=FETCH,
        fetch_max_wait_ms=POLL,
        request_timeout_ms=REQUEST_TIMEOUT,
    )
    try:
        async with reaching(kafka):
            await consumer.start()
        yield consumer
    except (TopicAuthorizationFailedError, GroupAuthorizationFailedError) as error:
        user = of(kafka).user
        raise ConfigurationError(f"Kafka gives {user} no right to do this ({error}): `rankstream acls`") from error
    except (KafkaError, OSError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise Transient(f"the broker stopped to answer: {said}") from error
    finally:
        await consumer.stop()


async def scan(
    consumer: AIOKafkaConsumer, spans: Spans, until: float, *, to_end: bool = False
) -> AsyncIterator[list[Any]]:
    """Yield the records of these spans, each partition's in order, until all are read or time is up.

    With `to_end`, beyond the spans as well, up to where the partitions end.
    """
    if not spans:
        return
    consumer.assign(list(spans))
    for partition, (first, _) in spans.items():
        consumer.seek(partition, first)
    while time.monotonic() < until and not await is_read(consumer, spans, to_end=to_end):
        for partition, records in (await consumer.getmany(timeout_ms=POLL)).items():
            if within := [record for record in records if to_end or record.offset < spans[partition][1]]:
                yield within


async def is_read(consumer: AIOKafkaConsumer, spans: Spans, *, to_end: bool) -> bool:
    """Tell whether a consumer stands at the end of these spans or, with `to_end`, of their partitions."""
    for partition, (_, end) in spans.items():
        # What a fetch says of the end is right, where Tansu's answer leaves out all but the first of a batch.
        last = max(end, consumer.highwater(partition) or 0) if to_end else end
        if await consumer.position(partition) < last:
            return False
    return True
