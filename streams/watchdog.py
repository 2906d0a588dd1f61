"""Watches the progress of one worker: a consumer can hang after a broker's restart and say nothing (aiokafka #1154)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from streams.domain.vitals import Vitals, stuck
from streams.errors import CannotContinue
from streams.runner import Runner

log = logging.getLogger(__name__)

INTERVAL = 5.0  # seconds between two looks
ASK = 10.0  # seconds the broker may take to say how far its partitions go


class Since:
    """How long something has been so."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began: float | None = None

    def note(self, holds: bool) -> None:
        """Note whether it is so now."""
        if not holds:
            self._began = None
        elif self._began is None:
            self._began = self._clock()

    @property
    def seconds(self) -> float | None:
        """How long it has been so; None while it is not."""
        return None if self._began is None else self._clock() - self._began


class Watchdog:
    """Looks at a worker every few seconds, and stops it when only a restart can help."""

    def __init__(
        self,
        runner: Runner,
        consumer: Callable[[], Any],
        stop: Callable[[BaseException], None],
        *,
        handed_over: Callable[[], int],
    ) -> None:
        self._runner = runner
        self._handed_over = handed_over  # how many records the client library gave that are not acknowledged
        self._consumer = consumer  # Faust's; asked for late, since it is made when the worker starts
        self._stop = stop
        self._moving, self._leaderless, self._unread, self._unbegun = Since(), Since(), Since(), Since()
        self._positions: Mapping[Any, int] = {}
        self.joined = False
        self.stopping = False
        self.failed: str | None = None

    def vitals(self) -> Vitals:
        """Return what there is to say of the worker now."""
        processor = self._runner.processor
        return Vitals(
            processor=processor.name,
            failed=self.failed,
            stopping=self.stopping,
            joined=self.joined,
            moving=self._moving.seconds,
            leaderless=self._leaderless.seconds,
            unread=self._unread.seconds,
            unbegun=self._unbegun.seconds,
            oldest=self._runner.oldest(waiting=False),
            waiting=self._runner.oldest(waiting=True),
            in_flight=self._runner.in_work,
            time_limit=processor.time_limit,
        )

    async def run(self) -> None:
        """Look until something is stuck."""
        while not (problems := stuck(self.vitals())):
            await asyncio.sleep(INTERVAL)
            await self._look()
        self._stop(CannotContinue(f"{self._runner.processor.name}: {'; '.join(problems)}"))

    async def _look(self) -> None:
        consumer = self._consumer()
        self._moving.note(self.joined and not consumer.flow_active)
        self._leaderless.note(consumer.leaderless)
        # Between the client library and the handler there is Faust, which may keep what it was given.
        self._unbegun.note(bool(consumer.flow_active and not self._runner.in_work and self._handed_over()))
        if not consumer.flow_active or self._runner.in_work:
            self._unread.note(False)
            return
        try:
            async with asyncio.timeout(ASK):
                positions, ends = await consumer.progress()
        except Exception as error:  # the broker is away: that is told by the coordinator
            log.debug("%s: progress is not known: %s", self._runner.processor.name, error)
            return
        behind = any(position < ends.get(partition, 0) for partition, position in positions.items())
        self._unread.note(behind and positions == self._positions)
        self._positions = positions
