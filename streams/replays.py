"""Runs a worker for each generation that is filled from the log: from when it is noticed until it is dropped."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from streams.app import Worker
from streams.bootstrap import Resources
from streams.domain.vitals import Vitals
from streams.errors import RankstreamError
from streams.processor import Processor
from streams.processors import replay
from streams.settings import Settings

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0  # between two looks at which generations there are


class Replays:
    """The replays of this process. Several processes share a generation's log as any group does."""

    def __init__(self, processor: Processor, resources: Resources, settings: Settings) -> None:
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self._processor = processor  # minds what goes first in this process
        self._resources = resources
        self._settings = settings
        self._workers: dict[str, Worker] = {}  # by generation
        self._watching: asyncio.Task[None] | None = None
        self._stopping = False

    async def start(self) -> None:
        """Begin to look for generations."""
        deps: replay.Deps = await self._resources.deps(self._processor)
        self._watching = asyncio.create_task(self._watch(deps))

    def vitals(self) -> list[Vitals]:
        """Return what there is to say of them; without a generation to fill, that one is looked for.

        A replay that is about to join its group takes nobody's traffic: the process is as ready as before.
        """
        looking = Vitals(
            processor=self._processor.name,
            failed=str(self.failed.result()) if self.failed.done() else None,
            stopping=self._stopping,
            joined=self._watching is not None,
        )
        return [looking, *(replace(worker.vitals, joined=True) for worker in self._workers.values())]

    async def stop(self) -> None:
        """Stop all of them."""
        self._stopping = True
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await asyncio.gather(*(worker.stop() for worker in self._workers.values()), return_exceptions=True)
        self._workers.clear()

    async def _watch(self, deps: replay.Deps) -> None:
        try:
            while True:
                try:
                    await self._look(deps)
                except RankstreamError as error:
                    log.warning("replays: %s", error)
                await asyncio.sleep(LOOK_SECONDS)
        except Exception as error:
            self._fail(error)

    async def _look(self, deps: replay.Deps) -> None:
        wanted = {each.id for each in await deps.generations.active() if each.replayed}
        for name in sorted(wanted - self._workers.keys()):
            worker = Worker(replay.of(name, self._processor), replace(deps, generation=name), self._settings)
            worker.failed.add_done_callback(lambda failed: self._fail(failed.result()))
            self._workers[name] = worker
            await worker.start()
            log.info("generation %s: following the log", name)
        for name in sorted(self._workers.keys() - wanted):
            await self._workers.pop(name).stop()
            log.info("generation %s: no longer followed", name)

    def _fail(self, error: BaseException) -> None:
        if not self.failed.done():
            self.failed.set_result(error)
