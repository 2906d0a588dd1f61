"""A client's side of a trace: what it asks or publishes is the root, and what it sends is below it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from schemas.replies import QueryReply
from streams.telemetry import outcomes, signals
from streams.telemetry.instruments import CLIENT_DURATION
from streams.telemetry.signals import Span


class Asking:
    """One question or change, from its send to its outcome; without telemetry, and not sampled, nothing but headers."""

    def __init__(self, span: Span | None) -> None:
        self._span = span
        self._began = time.perf_counter()
        self._error: str | None = None
        self._said: dict[str, str | int] = {}

    def send(self, topic: str, traceparent: str | None = None) -> Sending:
        """Begin to send the record of it; traceparent: what its headers say without telemetry."""
        backend = signals.backend()
        if self._span is None or backend is None:
            return Sending(None, traceparent)
        attributes = {
            "messaging.system": "kafka",
            "messaging.operation.name": "send",
            "messaging.operation.type": "send",
            "messaging.destination.name": topic,
        }
        span = backend.start(f"send {topic}", "producer", self._span, attributes)
        return Sending(span, span.traceparent)

    def replied(self, reply: QueryReply, traceparent: str | None = None) -> None:
        """Note a revision of the answer, and who sent it."""
        if self._span is None:
            return
        if traceparent is not None:
            self._span.link(traceparent)
        self._said = {"rankstream.result": outcomes.result(reply), "rankstream.revision": reply.revision}
        self._span.event("reply", self._said)
        self._error = None if reply.error is None else reply.error.error_class

    def failed(self, error: BaseException) -> None:
        """Note that there is no outcome, or a wrong one."""
        self._error = type(error).__name__

    def end(self) -> None:
        """End it."""
        if self._span is not None:
            if result := self._said.get("rankstream.result"):
                signals.record(CLIENT_DURATION, time.perf_counter() - self._began, {"result": str(result)})
            self._span.end(self._said, error=self._error)


class Sending:
    """A record on its way to the broker."""

    def __init__(self, span: Span | None, traceparent: str | None) -> None:
        self._span = span
        self.traceparent = traceparent  # for its headers

    def ended(self, error: BaseException | None = None) -> None:
        """Note that the broker has it, or why not."""
        if self._span is not None:
            self._span.end({}, error=None if error is None else type(error).__name__)
            self._span = None


@contextmanager
def asking(name: str, parent: str | None = None, attributes: Mapping[str, str] | None = None) -> Iterator[Asking]:
    """Make the block a trace, or a part of the one that `parent` names."""
    backend = signals.backend()
    if backend is None:
        yield Asking(None)
        return
    asked = Asking(backend.start(name, "internal", parent, attributes or {}))
    try:
        yield asked
    except BaseException as error:
        if not isinstance(error, GeneratorExit):  # who has the answer reads no further
            asked.failed(error)
        raise
    finally:
        asked.end()
