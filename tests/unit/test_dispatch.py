"""The dispatcher: bounded, chained by key, acknowledged as a prefix."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from schemas.documents import Receipt
from streams.dispatch import Dispatcher
from streams.processor import Ack, Processor
from streams.runner import Runner
from streams.wire import Outgoing, RawOutgoing, Record
from topics import catalogue


def message(doc_id: str) -> Receipt:
    return Receipt(tenant="acme", source="help", doc_id=doc_id, version=1, generation="g1", writer="text")


class Bench:
    """A dispatcher whose handler waits until the test lets it go, by document."""

    def __init__(self, **fields: Any) -> None:
        self.begun: list[str] = []
        self.stopped: list[BaseException] = []
        self.broken = False
        self._gates: dict[str, asyncio.Event] = {}
        processor = Processor(
            name="test", summary="", source=catalogue.RECEIPTS, sinks=(), handle=self._handle, **fields
        )
        self.dispatcher = Dispatcher(Runner(processor, None, self._produce), stop=self.stopped.append)
        self.epoch = 1
        self.dispatcher.acks.start(1)
        self.offset = 0

    @property
    def acked(self) -> int:
        """The records of the present epoch that may be committed."""
        return next(iter(self.dispatcher.acks.unsaved().values()), 0)

    def seek(self) -> None:
        """Begin again at the first record, as after a rebalance."""
        self.epoch += 1
        self.offset = 0
        self.dispatcher.acks.start(self.epoch)
        self.dispatcher.forgotten()

    def gate(self, doc_id: str) -> asyncio.Event:
        return self._gates.setdefault(doc_id, asyncio.Event())

    async def _handle(self, receipt: Receipt, _: Any) -> Sequence[Outgoing]:
        self.begun.append(receipt.doc_id)
        await self.gate(receipt.doc_id).wait()
        if self.broken:
            raise ValueError("a bug")
        return ()

    async def _produce(self, _: RawOutgoing) -> None:
        raise RuntimeError("broker down")

    async def submit(self, record: Callable[..., Record], doc_id: str, key: bytes) -> None:
        came = replace(record(message(doc_id), key=key), offset=self.offset)
        self.offset += 1
        self.dispatcher.acks.receive(came.topic, came.partition, came.offset)
        await self.dispatcher.submit(came, self.epoch)

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)


async def test_records_of_one_key_run_in_order_and_others_beside_them(record: Callable[..., Record]) -> None:
    bench = Bench()
    for doc_id, key in (("a1", b"a"), ("a2", b"a"), ("b1", b"b")):
        await bench.submit(record, doc_id, key)
    await bench.settle()
    assert bench.begun == ["a1", "b1"]
    bench.gate("b1").set()
    await bench.settle()
    assert bench.acked == 0  # b1 is done, but a1 before it is not
    bench.gate("a1").set()
    await bench.settle()
    assert (bench.begun, bench.acked) == (["a1", "b1", "a2"], 1)
    bench.gate("a2").set()
    await bench.settle()
    assert bench.acked == 3


async def test_no_more_are_taken_than_may_be_in_flight(record: Callable[..., Record]) -> None:
    bench = Bench(in_flight=2)
    await bench.submit(record, "a", b"a")
    await bench.submit(record, "b", b"b")
    third = asyncio.create_task(bench.submit(record, "c", b"c"))
    await bench.settle()
    assert not third.done()
    bench.gate("b").set()
    await asyncio.wait_for(third, 1)
    bench.gate("a").set()
    bench.gate("c").set()
    await bench.dispatcher.drain(1)
    assert bench.acked == 3


async def test_on_receipt_a_record_is_acknowledged_before_its_work(record: Callable[..., Record]) -> None:
    bench = Bench(ack=Ack.ON_RECEIPT)
    await bench.submit(record, "a", b"a")
    assert bench.acked == 1
    bench.gate("a").set()
    await bench.dispatcher.drain(1)


async def test_what_does_not_finish_in_time_is_given_back_unacknowledged(record: Callable[..., Record]) -> None:
    bench = Bench()
    await bench.submit(record, "a", b"a")
    await bench.dispatcher.drain(0.05)
    assert (bench.acked, bench.dispatcher.in_flight) == (0, 0)


async def test_a_record_that_cannot_even_be_dead_lettered_stops_the_worker_unacknowledged(
    record: Callable[..., Record],
) -> None:
    bench = Bench()
    bench.broken = True
    bench.gate("a").set()
    await bench.submit(record, "a", b"a")
    await bench.dispatcher.drain(1)
    assert bench.acked == 0
    assert "broker down" in str(bench.stopped[0])


async def test_after_a_rebalance_nothing_old_is_acknowledged_not_even_what_was_waiting(
    record: Callable[..., Record],
) -> None:
    bench = Bench(in_flight=1)
    await bench.submit(record, "a", b"a")
    waiting = asyncio.create_task(bench.submit(record, "b", b"b"))
    await bench.settle()
    bench.seek()
    bench.gate("a").set()
    bench.gate("b").set()
    await asyncio.wait_for(waiting, 1)
    await bench.settle()
    assert (bench.begun, bench.acked) == (["a"], 0)
    await bench.submit(record, "new", b"a")
    bench.gate("new").set()
    await bench.dispatcher.drain(1)
    assert bench.acked == 1


async def test_a_stopping_worker_begins_nothing_that_was_waiting(record: Callable[..., Record]) -> None:
    bench = Bench(in_flight=1)
    await bench.submit(record, "a", b"a")
    waiting = asyncio.create_task(bench.submit(record, "b", b"b"))
    await bench.settle()
    await bench.dispatcher.drain(0.05)
    await asyncio.wait_for(waiting, 1)
    assert (bench.begun, bench.acked, bench.dispatcher.in_flight) == (["a"], 0, 0)


async def test_a_worker_stops_when_a_record_was_lost_before_it_came(record: Callable[..., Record]) -> None:
    bench = Bench()
    bench.gate("a").set()
    bench.gate("b").set()
    lost = record(message("lost"))
    bench.dispatcher.acks.receive(lost.topic, lost.partition, 0)
    bench.offset = 1
    await bench.submit(record, "b", b"b")
    await bench.submit(record, "a", b"a")
    await bench.dispatcher.drain(1)
    assert (bench.begun, bench.acked) == ([], 0)
    assert "lost on its way" in str(bench.stopped[0])
    assert len(bench.stopped) == 1


async def test_what_escapes_a_record_stops_the_worker(record: Callable[..., Record]) -> None:
    bench = Bench()

    async def broken(_: Record) -> None:
        raise RuntimeError("the consumer is gone")

    bench.dispatcher._runner.run = broken  # type: ignore[assignment,method-assign]
    await bench.submit(record, "a", b"a")
    await bench.dispatcher.drain(1)
    assert "the consumer is gone" in str(bench.stopped[0])


async def test_a_worker_that_leaves_ends_what_it_has_and_takes_nothing_new_in_the_end(
    record: Callable[..., Record],
) -> None:
    bench = Bench(ack=Ack.ON_RECEIPT, keyed=False, joins=lambda receipt: receipt.doc_id.startswith("part"))
    await bench.submit(record, "question", b"a")
    await bench.settle()
    leaving = asyncio.create_task(bench.dispatcher.leave(30.0, 30.0))
    await bench.settle()
    await bench.submit(record, "second", b"b")
    bench.gate("part").set()
    await bench.submit(record, "part", b"a")
    await bench.settle()
    bench.gate("question").set()
    await bench.settle()
    await bench.submit(record, "new", b"c")
    await bench.submit(record, "part of second", b"b")
    await bench.settle()
    assert (bench.begun, leaving.done()) == (["question", "second", "part", "part of second"], False)
    for doc_id in ("second", "part of second"):
        bench.gate(doc_id).set()
    await leaving
    assert bench.acked == 3  # the new one, and what came after it, come again to the next process
    assert bench.stopped == []


async def test_a_worker_that_leaves_does_not_wait_for_ever(record: Callable[..., Record]) -> None:
    bench = Bench(ack=Ack.ON_RECEIPT, keyed=False, joins=lambda _: False)
    await bench.submit(record, "question", b"a")
    await bench.dispatcher.leave(0.05, 0.05)
    assert bench.dispatcher.in_flight == 1
    await bench.dispatcher.drain(0.0)
    assert bench.dispatcher.in_flight == 0
