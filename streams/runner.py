"""One record in, records out: decode, handle, retry, dead-letter, deliver. Knows no Faust, and lets nothing escape."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from schemas import dead_letters
from schemas.base import Message
from schemas.codec import InvalidMessage
from schemas.dead_letters import ErrorClass
from streams import wire
from streams.domain import letters
from streams.errors import (
    BrokerUnavailable,
    CannotContinue,
    ConfigurationError,
    Invalid,
    ModelUnavailable,
    Overloaded,
    StoreUnavailable,
    Transient,
)
from streams.processor import Failure, OnFailure, Processor
from streams.telemetry import processing
from streams.telemetry.processing import Unwatched
from streams.wire import Outgoing, RawOutgoing, Record

log = logging.getLogger(__name__)

Produce = Callable[[RawOutgoing], Awaitable[None]]

ATTEMPTS = 5
ANSWER_ATTEMPTS = 3  # to send an answer; its sender waits
FIRST_BACK_OFF = 0.1  # seconds
LONGEST_BACK_OFF = 5.0  # seconds


class Outcome(Enum):
    """What became of a record."""

    DONE = auto()
    ANSWERED = auto()  # it failed, and an answer that says so was sent
    DEAD_LETTERED = auto()
    EXPIRED = auto()  # its deadline had passed


class _Expired(Exception):
    """The deadline passed before the work was done."""


@dataclass(slots=True)
class _Work:
    """A record in work."""

    began: float  # on the monotonic clock, seconds
    sent: float  # when its record was, in seconds since the epoch
    watched: Unwatched = processing.UNWATCHED
    waiting: bool = False  # for a store or a model that is away


class Runner:
    """Runs one processor's handler on records, one call a record."""

    def __init__(
        self,
        processor: Processor,
        deps: Any,
        produce: Produce,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.processor = processor
        self._deps = deps
        self._produce = produce
        self._clock = clock
        self._sleep = sleep
        self._in_work: dict[int, _Work] = {}
        self.outcomes: Counter[Outcome] = Counter()  # telemetry reads it
        self.overloaded = 0  # records that had waited too long for their turn

    @property
    def in_work(self) -> int:
        """The number of records that are handled now."""
        return len(self._in_work)

    def oldest(self, *, waiting: bool) -> float | None:
        """Return the age in seconds of the oldest record in work that waits for a store or model, or that does not."""
        began = [work.began for work in list(self._in_work.values()) if work.waiting is waiting]
        return time.monotonic() - min(began) if began else None

    def behind(self, now: float) -> float:
        """Return the age in seconds of the oldest record in work, by the broker's clock; 0 where there is none."""
        return max((now - work.sent for work in list(self._in_work.values())), default=0.0)

    def hurry(self) -> None:
        """Have what waits for parts go on without them: nobody brings them any more."""
        if self.processor.hurry is not None:
            self.processor.hurry(self._deps)

    def is_part(self, record: Record) -> bool:
        """Tell whether a record is but a part of what another one waits for; what cannot be read is none."""
        if self.processor.joins is None:
            return False
        try:
            return self.processor.joins(self.processor.reads(record, self.processor.source))
        except (InvalidMessage, Invalid):
            return False

    async def run(self, record: Record) -> Outcome:
        """Handle one record to its end; raises nothing but CannotContinue (and cancellation)."""
        work = self._in_work[id(record)] = _Work(began=time.monotonic(), sent=record.timestamp)
        try:
            with processing.begin(self.processor, record) as work.watched:
                outcome = await self._run(record, work)
                work.watched.ended(outcome.name.lower())
        finally:
            del self._in_work[id(record)]
        self.outcomes[outcome] += 1
        return outcome

    async def _run(self, record: Record, work: _Work) -> Outcome:
        message: Message | None = None
        outputs: Sequence[Outgoing] | None = None
        attempts = 0
        while True:
            attempts += 1
            try:
                if message is None:
                    message = self.processor.reads(record, self.processor.source)
                    work.watched.decoded(message)
                if outputs is None:
                    outputs = await self._handle(message, record)
                await self._deliver(outputs, record, work.watched)
                work.watched.sent(outputs)
                return Outcome.DONE
            except _Expired:
                return Outcome.EXPIRED
            except Exception as error:
                if self._may_retry(error, attempts):
                    work.waiting = isinstance(error, StoreUnavailable | ModelUnavailable)
                    work.watched.retried(error)
                    await self._back_off(error, attempts)
                    continue
                if isinstance(error, ConfigurationError) and self.processor.on_failure is OnFailure.DEAD_LETTER:
                    # Every record would fail alike: a wrong setting is no reason to empty a topic into dead letters.
                    raise CannotContinue(str(error)) from error
                failure = Failure(
                    record=record,
                    message=message,
                    error=error,
                    error_class=classify(error),
                    attempts=attempts,
                )
                return await self._fail(failure, work.watched)

    async def _handle(self, message: Message, record: Record) -> Sequence[Outgoing]:
        limit = self.processor.time_limit
        if self.processor.deadline is not None:
            deadline = self.processor.deadline(message)
            if deadline is not None:
                left = deadline - self._clock()
                if left <= 0:
                    raise _Expired
                limit = min(limit, left)
        if self.processor.patience is not None:
            waited = self._clock() - record.timestamp
            if waited > self.processor.patience(message, record.timestamp):
                self.overloaded += 1
                raise Overloaded(f"it waited {waited:.1f} s for its turn")
        async with asyncio.timeout(limit):
            return await self.processor.handle(message, self._deps)

    def _may_retry(self, error: Exception, attempts: int) -> bool:
        if self.processor.on_failure is OnFailure.ANSWER:
            return isinstance(error, BrokerUnavailable) and attempts < ANSWER_ATTEMPTS
        if isinstance(error, StoreUnavailable | ModelUnavailable):
            return True  # a writer waits for its store, and for its model, however long
        return isinstance(error, Transient) and attempts < ATTEMPTS

    async def _back_off(self, error: Exception, attempts: int) -> None:
        pause = min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2 ** min(attempts - 1, 10))
        if attempts in (1, 5) or attempts % 50 == 0:
            log.warning("%s: attempt %d failed, trying again: %s", self.processor.name, attempts, error)
        await self._sleep(pause * random.uniform(0.5, 1.0))

    async def _fail(self, failure: Failure, watched: Unwatched) -> Outcome:
        processor = self.processor
        if failure.error_class == "bug":
            log.error("%s: %s", processor.name, failure.error, exc_info=failure.error)
        outputs: Sequence[Outgoing] = ()
        if processor.failed is not None:
            try:
                said = processor.failed(failure, self._deps)
                outputs = await said if isinstance(said, Awaitable) else said
            except Exception:
                log.exception("%s: could not say what failed", processor.name)
        answered = processor.on_failure is OnFailure.ANSWER and await self._answered(outputs, failure.record, watched)
        if not answered:
            try:
                await self._produce(dead_letter(failure, processor))
                if processor.on_failure is OnFailure.DEAD_LETTER:
                    await self._send(outputs, failure.record, watched)
            except Exception as error:
                raise CannotContinue(f"{processor.name}: the dead letter could not be produced: {error}") from error
        watched.failed(failure, answered=answered)
        if answered or processor.on_failure is OnFailure.DEAD_LETTER:
            watched.sent(outputs)
        log.warning(
            "%s: %s[%d]@%d %s: %s",
            processor.name,
            failure.record.topic,
            failure.record.partition,
            failure.record.offset,
            "answered with an error" if answered else f"dead-lettered ({failure.error_class})",
            _one_line(failure.error),
        )
        return Outcome.ANSWERED if answered else Outcome.DEAD_LETTERED

    async def _answered(self, outputs: Sequence[Outgoing], cause: Record, watched: Unwatched) -> bool:
        """Send the answer that says what failed; false when there is none, or it cannot be delivered."""
        try:
            await self._send(outputs, cause, watched)
        except Exception as error:
            log.warning("%s: an answer could not be delivered: %s", self.processor.name, error)
            return False
        return len(outputs) > 0

    async def _deliver(self, outputs: Sequence[Outgoing], cause: Record, watched: Unwatched) -> None:
        """Send outputs, and hold meanwhile what must not change under them."""
        if self.processor.hold is None:
            await self._send(outputs, cause, watched)
            return
        held = [(output, self.processor.hold(output, self._deps)) for output in outputs]
        free = [output for output, holding in held if holding is None]
        locked = [self._send_held(output, holding, cause, watched) for output, holding in held if holding is not None]
        # Beside each other: what is held must never wait for whoever reads the rest.
        await asyncio.gather(self._send(free, cause, watched), *locked)

    async def _send_held(
        self, output: Outgoing, holding: AbstractAsyncContextManager[bool], cause: Record, watched: Unwatched
    ) -> None:
        async with holding as wanted:
            if wanted:
                await self._send([output], cause, watched)

    async def _send(self, outputs: Sequence[Outgoing], cause: Record, watched: Unwatched) -> None:
        trace = watched.headers
        if len(outputs) == 1:
            await self._produce(wire.write(outputs[0], cause, trace))
        elif outputs:
            await asyncio.gather(*(self._produce(wire.write(output, cause, trace)) for output in outputs))


def classify(error: BaseException) -> ErrorClass:
    """Return the error class that a dead letter carries."""
    match error:
        case InvalidMessage():
            return error.kind
        case Invalid():
            return "validation"
        case TimeoutError():
            return "timeout"
        case Transient():
            return "transient-exhausted"
        case _:
            return "bug"


def dead_letter(failure: Failure, processor: Processor) -> RawOutgoing:
    """Return the record as it came, on the dead letter topic, with headers that say where from and why."""
    record, error = failure.record, failure.error
    headers = {
        dead_letters.ORIGINAL_TOPIC: record.topic.encode(),
        dead_letters.ORIGINAL_PARTITION: str(record.partition).encode(),
        dead_letters.ORIGINAL_OFFSET: str(record.offset).encode(),
        dead_letters.ORIGINAL_TIMESTAMP: str(int(record.timestamp * 1000)).encode(),
        dead_letters.ORIGINAL_GROUP: processor.group.encode(),
        dead_letters.EXCEPTION: f"{type(error).__module__}.{type(error).__qualname__}".encode(),
        dead_letters.EXCEPTION_MESSAGE: _one_line(error).encode("utf-8", "replace"),
        dead_letters.ERROR_CLASS: failure.error_class.encode(),
        dead_letters.ATTEMPTS: str(failure.attempts).encode(),
    }
    if letters.died_so_before(record.headers, group=processor.group, error_class=failure.error_class):
        headers[dead_letters.PARKED] = b"true"
    topic = processor.source.dead_letters.name
    letter = wire.passed_on(record, topic, headers, record.partition)
    # Kafka takes a record with neither key nor value, and our producer does not.
    return replace(letter, value=b"") if record.key is None and record.value is None else letter


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 500 else f"{text[:500]}…"
