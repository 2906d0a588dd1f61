"""The cache of answers: found by `prepare`, kept by `fuse`. Whatever is wrong with it, questions are searched.

The key holds the epoch of the tenant's documents as it was before the search: an answer that a change overtook lies
under a key that nobody asks for any more. What is found is checked against what is live, as every hit is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schemas.queries import Expected, PreparedQuery, QueryRequest
from schemas.replies import QueryReply
from streams.domain import kept_answers, scope
from streams.domain.answer_key import answer_key
from streams.domain.profile import Profile
from streams.errors import RankstreamError
from streams.ports import Answers, Epochs, PassageReader

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.25  # at most, for the epoch, the answer and its check
SHARE = 0.25  # at most, of the time left to the deadline
LARGEST = 256_000  # bytes of an answer; a few larger ones would push out all others
COMPLAIN_SECONDS = 60.0  # between two lines in the log


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What the cache said: an answer; or, where it was asked, under which key to keep one."""

    key: str | None = None  # none: the cache is off for this question
    reply: QueryReply | None = None


class AnswerFinder:
    """Finds the answers that are kept."""

    def __init__(
        self, *, answers: Answers, epochs: Epochs, passages: PassageReader, clock: Callable[[], float]
    ) -> None:
        self._answers = answers
        self._epochs = epochs
        self._passages = passages
        self._clock = clock
        self._complaints = _Complaints(clock)

    async def look(
        self, query: PreparedQuery, request: QueryRequest, *, profile: Profile, models: Sequence[str], top_k: int
    ) -> Looked:
        """Return an answer that holds for this question now, or where one is to be kept; raise nothing."""
        if (
            not request.cache
            or request.explain
            or request.min_version
            or request.floor is not None
            or not profile.cache_seconds
        ):
            return Looked()
        seconds = min(LOOK_SECONDS, SHARE * (query.deadline - self._clock()))
        until = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(until):
                epoch = await self._epochs.current(query.tenant)
                key = answer_key(query, profile=profile, models=models, top_k=top_k, epoch=epoch)
                value = await self._answers.get(key)
        except (RankstreamError, TimeoutError) as error:
            self._complaints.about(error)
            return Looked()
        reply = kept_answers.read(key, value)
        if reply is None:
            return Looked(key=key)
        try:
            async with asyncio.timeout_at(until):
                live = await self._passages.resolve(scope.of(query), kept_answers.evidence(reply))
        except (RankstreamError, TimeoutError):
            return Looked(key=key)
        return Looked(key=key, reply=reply if kept_answers.holds(reply, live) else None)


class AnswerKeeper:
    """Keeps answers, beside the work: nobody waits for it."""

    def __init__(self, *, answers: Answers, clock: Callable[[], float]) -> None:
        self._answers = answers
        self._complaints = _Complaints(clock)
        self._tasks: set[asyncio.Task[None]] = set()  # the loop alone would not keep them

    def keep(self, expected: Expected, reply: QueryReply, seconds: int) -> None:
        """Begin to keep an answer for `seconds`, if it may be kept."""
        if expected.cache_key is not None and seconds and kept_answers.may_be_kept(expected, reply):
            task = asyncio.create_task(self._put(expected.cache_key, reply, seconds))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _put(self, key: str, reply: QueryReply, seconds: int) -> None:
        value = kept_answers.written(key, reply)
        if len(value) > LARGEST:
            return
        try:
            await self._answers.put(key, value, seconds)
        except RankstreamError as error:
            self._complaints.about(error)


class _Complaints:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._next = 0.0

    def about(self, error: Exception) -> None:
        """Log once in a while: what is wrong for one question is wrong for all."""
        if self._clock() >= self._next:
            self._next = self._clock() + COMPLAIN_SECONDS
            log.warning("questions are searched without kept answers: %s", str(error) or "no answer in time")
