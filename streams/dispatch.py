"""Works on many records at once without breaking their order: bounded, chained by key, acknowledged as a prefix."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from streams.acks import OrderedAcks, Skipped, Ticket
from streams.errors import CannotContinue
from streams.processor import Ack
from streams.runner import Runner
from streams.wire import Record

log = logging.getLogger(__name__)


class Dispatcher:
    """Feeds one runner from one consumer."""

    def __init__(self, runner: Runner, *, stop: Callable[[BaseException], None]) -> None:
        self._runner = runner
        self._stop = stop  # called when not even a dead letter could be produced
        self.acks = OrderedAcks()
        self._slots = asyncio.Semaphore(runner.processor.in_flight)
        self._last_of_key: dict[bytes, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._leaving = False
        self._closed = False

    async def submit(self, record: Record, epoch: int) -> None:
        """Take a record, handed over in an epoch; waits while too many are in flight.

        Records of a partition must come in offset order, and none may be missing: the worker stops when one is, and
        reads it again when it is back.
        """
        await self._slots.acquire()
        ticket = None if self._closed else self._begin(record, epoch)
        if ticket is None:
            # It was waiting when the partitions moved, or the worker stopped: it comes again to whoever has them.
            self._slots.release()
            return
        if self._leaving and not self._runner.is_part(record):
            self._slots.release()  # begun and never finished: it comes again to the next process
            return
        if self._runner.processor.ack is Ack.ON_RECEIPT:
            self.acks.finish(ticket)
        previous = self._last_of_key.get(record.key) if record.key and self._runner.processor.keyed else None
        task = asyncio.create_task(self._work(record, ticket, previous))
        if record.key and self._runner.processor.keyed:
            self._last_of_key[record.key] = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, record: Record, ticket: Ticket, previous: asyncio.Task[None] | None) -> None:
        try:
            if previous is not None:
                await asyncio.wait([previous])
            await self._runner.run(record)
            if not ticket.done:
                self.acks.finish(ticket)
        except Exception as error:
            self._stop(error)
        finally:
            self._slots.release()
            if record.key and self._last_of_key.get(record.key) is asyncio.current_task():
                del self._last_of_key[record.key]

    def _begin(self, record: Record, epoch: int) -> Ticket | None:
        try:
            return self.acks.begin(record.topic, record.partition, record.offset, epoch)
        except Skipped as error:
            self._closed = True
            self._stop(CannotContinue(f"{self._runner.processor.name}: a record was lost on its way: {error}"))
            return None

    def forgotten(self) -> None:
        """End work whose records were forgotten: they come again to whoever owns their partitions now."""
        if self._runner.processor.ack is Ack.AFTER_OUTPUT:
            for task in self._tasks:
                task.cancel()

    @property
    def in_flight(self) -> int:
        """The number of records being worked on."""
        return len(self._tasks)

    async def leave(self, seconds: float, last: float) -> None:
        """Let what is in flight end for up to `seconds`; then, for `last` ones, take only parts of what is.

        What comes in the first time is worked on as ever, so that nothing waits for somebody who is about to go. In the
        end, what is left goes on without the parts that did not come.
        """
        await self._ended(seconds)
        self._leaving = True
        await self._ended(last)
        self._runner.hurry()

    async def _ended(self, seconds: float) -> None:
        if tasks := set(self._tasks):
            await asyncio.wait(tasks, timeout=seconds)

    async def drain(self, seconds: float) -> None:
        """Let what is in flight finish for up to `seconds`, then cancel it; nothing unfinished is acknowledged."""
        self._closed = True
        await self._ended(seconds)
        if unfinished := set(self._tasks):
            log.warning("%s: %d records given back unfinished", self._runner.processor.name, len(unfinished))
            for task in unfinished:
                task.cancel()
            await asyncio.wait(unfinished, timeout=1.0)
