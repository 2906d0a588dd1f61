"""What a processor is: a name, where it reads, where it writes, and a handler that returns what to send."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from schemas.base import Message
from schemas.dead_letters import ErrorClass
from streams import wire
from streams.wire import Outgoing, Record
from topics.topic import Topic


class Ack(Enum):
    """When a record is acknowledged."""

    AFTER_OUTPUT = auto()  # at least once: its outputs were delivered
    ON_RECEIPT = auto()  # its work outlives nothing worth repeating (an open join)


class OnFailure(Enum):
    """What happens to a record whose handler failed for good."""

    DEAD_LETTER = auto()  # to the dead letter topic, with what `failed` adds
    ANSWER = auto()  # `failed` says what to send instead; a question is never retried through topics


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A record that could not be handled."""

    record: Record
    message: Message | None  # none: it could not be decoded
    error: BaseException
    error_class: ErrorClass
    attempts: int


# Seconds for several writes, or one under a hold: longer than the stores' own limits, for an outage is theirs to tell.
STORES_LIMIT = 180.0

Handler = Callable[[Any, Any], Awaitable[Sequence[Outgoing]]]
# Given an output and the deps: what must be held while it is sent, yielding whether it still may be; none: nothing.
Hold = Callable[[Outgoing, Any], AbstractAsyncContextManager[bool] | None]


@dataclass(frozen=True, kw_only=True)
class Processor:
    """One processor = one file = one consumer group = one Deployment.

    `handle(message, deps)` is idempotent and returns what to send; the runner sends it, waits for delivery and then
    acknowledges.
    """

    name: str
    summary: str
    source: Topic
    sinks: tuple[Topic, ...]
    handle: Handler
    reads: Callable[[Record, Topic], Message] = wire.read
    failed: Callable[[Failure, Any], Sequence[Outgoing] | Awaitable[Sequence[Outgoing]]] | None = None
    hold: Hold | None = None  # none: all outputs are sent at any time
    on_failure: OnFailure = OnFailure.DEAD_LETTER
    ack: Ack = Ack.AFTER_OUTPUT
    keyed: bool = True  # records of one key run one after another, others beside each other
    in_flight: int = 64  # records worked on at once
    time_limit: float = 60.0  # seconds an attempt may take
    deadline: Callable[[Any], float | None] | None = None  # seconds since the epoch; later the work is dropped
    # Seconds that a record of this time may have waited for its turn; after that it fails as Overloaded. None: any.
    patience: Callable[[Any, float], float] | None = None
    # Whether a record is but a part of what another record waits for: its trace is linked there, and has no span here;
    # a worker that stops takes no other ones.
    joins: Callable[[Any], bool] | None = None
    hurry: Callable[[Any], None] | None = None  # given the deps: what waits for parts goes on without them
    bulk: bool = False  # nobody waits for it: in a shared process it gives way to questions and to the live lane
    latency: bool = False  # a question waits for it: send at once rather than in batches
    per_generation: bool = False  # one group for each generation that is filled from the log

    @property
    def group(self) -> str:
        """The consumer group."""
        return f"rankstream.{self.name}"
