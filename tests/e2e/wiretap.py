"""Reads what the pipeline says about the records that we sent, told apart by the trace that each of them starts."""

from __future__ import annotations

import asyncio
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from streams.gateways.questions import new_traceparent
from topics import catalogue
from topics.topic import LARGEST_RECORD, Topic

T = TypeVar("T")

REPLY_PARTITION = 61
WATCHED = (catalogue.DOCUMENT_STATUS, catalogue.VECTORS, *catalogue.DEAD_LETTERS)


class Wiretap:
    """Receipts, vectors, dead letters and replies as they come, and a way to send bytes that no client would."""

    def __init__(self, bootstrap: str) -> None:
        self._consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, fetch_max_wait_ms=100)
        self._producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap, acks="all", max_request_size=LARGEST_RECORD + 65_536
        )
        self._records: defaultdict[str, list[ConsumerRecord]] = defaultdict(list)
        self._next: dict[TopicPartition, int] = {}
        self._news = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._producer.start()
        await self._consumer.start()
        partitions = [TopicPartition(topic.name, n) for topic in WATCHED for n in range(topic.partitions)]
        partitions.append(TopicPartition(catalogue.REPLIES.name, REPLY_PARTITION))
        self._consumer.assign(partitions)
        await self._consumer.seek_to_end(*partitions)
        self._next = {partition: await self._consumer.position(partition) for partition in partitions}
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        await self._consumer.stop()
        await self._producer.stop()

    async def _read(self) -> None:
        while True:
            for partition, records in (await self._consumer.getmany(timeout_ms=1000)).items():
                for record in records:
                    self._records[trace_of(dict(record.headers).get("traceparent", b""))].append(record)
                self._next[partition] = records[-1].offset + 1
            self._news.set()

    async def send(self, topic: Topic, key: bytes, value: bytes, *, reply: bool = False) -> str:
        """Send bytes past all checks of the client and return the trace that they start."""
        parent = new_traceparent().encode()
        headers = [("traceparent", parent)]
        if reply:
            headers += [
                ("kafka_replyTopic", catalogue.REPLIES.name.encode()),
                ("kafka_replyPartition", struct.pack(">i", REPLY_PARTITION)),
                ("kafka_correlationId", parent),
            ]
        await self._producer.send_and_wait(topic.name, value, key=key, headers=headers)
        return trace_of(parent)

    def records(self, trace: str, topics: Iterable[Topic]) -> list[ConsumerRecord]:
        """Return what some topics have got of a trace so far."""
        names = {topic.name for topic in topics}
        return [record for record in self._records[trace] if record.topic in names]

    async def until(self, found: Callable[[], T], *, seconds: float, doing: str) -> T:
        """Wait until `found` returns something; one waits at a time."""
        try:
            async with asyncio.timeout(seconds):
                while not (result := found()):
                    if self._reading.done():
                        self._reading.result()
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{doing}: nothing came within {seconds:g} s") from None
        return result

    async def caught_up(self) -> None:
        """Wait until all that the topics hold now is read."""
        ends = await self._consumer.end_offsets(list(self._next))
        behind = "reading to the end"
        await self.until(lambda: all(self._next[p] >= end for p, end in ends.items()), seconds=20, doing=behind)


def trace_of(traceparent: bytes) -> str:
    """Return the trace id of a W3C trace context; processors may give their own span id beside it."""
    return traceparent.decode("ascii", "replace")[3:35]
