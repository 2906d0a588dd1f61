"""Spans to a collector: begun and ended here, then batched, encoded and exported by OpenTelemetry's SDK.

The SDK's own take three times as long to begin and end, mostly to look at each attribute; a question makes twenty.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from streams.telemetry import w3c
from streams.telemetry.signals import Attributes, Span
from streams.telemetry.signals import SpanKind as Kind

MOST_SPANS = 8_192  # that wait for their export; more are dropped, so that a collector that is away costs no memory
_KINDS: Mapping[Kind, SpanKind] = {
    "internal": SpanKind.INTERNAL,
    "client": SpanKind.CLIENT,
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
}
_LOW = TraceIdRatioBased.TRACE_ID_LIMIT  # the bits of a trace's id that decide
_SAMPLED, _DROPPED = TraceFlags(TraceFlags.SAMPLED), TraceFlags(TraceFlags.DEFAULT)
_UNSET, _ERROR = Status(StatusCode.UNSET), Status(StatusCode.ERROR)


class OtelSpan:
    """The Span port; one that is not sampled has a context all the same, which says so, and keeps nothing."""

    __slots__ = (
        "_attributes",
        "_began",
        "_events",
        "_kind",
        "_links",
        "_name",
        "_parent",
        "_spans",
        "context",
        "recording",
    )

    def __init__(
        self,
        spans: Spans,
        *,
        name: str,
        kind: Kind,
        context: SpanContext,
        parent: SpanContext | None,
        attributes: Attributes,
        since: float | None,
    ) -> None:
        self.context = context
        self.recording = context.trace_flags.sampled
        self._spans, self._name, self._kind = spans, name, kind
        self._parent, self._attributes = parent, attributes
        self._began = time.time_ns() if since is None else int(since * 1e9)
        self._events: list[Event] = []
        self._links: list[Link] = []

    @property
    def traceparent(self) -> str:
        """The W3C trace context of what it causes."""
        return w3c.written(self.context.trace_id, self.context.span_id, sampled=self.context.trace_flags.sampled)

    def event(self, name: str, attributes: Attributes) -> None:
        """Note something that happened in it."""
        if self.recording:
            self._events.append(Event(name, attributes, time.time_ns()))

    def link(self, traceparent: str) -> None:
        """Point at a span elsewhere that it has to do with."""
        if self.recording and (context := placed(traceparent)) is not None:
            self._links.append(Link(context))

    def end(self, attributes: Attributes, *, error: str | None = None) -> None:
        """End it; nothing more is noted in it then."""
        if not self.recording:
            return
        self.recording = False
        told = {**self._attributes, **attributes}
        if error is not None:
            told["error.type"] = error
        self._spans.ended(
            ReadableSpan(
                name=self._name,
                context=self.context,
                parent=self._parent,
                resource=self._spans.resource,
                attributes=told,
                events=self._events,
                links=self._links,
                kind=_KINDS[self._kind],
                status=_UNSET if error is None else _ERROR,
                start_time=self._began,
                end_time=time.time_ns(),
                instrumentation_scope=self._spans.scope,
            )
        )


class Spans:
    """Begins spans, and hands those that ended to the SDK's batches; from any thread."""

    def __init__(self, exporter: SpanExporter, resource: Resource, *, scope: str, sample: float, every: int) -> None:
        """sample: the share of traces that is kept; every: milliseconds between exports."""
        self.resource = resource
        self.scope = InstrumentationScope(scope)
        # By its id, a trace is kept by all or by none; that a client samples everything does not make us do so.
        self._bound = TraceIdRatioBased.get_bound_for_rate(sample)
        self._ids = RandomIdGenerator()
        self._batches = BatchSpanProcessor(exporter, max_queue_size=MOST_SPANS, schedule_delay_millis=every)
        self.ended = self._batches.on_end

    def start(
        self, name: str, kind: Kind, parent: Span | str | None, attributes: Attributes, since: float | None
    ) -> OtelSpan:
        """Begin a span below one of this process or a W3C trace context; since: seconds since the epoch."""
        if isinstance(parent, OtelSpan):
            above: SpanContext | None = parent.context
        else:
            above = placed(parent) if isinstance(parent, str) else None
        trace_id = self._ids.generate_trace_id() if above is None else above.trace_id
        kept = (
            above is None or above.trace_flags.sampled
        ) and trace_id & TraceIdRatioBased.TRACE_ID_LIMIT < self._bound
        context = SpanContext(
            trace_id, self._ids.generate_span_id(), is_remote=False, trace_flags=_SAMPLED if kept else _DROPPED
        )
        return OtelSpan(self, name=name, kind=kind, context=context, parent=above, attributes=attributes, since=since)

    def flush(self) -> None:
        """Export now."""
        self._batches.force_flush()

    def shutdown(self) -> None:
        """Export for the last time."""
        self._batches.shutdown()  # type: ignore[no-untyped-call]


def placed(traceparent: str) -> SpanContext | None:
    """Return the place in a trace that a `traceparent` says; none for a malformed one."""
    at = w3c.read(traceparent)
    if at is None:
        return None
    return SpanContext(at.trace_id, at.span_id, is_remote=True, trace_flags=_SAMPLED if at.sampled else _DROPPED)
