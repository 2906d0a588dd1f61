"""Several processors in one process: started together, watched, stopped together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from streams import committed_offsets
from streams.app import Worker
from streams.bootstrap import Resources
from streams.domain.vitals import Vitals
from streams.errors import ConfigurationError, RankstreamError
from streams.precedence import Precedence
from streams.processor import Processor
from streams.processors import catalogue
from streams.replays import Replays
from streams.settings import Settings

log = logging.getLogger(__name__)

READY_SECONDS = 60.0


class Fleet:
    """The processors of this process. A worker that cannot go on ends the fleet: `failed` says why."""

    def __init__(self, settings: Settings, names: Sequence[str] | None = None) -> None:
        committed_offsets.mend()
        self._settings = settings
        self._processors = chosen(names)
        self._resources = Resources(settings)
        self._workers: list[Worker] = []
        self._replays: Replays | None = None

    async def start(self) -> None:
        """Open the stores and join the consumer groups, all at the same time."""
        for processor in Precedence().of(self._processors):
            if processor.per_generation:
                self._replays = Replays(processor, self._resources, self._settings)
                continue
            deps = await self._resources.deps(processor)
            self._workers.append(Worker(processor, deps, self._settings))
        await asyncio.gather(*(worker.start() for worker in self._workers))
        if self._replays is not None:
            await self._replays.start()

    async def ready(self) -> None:
        """Wait until every group has given its worker partitions; raise RankstreamError after a minute."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                await asyncio.gather(*(worker.assigned.wait() for worker in self._workers))
        except TimeoutError:
            late = [worker.processor.name for worker in self._workers if not worker.assigned.is_set()]
            raise RankstreamError(f"no partitions within {READY_SECONDS:.0f} s for {', '.join(late)}") from None

    def vitals(self) -> list[Vitals]:
        """Return what there is to say of every worker; nothing before they start."""
        replaying = [] if self._replays is None else self._replays.vitals()
        return [worker.vitals for worker in self._workers] + replaying

    async def failed(self) -> BaseException:
        """Wait until a worker cannot go on, and return why."""
        watched = [worker.failed for worker in self._workers]
        if self._replays is not None:
            watched.append(self._replays.failed)
        done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        return next(iter(done)).result()

    async def stop(self) -> None:
        """Stop all workers, then close the stores."""
        replays = None if self._replays is None else asyncio.create_task(self._replays.stop())
        stopped = await asyncio.gather(*(worker.stop() for worker in self._workers), return_exceptions=True)
        for worker, error in zip(self._workers, stopped, strict=True):
            if isinstance(error, Exception):
                log.warning("%s did not stop cleanly: %s", worker.processor.name, error)
        if replays is not None:
            await asyncio.gather(replays, return_exceptions=True)
        await self._resources.close()


def chosen(names: Sequence[str] | None) -> list[Processor]:
    """Return the processors of these names, in pipeline order; all for none or `all`."""
    known = {processor.name: processor for processor in catalogue.ALL}
    if not names or list(names) == ["all"]:
        return list(catalogue.ALL)
    for name in names:
        if name not in known:
            raise ConfigurationError(f"there is no processor {name!r}; there are {', '.join(known)}")
    return [processor for processor in catalogue.ALL if processor.name in names]
