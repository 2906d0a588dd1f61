"""A `fuse` whose stores the test fills, and the questions that it is asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.queries import Expected, LegResult
from schemas.replies import QueryReply
from streams.adapters import profiles
from streams.domain.scope import Scope
from streams.domain.versions import LivePassage, VersionView
from streams.processors import fuse
from streams.wire import Outgoing
from tests.unit.domain.questions import expected, prepared

LEGS: Any = ("dense", "sparse")


class Passages:
    """A reader that knows these passages, or is out of reach."""

    def __init__(self, *known: LivePassage, error: Exception | None = None, pending: Sequence[str] = ()) -> None:
        self._known = {each.passage_id: each for each in known}
        self._error = error
        self._pending = set(pending)

    async def resolve(
        self, scope: Scope, chunk_ids: Sequence[str], terms: Sequence[str] = ()
    ) -> Mapping[str, LivePassage]:
        if self._error:
            raise self._error
        return {chunk_id: self._known[chunk_id] for chunk_id in chunk_ids if chunk_id in self._known}

    async def pinned(self, scope: Scope, limit: int) -> Sequence[LivePassage]:
        return [each for each in self._known.values() if each.passage_id.startswith("pinned")][:limit]

    async def gone(self, scope: Scope, chunk_ids: Sequence[str]) -> bool:
        return not self._pending.issuperset(chunk_ids)

    async def live_versions(
        self, tenant: str, generation: str, keys: Sequence[tuple[str, str]]
    ) -> Mapping[tuple[str, str], int]:
        return {("help", "doc-a"): 4}

    async def describe(self, key: object, generation: str) -> tuple[VersionView, ...]:
        return ()


def deps(*known: LivePassage, error: Exception | None = None, pending: Sequence[str] = ("gone",)) -> fuse.Deps:
    passages = Passages(*known, error=error, pending=pending)
    return fuse.Deps(passages=passages, pinned=passages, profiles=profiles.shipped(), clock=time.time)


def question(*, seconds: float = 5.0, **fields: object) -> Expected:
    now = time.time()
    given = {"query": prepared(deadline=now + seconds), "received": now, "prepared": now, **fields}
    return expected(**given)


async def answer(deps: fuse.Deps, *messages: Expected | LegResult) -> QueryReply:
    """Feed records in this order, side by side as the runner does, and return the one reply."""
    outputs: list[Sequence[Outgoing]] = await asyncio.gather(*(fuse.handle(message, deps) for message in messages))
    (sent,) = [each for output in outputs for each in output]
    assert (sent.topic.name, sent.partition, sent.headers["kafka_correlationId"]) == ("replies", 7, b"q1")
    assert isinstance(sent.message, QueryReply)
    return sent.message
