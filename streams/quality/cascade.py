"""A cascade: everything that one message sets off, counted until nothing of it is left running."""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import ContextVar

from schemas.documents import DocumentStatus
from schemas.replies import QueryReply
from streams.errors import RankstreamError
from streams.wire import Outgoing


class Cascade:
    """What one message sets off: how much of it still runs, and what came of it."""

    def __init__(self, *, recorded: bool) -> None:
        self.recorded: list[Outgoing] | None = [] if recorded else None
        self.results: deque[QueryReply | DocumentStatus] = deque()
        self.running = 0
        self.error: BaseException | None = None
        self.changed = asyncio.Event()

    def finished(self) -> None:
        """Count one record as done with."""
        self.running -= 1
        if self.running == 0:
            self.changed.set()

    def fail(self, error: BaseException) -> None:
        """Give up: whoever waits for results gets the error."""
        self.error = error
        self.changed.set()

    def __aiter__(self) -> Cascade:
        return self

    async def __anext__(self) -> QueryReply | DocumentStatus:
        """Return the next result; stop when nothing is left running."""
        while True:
            if self.error is not None:
                raise RankstreamError(f"a processor cannot go on: {self.error}") from self.error
            if self.results:
                return self.results.popleft()
            if self.running == 0:
                raise StopAsyncIteration
            self.changed.clear()
            await self.changed.wait()


# Tasks inherit it, so whatever a message sets off, at any depth, is counted with that message.
CURRENT: ContextVar[Cascade] = ContextVar("cascade")
