"""Following a topic from its end, without a consumer group, over restarts of the broker."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.errors import ConfigurationError, RankstreamError
from streams.gateways.broker import WITHIN, reaching
from topics.connection import Kafka, client_settings, of
from topics.topic import Topic

log = logging.getLogger(__name__)

LONG_POLL = 500  # milliseconds that Kafka may hold a fetch open; it answers at once when data comes
SHORT_POLL = 30  # milliseconds, for a broker whose long poll does not wake on new data
SILENCE = 4.0  # seconds without any answer to a fetch after which the consumer is taken for dead
FIRST_BACK_OFF = 0.1  # seconds
LONGEST_BACK_OFF = 2.0  # seconds

CLOSE = 2.0  # seconds that closing a consumer may take

Deliver = Callable[[Any], None]
Choose = Callable[[int], set[int]]


class Tail:
    """Hands every record that comes after `start` to `deliver`.

    A consumer can fall silent after a broker's restart without saying so (aiokafka #1154), so every answer to a fetch
    counts, also an empty one: when none came for a while, a new consumer takes over where the old one stood.
    """

    def __init__(
        self,
        kafka: Kafka,
        topic: Topic,
        deliver: Deliver,
        *,
        choose: Choose = lambda count: set(range(count)),
        fast_fetch: bool = False,
    ) -> None:
        """Read the partitions that `choose` picks, given how many the topic has."""
        self.partitions: frozenset[int] = frozenset()
        self.reading = False
        self._kafka = kafka
        self._topic = topic.name
        self._deliver = deliver
        self._choose = choose
        self._max_wait = SHORT_POLL if fast_fetch else LONG_POLL
        self._next: dict[TopicPartition, int] = {}  # where to go on
        self._follow: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect, take the partitions and stand at their ends; raise ConfigurationError."""
        consumer = await self._open()
        self._follow = asyncio.create_task(self._run(consumer), name=f"tail of {self._topic}")

    async def stop(self) -> None:
        """Stop reading; stopping twice is fine."""
        if self._follow is not None:
            self._follow.cancel()
            await asyncio.gather(self._follow, return_exceptions=True)
            self._follow = None

    async def _open(self) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            **client_settings(self._kafka),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="latest",
            fetch_min_bytes=1,
            fetch_max_wait_ms=self._max_wait,
            request_timeout_ms=int(WITHIN * 1000),
            metadata_max_age_ms=60_000,
        )
        try:
            async with reaching(self._kafka):
                await consumer.start()
                # All topics are listed, since asking Tansu for a name creates it.
                cluster = await consumer._client.fetch_all_metadata()
                count = len(cluster.partitions_for_topic(self._topic) or ())
                if count == 0:
                    kafka = of(self._kafka)
                    hidden = f" (or {kafka.user} has no right to it: `rankstream acls`)" if kafka.named else ""
                    raise ConfigurationError(f"topic {self._topic} is not there: run `rankstream topics apply`{hidden}")
                self.partitions = frozenset(self._choose(count))
                assigned = [TopicPartition(self._topic, partition) for partition in sorted(self.partitions)]
                consumer.assign(assigned)
                ends = await consumer.end_offsets(assigned)
                # Where we stood is kept, unless the topic now ends before it: then it was made anew.
                self._next = {tp: min(self._next.get(tp, end), end) for tp, end in ends.items()}
                for tp, offset in self._next.items():
                    consumer.seek(tp, offset)
        except BaseException:
            await _close(consumer)
            raise
        return consumer

    async def _run(self, consumer: AIOKafkaConsumer | None) -> None:
        this = asyncio.current_task()
        back_off, stuck, down = FIRST_BACK_OFF, 0, False
        while True:
            before = dict(self._next)
            try:
                if consumer is None:
                    consumer = await self._open()
                    log.warning("%s: reading again", self._topic)
                    back_off, down = FIRST_BACK_OFF, False
                await self._read(consumer)
                stuck = 0
            except RankstreamError as error:
                log.log(logging.DEBUG if down else logging.WARNING, "%s", error)
                down = True
            except (Exception, asyncio.CancelledError) as error:
                if this is not None and this.cancelling():
                    raise  # `stop`, and not a cancellation that aiokafka let out
                log.warning("%s: %s: %s", self._topic, type(error).__name__, error)
                stuck = stuck + 1 if before == self._next else 0
                if stuck == 3:
                    self._next.clear()  # what cannot be read is left behind: go on at the end
            finally:
                self.reading = False
                if consumer is not None:
                    await _close(consumer)
                    consumer = None
            await asyncio.sleep(back_off)
            back_off = min(LONGEST_BACK_OFF, back_off * 2)

    async def _read(self, consumer: AIOKafkaConsumer) -> None:
        """Deliver records until fetches go unanswered."""
        opened = time.time()
        self.reading = True
        while True:
            batches = await consumer.getmany(timeout_ms=1000)
            for tp, records in batches.items():
                for record in records:
                    self._next[tp] = record.offset + 1
                    try:
                        self._deliver(record)
                    except Exception:
                        log.exception("%s: a record could not be taken", self._topic)
            if not batches:
                answered = max((consumer.last_poll_timestamp(tp) or 0) / 1000 for tp in self._next)
                if time.time() - max(answered, opened) > SILENCE:
                    log.warning("%s: no answer from the broker for %.0f s, connecting again", self._topic, SILENCE)
                    return


async def _close(consumer: AIOKafkaConsumer) -> None:
    # With a fetch under way, aiokafka's `stop` may be cut short by its own cancellation and leave its connections open.
    for close in (consumer.stop, consumer._client.close):
        closing = asyncio.create_task(close())
        await asyncio.wait([closing], timeout=CLOSE)
        if not closing.done():
            closing.cancel()
        elif not closing.cancelled() and (error := closing.exception()) is not None:
            log.debug("closing a consumer: %s", error)
