"""Micro-batches: texts of many callers go through a model together, off the event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from streams.errors import Transient
from streams.ports import Vectors

Run = Callable[[Sequence[str]], Vectors]


@dataclass(eq=False)
class _Job:
    texts: Sequence[str]
    result: asyncio.Future[Vectors]


class MicroBatcher:
    """Collects texts until a batch is full or a few milliseconds have passed, then runs the model in `executor`."""

    def __init__(
        self,
        run: Run,
        executor: Executor,
        *,
        size: int = 32,
        wait: float = 0.005,
        most_queued: int = 4_096,
    ) -> None:
        self._run = run
        self._executor = executor
        self._size = size
        self._wait = wait  # seconds
        self._most_queued = most_queued  # texts
        self._jobs: deque[_Job] = deque()
        self._queued = 0
        self._closed = False
        self._arrived = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    async def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of `texts`, row by row; raise Transient when too much is queued."""
        if self._closed:
            raise Transient("the model was closed")
        if self._queued and self._queued + len(texts) > self._most_queued:
            raise Transient(f"the model has {self._queued} texts in its queue")
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        job = _Job(texts=texts, result=asyncio.get_running_loop().create_future())
        self._jobs.append(job)
        self._queued += len(texts)
        self._arrived.set()
        return await job.result

    async def _work(self) -> None:
        while True:
            if not self._jobs:
                self._arrived.clear()
                await self._arrived.wait()
            if self._queued < self._size and self._wait:
                await asyncio.sleep(self._wait)
            jobs = self._take()
            if jobs:
                await self._run_together(jobs)

    def _take(self) -> list[_Job]:
        jobs: list[_Job] = []
        size = 0
        while self._jobs and (not jobs or size + len(self._jobs[0].texts) <= self._size):
            job = self._jobs.popleft()
            self._queued -= len(job.texts)
            if not job.result.done():  # its caller gave up
                jobs.append(job)
                size += len(job.texts)
        return jobs

    async def _run_together(self, jobs: Sequence[_Job]) -> None:
        texts = [text for job in jobs for text in job.texts]
        try:
            vectors = await asyncio.get_running_loop().run_in_executor(self._executor, self._run, texts)
        except Exception as error:
            for job in jobs:
                if not job.result.done():
                    job.result.set_exception(Transient(f"the model failed: {error}"))
            return
        for job, rows in zip(jobs, np.split(vectors, np.cumsum([len(job.texts) for job in jobs])[:-1]), strict=True):
            if not job.result.done():
                job.result.set_result(rows)

    async def close(self) -> None:
        """Take no more, and tell those who wait."""
        self._closed = True
        if self._worker is not None:
            self._worker.cancel()
        for job in self._jobs:
            if not job.result.done():
                job.result.set_exception(Transient("the model was closed"))
