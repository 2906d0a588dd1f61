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
from streams.telemetry import signals
from streams.telemetry.instruments import BATCH_SIZE, BATCH_WAIT

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

    Bulk texts have batches of their own, of at most `bulk_size`, so that what comes meanwhile waits for no more than
    that. They go when nothing else waits and `first` (the questions' batcher) has nothing to do; under constant load of
    others one batch of them goes every `bulk_every` seconds, so that they are slow and never stuck. Of several batches
    at once, one is always kept free of them.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        kind: str = "passages",
        size: int = 32,
        wait: float = 0.005,
        most_queued: int = 4_096,
        patient: bool = False,
        at_once: int = 1,
        bulk_size: int = 4,
        bulk_every: float = 1.0,
        first: MicroBatcher | None = None,
    ) -> None:
        self._ask = ask
        self._labels = {"kind": kind}  # of its texts, for telemetry
        self._size = size
        self._wait = wait  # seconds
        self._most_queued = most_queued  # texts
        self._patient = patient
        self._slots = asyncio.Semaphore(at_once)
        self._items: deque[_Item] = deque()
        self._bulk: deque[_Item] = deque()
        self._bulk_size = bulk_size
        self._bulk_every = bulk_every  # seconds
        self._bulk_slots = max(1, at_once - 1)
        self._bulk_running = 0
        self._bulk_since = 0.0  # when a bulk batch ended last, or bulk texts came where there were none
        self._first = first
        self._closed = False
        self._changed = asyncio.Event()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._room = asyncio.Condition()
        self._worker: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self.counts = Counts()

    async def __call__(self, texts: Sequence[str], *, bulk: bool = False) -> Vectors:
        """Return the vectors of `texts`, row by row; raise what the model raises, Transient when closed or full."""
        queue = self._bulk if bulk else self._items
        await self._admitted(len(texts), queue)
        if not texts:
            return await self._ask(texts)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        job = _Job(result=asyncio.get_running_loop().create_future(), rows=[None] * len(texts), open=len(texts))
        now = monotonic()
        if bulk and not self._bulk:
            self._bulk_since = max(self._bulk_since, now)
        queue.extend(_Item(text=text, job=job, place=place, since=now) for place, text in enumerate(texts))
        self.counts.queued = len(self._items) + len(self._bulk)
        self._quiet.clear()
        self._changed.set()
        return await job.result

    async def _admitted(self, texts: int, queue: deque[_Item]) -> None:
        def room() -> bool:
            # A call that is larger than the queue has it for itself.
            return self._closed or not queue or len(queue) + texts <= self._most_queued

        if not room() and not self._patient:
            self.counts.refused += texts
            raise Transient(f"the model has {len(queue)} texts in its queue")
        async with self._room:
            await self._room.wait_for(room)
        if self._closed:
            raise Transient("the model was closed")

    async def _work(self) -> None:
        while True:
            while not self._items and not self._bulk_may_go():
                self._changed.clear()
                await self._changed.wait()
            if not self._items:
                await self._give_way()
            elif len(self._items) < self._size and self._wait:
                await asyncio.sleep(self._wait)
            await self._slots.acquire()
            bulk = self._bulk_may_go() and (not self._items or monotonic() - self._bulk_since >= self._bulk_every)
            items = _taken(self._bulk, self._bulk_size) if bulk else _taken(self._items, self._size)
            self.counts.queued = len(self._items) + len(self._bulk)
            if not items:
                self._slots.release()
                self._rest()
                continue
            async with self._room:
                self._room.notify_all()
            running = asyncio.create_task(self._run_together(items))
            self._running.add(running)
            self._bulk_running += bulk
            running.add_done_callback(self._bulk_ended if bulk else self._ended)

    async def _give_way(self) -> None:
        """Wait while questions have the model and nothing but bulk texts waits here, until those are due."""
        first = self._first
        while first is not None and not self._items and not first._quiet.is_set():
            left = self._bulk_since + self._bulk_every - monotonic()
            if left <= 0:
                return
            self._changed.clear()
            waits = [asyncio.ensure_future(event.wait()) for event in (self._changed, first._quiet)]
            try:
                await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()

    def _bulk_may_go(self) -> bool:
        return bool(self._bulk) and self._bulk_running < self._bulk_slots

    def _bulk_ended(self, running: asyncio.Task[None]) -> None:
        self._bulk_running -= 1
        self._bulk_since = monotonic()
        self._ended(running)

    def _ended(self, running: asyncio.Task[None]) -> None:
        self._running.discard(running)
        self._slots.release()
        self._changed.set()
        self._rest()

    def _rest(self) -> None:
        if not (self._items or self._bulk or self._running):
            self._quiet.set()

    async def _run_together(self, items: Sequence[_Item]) -> None:
        began = monotonic()
        for item in items:
            _count(self.counts.waits, int((began - item.since) * 1000))
            self.counts.queue_seconds += began - item.since
        signals.record(BATCH_WAIT, began - items[0].since, self._labels)
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
        signals.record(BATCH_SIZE, len(items), self._labels)
        return vectors

    async def close(self) -> None:
        """Take no more, and tell those who wait."""
        self._closed = True
        for task in filter(None, (self._worker, *self._running)):
            task.cancel()
        _fail(list(dict.fromkeys(item.job for item in (*self._items, *self._bulk))), Transient("the model was closed"))
        async with self._room:
            self._room.notify_all()


def _taken(queue: deque[_Item], most: int) -> list[_Item]:
    items: list[_Item] = []
    while queue and len(items) < most:
        item = queue.popleft()
        if not item.job.result.done():  # its caller gave up, or another text of it failed
            items.append(item)
    return items


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
