"""Publishing document changes, and waiting until they are searchable."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import msgspec
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from schemas import codec
from schemas.cloudevents import read_document_change
from schemas.documents import DocKey, DocumentChange, DocumentStatus
from streams.errors import Invalid, NoReply, RankstreamError, Transient
from streams.gateways.broker import open_producer
from streams.gateways.questions import new_traceparent
from streams.gateways.receipts import Receipt, Receipts
from streams.gateways.tail import Tail
from streams.gateways.wording import invalid
from streams.telemetry.asking import Asking, asking
from topics.catalogue import DOCUMENT_CHANGES, DOCUMENT_CHANGES_BULK, DOCUMENT_STATUS, document_key
from topics.connection import Kafka
from topics.topic import Topic

LINGER = 10  # milliseconds, when publishing many
IN_FLIGHT = 256  # changes on their way at once, when publishing many

Changes = Iterable[DocumentChange] | AsyncIterable[DocumentChange]


@dataclass(frozen=True, kw_only=True)
class Published:
    """What became of one change: delivered or not, and its receipt where one was waited for."""

    key: DocKey
    version: int
    delivered: bool  # the broker has it
    status: DocumentStatus | None = None
    error: RankstreamError | None = None  # Invalid, Transient (not delivered) or NoReply (no receipt in time)

    def as_status(self) -> DocumentStatus | None:
        """Return the receipt, or a failure of our own in the shape of one."""
        if self.error is None:
            return self.status
        return DocumentStatus.failed(self.key, self.version, "", str(self.error))


class Publisher:
    """The document side of a client; what it needs of the broker is opened when first used."""

    def __init__(self, kafka: Kafka, *, fast_fetch: bool = False) -> None:
        self._kafka = kafka
        self._receipts = Receipts()
        self._tail = Tail(kafka, DOCUMENT_STATUS, self._receipts.deliver, fast_fetch=fast_fetch)
        self._opened = AsyncExitStack()
        self._producers: dict[int, AIOKafkaProducer] = {}
        self._tailing = False
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        """Open all that publishing needs; raise ConfigurationError."""
        await self._open(0, wait=True)

    async def stop(self) -> None:
        """Deliver what was taken and close; stopping twice is fine."""
        await self._opened.aclose()
        self._producers.clear()
        self._tailing = False

    async def publish(
        self, change: DocumentChange, *, wait: bool, timeout: float, bulk: bool = False
    ) -> DocumentStatus | None:
        """Publish one change; with `wait`, return its receipt. Raises Invalid, Transient, NoReply."""
        await self._open(0, wait)
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        outcome = await self._publish(change, sent, linger=0, wait=wait, timeout=timeout, bulk=bulk)
        if outcome.error is not None:
            raise outcome.error
        return outcome.status

    async def publish_many(
        self, changes: Changes, *, wait: bool, timeout: float, bulk: bool = False, in_flight: int = IN_FLIGHT
    ) -> AsyncIterator[Published]:
        """Publish changes in their order and yield what became of each, in the order in which they finish.

        bulk: on the lane that edits and questions do not queue behind; deletions never go there. With many on their way
        a receipt may be long in coming, so `timeout` counts from the last receipt of any.
        """
        await self._open(LINGER, wait)
        finished: asyncio.Queue[Published] = asyncio.Queue()
        running: set[asyncio.Task[None]] = set()
        outstanding = 0

        async def run(change: DocumentChange, sent: asyncio.Future[None]) -> None:
            finished.put_nowait(await self._publish(change, sent, linger=LINGER, wait=wait, timeout=timeout, bulk=bulk))

        try:
            async for change in _each(changes):
                sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                task = asyncio.create_task(run(change, sent))
                running.add(task)
                task.add_done_callback(running.discard)
                outstanding += 1
                await sent  # one after another, so that two versions of a document keep their order
                while outstanding >= in_flight or not finished.empty():
                    yield await finished.get()
                    outstanding -= 1
            while outstanding:
                yield await finished.get()
                outstanding -= 1
        finally:
            for task in running:
                task.cancel()

    async def _open(self, linger: int, wait: bool) -> None:
        async with self._lock:
            if linger not in self._producers:
                producer = self._producers[linger] = await open_producer(self._kafka, linger_ms=linger)
                self._opened.push_async_callback(producer.stop)
            if wait and not self._tailing:
                await self._tail.start()
                self._opened.push_async_callback(self._tail.stop)
                self._tailing = True

    async def _publish(
        self,
        change: DocumentChange,
        sent: asyncio.Future[None],
        *,
        linger: int,
        wait: bool,
        timeout: float,
        bulk: bool = False,
    ) -> Published:
        with asking("publish") as asked:
            outcome = await self._sent(asked, change, sent, linger=linger, wait=wait, timeout=timeout, bulk=bulk)
            if outcome.error is not None:
                asked.failed(outcome.error)
            return outcome

    async def _sent(
        self,
        asked: Asking,
        change: DocumentChange,
        sent: asyncio.Future[None],
        *,
        linger: int,
        wait: bool,
        timeout: float,
        bulk: bool,
    ) -> Published:
        outcome = Published(key=change.key, version=change.version, delivered=False)
        key = document_key(change.tenant, change.source, change.doc_id)
        lane: Topic = DOCUMENT_CHANGES_BULK if bulk and change.op != "delete" else DOCUMENT_CHANGES
        sending = asked.send(lane.name)
        try:
            value = checked(change)
            headers = [("traceparent", (sending.traceparent or new_traceparent()).encode())]
            with self._receipts.expect(change.key, change.version) as receipt:
                delivery = await self._producers[linger].send(lane.name, value, key=key, headers=headers)
                _set(sent)
                del value  # it may be large, and the receipt may be long in coming
                await delivery
                sending.ended()
                outcome = dataclasses.replace(outcome, delivered=True)
                if wait:
                    status = await self._receipt(receipt, change, timeout, many=linger > 0)
                    outcome = dataclasses.replace(outcome, status=status)
            return outcome
        except RankstreamError as error:
            return dataclasses.replace(outcome, error=error)
        except (KafkaError, OSError) as error:
            sending.ended(error)
            said = " ".join(str(error).split()) or type(error).__name__
            return dataclasses.replace(outcome, error=Transient(f"the broker did not take it: {said}"))
        finally:
            sending.ended()
            _set(sent)

    async def _receipt(self, receipt: Receipt, change: DocumentChange, timeout: float, *, many: bool) -> DocumentStatus:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while True:
            since = max(begin, self._receipts.last) if many else begin
            left = since + timeout - loop.time()
            if left <= 0:
                key = f"{change.source}/{change.doc_id}"
                raise NoReply(f"{key} version {change.version}: published, but no receipt came within {timeout:g} s")
            await asyncio.wait([receipt], timeout=left)
            if receipt.done():
                return receipt.result()


def checked(change: DocumentChange) -> bytes:
    """Return the bytes of a change that is fit to be published; raise Invalid that names the field."""
    try:
        value = codec.encode(change)
        read_document_change(value, {})
    except codec.InvalidMessage as error:
        raise invalid(error, msgspec.structs.asdict(change)) from error
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Invalid(f"cannot be written as JSON: {error}") from error
    if len(value) > DOCUMENT_CHANGES.largest_record:
        limit = DOCUMENT_CHANGES.largest_record
        raise Invalid(
            f"the change has {len(value):,} bytes as JSON; the limit is {limit:,}: split the document", field="content"
        )
    return value


async def _each(changes: Changes) -> AsyncIterator[DocumentChange]:
    if isinstance(changes, AsyncIterable):
        async for change in changes:
            yield change
    else:
        for change in changes:
            yield change


def _set(sent: asyncio.Future[None]) -> None:
    if not sent.done():
        sent.set_result(None)
