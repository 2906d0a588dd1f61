"""Faust's consumer, less its own book of what was acknowledged.

Faust looks at offsets alone. It takes a jump in them for records that do not exist, and counts those as done; records
that it fetched before a seek and delivers after it make such a jump. Rebalances that follow each other quickly lose
records that way. Here each batch carries the epoch in which it was fetched, the consumer's thread begins a new epoch
together with every seek, and what is committed is what `OrderedAcks` says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

import aiokafka
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.acks import OrderedAcks


class ConsumerThread(driver.AIOKafkaConsumerThread):
    """Runs the client library; everything with an underscore runs in its own thread."""

    fetch_wait: int | None = None  # milliseconds; None: what Faust says
    epoch = 1

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        self.epoch += 1
        await super().on_partitions_revoked(revoked)

    async def seek_to_committed(self) -> Mapping[TP, int]:
        committed: Mapping[TP, int] = await self.call_thread(self._seek_to_committed)
        return committed

    async def commit_of(self, epoch: int, offsets: Mapping[TP, int]) -> bool:
        """Commit offsets, unless their epoch is over."""
        done: bool = await self.call_thread(self._commit_of, epoch, offsets)
        return done

    async def _seek_to_committed(self) -> Mapping[TP, int | None]:
        consumer = self._ensure_consumer()
        committed = {partition: await consumer.committed(partition) for partition in consumer.assignment()}
        unknown = [partition for partition, offset in committed.items() if offset is None]
        starts = {**committed, **(await consumer.beginning_offsets(unknown) if unknown else {})}
        # Nothing is awaited from here on: whatever is fetched comes from before all seeks, or from after them.
        for partition in consumer.assignment() & starts.keys():
            consumer.seek(partition, starts[partition])
        self.epoch += 1
        return committed

    async def progress(self) -> tuple[Mapping[TP, int], Mapping[TP, int]]:
        """Return where reading stands in each assigned partition, and where each ends."""
        both: tuple[Mapping[TP, int], Mapping[TP, int]] = await self.call_thread(self._progress)
        return both

    async def _progress(self) -> tuple[Mapping[TP, int], Mapping[TP, int]]:
        consumer = self._ensure_consumer()
        partitions = list(consumer.assignment())
        positions = {partition: await consumer.position(partition) for partition in partitions}
        return positions, await consumer.end_offsets(partitions) if partitions else {}

    async def _commit_of(self, epoch: int, offsets: Mapping[TP, int]) -> bool:
        return epoch == self.epoch and await self._commit(offsets)

    async def _fetch_records(self, *arguments: Any, **options: Any) -> tuple[int, Mapping[TP, list[Any]]]:
        records = await super()._fetch_records(*arguments, **options)
        return self.epoch, records  # not a step of the event loop lies between taking them and this

    def _create_worker_consumer(self, transport: driver.Transport) -> aiokafka.AIOKafkaConsumer:
        consumer = super()._create_worker_consumer(transport)
        if self.fetch_wait is not None:
            consumer._fetch_max_wait_ms = self.fetch_wait
        return consumer


class Consumer(driver.Consumer):
    """Delivers what its thread fetched in the present epoch, and commits what was acknowledged in it."""

    acks: OrderedAcks
    _thread: ConsumerThread
    forgotten: Callable[[], None]  # called when everything in flight was forgotten
    thread_type = ConsumerThread
    _fetched_in = 0  # the epoch of the batch that is being delivered

    def _new_consumer_thread(self) -> ConsumerThread:
        return self.thread_type(self, loop=self.loop, beacon=self.beacon)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        self._enter(self._thread.epoch)
        await super().on_partitions_revoked(revoked)

    async def perform_seek(self) -> None:
        await super().perform_seek()
        self._enter(self._thread.epoch)

    @property
    def leaderless(self) -> bool:
        """Whether the group has no coordinator."""
        consumer = self._thread._consumer
        return consumer is not None and consumer._coordinator.coordinator_id is None

    async def progress(self) -> tuple[Mapping[TP, int], Mapping[TP, int]]:
        """Return where reading stands in each assigned partition, and where each ends."""
        return await self._thread.progress()

    def _enter(self, epoch: int) -> None:
        if self.acks.start(epoch):
            self.forgotten()

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Mapping[TP, list[Any]]:
        epoch, records = await self._thread.getmany(active_partitions, timeout)
        self._enter(epoch)
        self._fetched_in = epoch
        if epoch != self.acks.epoch:
            return {}
        for partition, some in records.items():
            for record in some:
                self.acks.receive(partition.topic, partition.partition, record.offset)
        return records

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Any]]:
        async for partition, message in super().getmany(timeout):
            if self._fetched_in != self.acks.epoch:
                break  # the rest is fetched again
            message.epoch = self._fetched_in
            self._read_offset[partition] = None  # so that Faust neither drops the message nor sees a gap before it
            yield partition, message

    async def _commit_tps(self, tps: Iterable[TP], start_new_transaction: bool) -> bool:
        epoch, unsaved = self.acks.epoch, self.acks.unsaved()
        if not unsaved:
            return False
        done = await self._thread.commit_of(epoch, {TP(*partition): offset for partition, offset in unsaved.items()})
        if done:
            self.acks.save(epoch, unsaved)
        return bool(done)


class _QuickThread(ConsumerThread):
    fetch_wait = 30  # milliseconds


class QuickConsumer(Consumer):
    """Polls with short waits: Tansu's long poll does not wake on new data."""

    thread_type = _QuickThread
