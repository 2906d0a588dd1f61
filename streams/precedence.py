"""Precedence within a process: what nobody waits for gives way to questions and edits, which share its one event loop.

Processors that run in processes of their own need none of this: there the operating system shares the cores.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from streams.processor import Handler, Processor
from streams.wire import Outgoing

QUIET = 0.03  # seconds without such work before others go on: a question is between two processors for less
MOST_WAIT = 2.0  # seconds that a record waits at most, so that constant load slows the bulk lane and never stops it
AT_ONCE = 2  # records of the bulk lane that are begun beside each other: what is begun may meet the next question


class Precedence:
    """Counts the work that goes first, and lets the other work wait for its end."""

    def __init__(
        self, *, quiet: float = QUIET, most_wait: float = MOST_WAIT, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._quiet = quiet
        self._most_wait = most_wait
        self._clock = clock
        self._open = 0
        self._last = -quiet + clock()  # when such work ended last
        self._ended = asyncio.Event()
        self._slots = asyncio.Semaphore(AT_ONCE)

    def of(self, processors: Sequence[Processor]) -> list[Processor]:
        """Return processors of one process whose handlers mind the precedence; unchanged where all are of one kind."""
        first = [each for each in processors if _goes_first(each, processors)]
        if not first or not any(each.bulk for each in processors):
            return list(processors)
        return [
            dataclasses.replace(each, handle=self.first(each.handle))
            if each in first
            else dataclasses.replace(each, handle=self.after(each.handle))
            if each.bulk
            else each
            for each in processors
        ]

    def first(self, handle: Handler) -> Handler:
        """Return a handler that others wait for."""

        async def handle_first(message: Any, deps: Any) -> Sequence[Outgoing]:
            self._open += 1
            self._ended.clear()
            try:
                return await handle(message, deps)
            finally:
                self._open -= 1
                self._last = self._clock()
                if not self._open:
                    self._ended.set()

        return handle_first

    def after(self, handle: Handler) -> Handler:
        """Return a handler that waits for others to end, but not for ever."""

        async def handle_after(message: Any, deps: Any) -> Sequence[Outgoing]:
            until = self._clock() + self._most_wait
            # Who waited for too long goes without a slot.
            slot = await _within(self._most_wait, self._slots.acquire())
            try:
                await self._turn(until)
                return await handle(message, deps)
            finally:
                if slot:
                    self._slots.release()

        return handle_after

    async def _turn(self, until: float) -> None:
        while (left := until - self._clock()) > 0:
            if self._open:
                await _within(left, self._ended.wait())
                continue
            rest = self._last + self._quiet - self._clock()
            if rest <= 0:
                return
            await asyncio.sleep(min(rest, left))


async def _within(seconds: float, waiting: Awaitable[object]) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await waiting
    except TimeoutError:
        return False
    return True


def _goes_first(processor: Processor, among: Sequence[Processor]) -> bool:
    """Tell whether somebody waits for a processor: it answers questions, or works on a live lane."""
    return processor.latency or any(other.bulk and other.name == f"{processor.name}-bulk" for other in among)
