"""Micro-batches: texts of many callers go through a model together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from time import monotonic
from typing import cast

import numpy as np

from streams.errors import Invalid, RankstreamError, Transient
from streams.ports import Vectors

Run = Callable[[Sequence[str]], Vectors]  # computes on the caller's thread
Ask = Callable[[Sequence[str]], Awaitable[Vectors]]


def in_thread(executor: Executor, run: Run) -> Ask:
    """Return what runs a model in an executor, off the event loop."""

    async def ask(texts: Sequence[str]) -> Vectors:
        return await asyncio.get_running_loop().run_in_executor(executor, run, texts)

    return ask


@dataclass
class Counts:
    """What a batcher did since it was made; telemetry reads it."""

    batches: int = 0
    texts: int = 0  # that went through the model
    failed: int = 0  # batches
    refused: int = 0  # texts that found the queue full
    queued: int = 0  # texts that wait now
    queue_seconds: float = 0.0  # of all texts together, until their batch began
    model_seconds: float = 0.0  # of all batches together
    sizes: dict[int, int] = field(default_factory=dict)  # batches by their number of texts, rounded up to 2^n
    waits: dict[int, int] = field(default_factory=dict)  # texts by their queue time in ms, rounded up to 2^n


@dataclass(eq=False)
class _Job:
    """The texts of one call; it ends when all have their vectors, or one failed."""

    result: asyncio.Future[Vectors]
    rows: list[Vectors | None]
    open: int


@dataclass(eq=False)
class _Item:
    text: str
    job: _Job
    place: int
    since: float


class MicroBatcher:
    """Collects texts until a batch is full or a few milliseconds have passed, then asks the model.

    A long call is spread over several batches, between which others have their turn. `patient` says what happens to
    a call that finds the queue full: it waits for room (ingest, whose records stay in Kafka meanwhile), or is refused.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        size: int = 32,
        wait: float = 0.005,
        most_queued: int = 4_096,
        patient: bool = False,
        at_once: int = 1,
    ) -> None:
        self._ask = ask
        self._size = size
        self._wait = wait  # seconds
        self._most_queued = most_queued  # texts
        self._patient = patient
        self._slots = asyncio.Semaphore(at_once)
        self._items: deque[_Item] = deque()
        self._closed = False
        self._arrived = asyncio.Event()
        self._room = asyncio.Condition()
        self._worker: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self.counts = Counts()

    async def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of `texts`, row by row; raise what the model raises, Transient when closed or full."""
        await self._admitted(len(texts))
        if not texts:
            return await self._ask(texts)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        job = _Job(result=asyncio.get_running_loop().create_future(), rows=[None] * len(texts), open=len(texts))
        now = monotonic()
        self._items.extend(_Item(text=text, job=job, place=place, since=now) for place, text in enumerate(texts))
        self.counts.queued = len(self._items)
        self._arrived.set()
        return await job.result

    async def _admitted(self, texts: int) -> None:
        def room() -> bool:
            # A call that is larger than the queue has it for itself.
            return self._closed or not self._items or len(self._items) + texts <= self._most_queued

        if not room() and not self._patient:
            self.counts.refused += texts
            raise Transient(f"the model has {len(self._items)} texts in its queue")
        async with self._room:
            await self._room.wait_for(room)
        if self._closed:
            raise Transient("the model was closed")

    async def _work(self) -> None:
        while True:
            if not self._items:
                self._arrived.clear()
                await self._arrived.wait()
            if len(self._items) < self._size and self._wait:
                await asyncio.sleep(self._wait)
            await self._slots.acquire()
            items = self._take()
            if not items:
                self._slots.release()
                continue
            async with self._room:
                self._room.notify_all()
            running = asyncio.create_task(self._run_together(items))
            self._running.add(running)
            running.add_done_callback(self._ended)

    def _ended(self, running: asyncio.Task[None]) -> None:
        self._running.discard(running)
        self._slots.release()

    def _take(self) -> list[_Item]:
        items: list[_Item] = []
        while self._items and len(items) < self._size:
            item = self._items.popleft()
            if not item.job.result.done():  # its caller gave up, or another text of it failed
                items.append(item)
        self.counts.queued = len(self._items)
        return items

    async def _run_together(self, items: Sequence[_Item]) -> None:
        began = monotonic()
        for item in items:
            _count(self.counts.waits, int((began - item.since) * 1000))
            self.counts.queue_seconds += began - item.since
        jobs = list(dict.fromkeys(item.job for item in items))
        try:
            vectors = await self._vectors(items)
        except Invalid as error:
            if len(jobs) == 1:
                _fail(jobs, error)
                return
            # One caller's text must not fail the others'.
            for job in jobs:
                await self._run_alone([item for item in items if item.job is job])
            return
        except Exception as error:
            _fail(jobs, error)
            return
        except asyncio.CancelledError:
            _fail(jobs, Transient("the model was closed"))
            raise
        _deliver(items, vectors)

    async def _run_alone(self, items: Sequence[_Item]) -> None:
        try:
            _deliver(items, await self._vectors(items))
        except Exception as error:
            _fail([items[0].job], error)

    async def _vectors(self, items: Sequence[_Item]) -> Vectors:
        began = monotonic()
        try:
            vectors = await self._ask([item.text for item in items])
        except Exception:
            self.counts.failed += 1
            raise
        finally:
            self.counts.model_seconds += monotonic() - began
        self.counts.batches += 1
        self.counts.texts += len(items)
        _count(self.counts.sizes, len(items))
        return vectors

    async def close(self) -> None:
        """Take no more, and tell those who wait."""
        self._closed = True
        for task in filter(None, (self._worker, *self._running)):
            task.cancel()
        _fail(list(dict.fromkeys(item.job for item in self._items)), Transient("the model was closed"))
        async with self._room:
            self._room.notify_all()


def _deliver(items: Sequence[_Item], vectors: Vectors) -> None:
    for item, row in zip(items, vectors, strict=True):
        item.job.rows[item.place] = row
        item.job.open -= 1
        if not item.job.open and not item.job.result.done():
            item.job.result.set_result(np.stack(cast(list[Vectors], item.job.rows)))


def _fail(jobs: Sequence[_Job], error: Exception) -> None:
    told = error if isinstance(error, RankstreamError) else Transient(f"the model failed: {error}")
    for job in jobs:
        if not job.result.done():
            job.result.set_exception(told)


def _count(counts: dict[int, int], value: int) -> None:
    bound = 1 << max(0, value - 1).bit_length()
    counts[bound] = counts.get(bound, 0) + 1
