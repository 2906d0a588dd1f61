"""A record in work, as traces and metrics see it: the runner tells what happens, and asks for its outputs' headers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextvars import Token
from types import TracebackType

from streams.errors import BrokerUnavailable, ModelUnavailable, StoreUnavailable
from streams.processor import Failure, Processor
from streams.telemetry import outcomes, signals
from streams.telemetry.instruments import DEAD_LETTERS, PROCESS_DURATION, RETRIES, WAIT
from streams.telemetry.signals import CURRENT, Backend, Current, Span
from streams.telemetry.w3c import TRACEPARENT
from streams.wire import SINCE, Outgoing, Record

SYSTEM = {"messaging.system": "kafka", "messaging.operation.name": "process"}


class Unwatched:
    """What is used without telemetry."""

    headers: Mapping[str, bytes] = {}

    def __enter__(self) -> Unwatched:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def decoded(self, message: object) -> None:
        """Note that the record was read."""

    def retried(self, error: Exception) -> None:
        """Note that an attempt failed and another one follows."""

    def sent(self, outputs: Sequence[Outgoing]) -> None:
        """Note that outputs were delivered."""

    def failed(self, failure: Failure, *, answered: bool) -> None:
        """Note that the record was dead-lettered, or answered with an error."""

    def ended(self, outcome: str) -> None:
        """Note what became of the record."""


class Watched(Unwatched):
    """One record: a span of kind consumer, its time, and what its outputs say."""

    def __init__(self, backend: Backend, processor: Processor, record: Record) -> None:
        self._backend = backend
        self._processor = processor
        self._record = record
        self._name = label(processor)
        self._span: Span | None = None
        self._outcome = "given_back"
        self._error: str | None = None
        self._began, self._timer = time.time(), time.perf_counter()
        incoming = record.headers.get(TRACEPARENT)
        self._incoming = None if incoming is None else incoming.decode("ascii", "replace")
        # What a generation is filled with was edited long ago: its age says nothing of how fresh the index is.
        since = b"" if processor.per_generation else record.headers.get(SINCE, b"")
        begin = self._began if processor.per_generation else record.timestamp
        self._since = since if since.isdigit() and len(since) < 16 else str(int(begin * 1000)).encode()
        self._token: Token[Current | None] | None = None

    def __enter__(self) -> Watched:
        self._token = CURRENT.set(Current(processor=self._name, incoming=self._incoming, span=None))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            CURRENT.reset(self._token)
        # Not the group of one generation: those come and go.
        group = f"rankstream.{self._name}"
        labels = {"processor": self._name, "outcome": self._outcome, "messaging.consumer.group.name": group, **SYSTEM}
        self._backend.record(PROCESS_DURATION, time.perf_counter() - self._timer, labels)
        self._backend.record(WAIT, max(0.0, self._began - self._record.timestamp), labels)
        if self._span is not None:
            failed = self._error or (None if kind is None else kind.__name__)
            self._span.end({"rankstream.outcome": self._outcome}, error=failed)

    @property
    def headers(self) -> Mapping[str, bytes]:  # type: ignore[override]
        """The headers of outputs: the trace goes on below this record's span."""
        trace = self._incoming if self._span is None else self._span.traceparent
        return {SINCE: self._since} if trace is None else {TRACEPARENT: trace.encode(), SINCE: self._since}

    def decoded(self, message: object) -> None:
        if self._span is None and (self._processor.joins is None or not self._processor.joins(message)):
            self._open()

    def _open(self) -> None:
        record = self._record
        attributes: dict[str, str | int] = {
            **SYSTEM,
            "messaging.operation.type": "process",
            "messaging.destination.name": record.topic,
            "messaging.destination.partition.id": str(record.partition),
            "messaging.kafka.offset": record.offset,
            "messaging.consumer.group.name": self._processor.group,
            "rankstream.processor": self._name,
        }
        self._span = self._backend.start(f"process {record.topic}", "consumer", self._incoming, attributes, self._began)
        CURRENT.set(Current(processor=self._name, incoming=self._incoming, span=self._span))

    def retried(self, error: Exception) -> None:
        cause = "transient"
        if isinstance(error, BrokerUnavailable):
            cause = "broker"
        elif isinstance(error, StoreUnavailable):
            cause = "store"
        elif isinstance(error, ModelUnavailable):
            cause = "model"
        self._backend.record(RETRIES, 1, {"processor": self._name, "cause": cause})
        if self._span is not None:
            self._span.event("retry", {"error.type": type(error).__name__})

    def sent(self, outputs: Sequence[Outgoing]) -> None:
        if self._span is not None and self._span.recording:
            for output in outputs:
                self._span.event(f"send {output.topic.name}", {})
        age = time.time() - int(self._since) / 1000
        for instrument, value, labels in outcomes.readings(outputs, age=max(0.0, age)):
            self._backend.record(instrument, value, labels)

    def failed(self, failure: Failure, *, answered: bool) -> None:
        if self._span is None:
            self._open()
        self._error = failure.error_class
        if not answered:
            labels = {"topic": self._processor.source.name, "error_class": failure.error_class}
            self._backend.record(DEAD_LETTERS, 1, labels)

    def ended(self, outcome: str) -> None:
        self._outcome = outcome


UNWATCHED = Unwatched()


def begin(processor: Processor, record: Record) -> Unwatched:
    """Return what watches a record, to be entered."""
    backend = signals.backend()
    return UNWATCHED if backend is None else Watched(backend, processor, record)


def label(processor: Processor) -> str:
    """Return a processor's name as a label; generations come and go, and are none."""
    return "replay" if processor.per_generation else processor.name
