"""Spans are what the SDK would have made of the same work."""

from __future__ import annotations

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Encoded
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NonRecordingSpan, SpanKind, Status, StatusCode, set_span_in_context

from streams.telemetry import w3c
from streams.telemetry.otel_spans import Spans, placed

ABOVE = w3c.written(0xA1, 0xB2, sampled=True)
OTHER = w3c.written(0xC3, 0xD4, sampled=True)
RESOURCE = Resource({"service.name": "test"})
AT = 1_700_000_000.25


def spans(exporter: InMemorySpanExporter) -> Spans:
    return Spans(exporter, RESOURCE, scope="test", sample=1.0, every=60_000)


def encoded(exporter: InMemorySpanExporter) -> list[Encoded]:
    found = encode_spans(exporter.get_finished_spans())
    assert [each.resource.attributes[0].value.string_value for each in found.resource_spans] == ["test"]
    assert [scope.scope.name for each in found.resource_spans for scope in each.scope_spans] == ["test"]
    return [span for each in found.resource_spans for scope in each.scope_spans for span in scope.spans]


def without_chance(span: Encoded) -> Encoded:
    """Leave out what differs from run to run, its own id and times, and the order of attributes."""
    span.span_id = b""
    span.end_time_unix_nano = 0
    for event in span.events:
        event.time_unix_nano = 0
    span.attributes.sort(key=lambda each: each.key)
    return span


def test_a_span_is_told_as_the_sdk_tells_it() -> None:
    mine, theirs = InMemorySpanExporter(), InMemorySpanExporter()
    batches = spans(mine)
    span = batches.start("search", "client", ABOVE, {"system": "qdrant", "tries": 2, "share": 0.5, "ok": True}, AT)
    span.event("retry", {"why": "busy"})
    span.link(OTHER)
    span.end({"outcome": "late", "tries": 3}, error="Late")
    batches.flush()

    provider = TracerProvider(resource=RESOURCE)
    provider.add_span_processor(SimpleSpanProcessor(theirs))
    parent, linked = placed(ABOVE), placed(OTHER)
    assert parent is not None
    assert linked is not None
    known = provider.get_tracer("test").start_span(
        "search",
        set_span_in_context(NonRecordingSpan(parent), Context()),
        kind=SpanKind.CLIENT,
        attributes={"system": "qdrant", "tries": 2, "share": 0.5, "ok": True},
        start_time=int(AT * 1e9),
    )
    known.add_event("retry", {"why": "busy"})
    known.add_link(linked)
    known.set_attributes({"outcome": "late", "tries": 3, "error.type": "Late"})
    known.set_status(Status(StatusCode.ERROR))
    known.end()

    (told,), (expected,) = encoded(mine), encoded(theirs)
    assert AT * 1e9 <= told.events[0].time_unix_nano <= told.end_time_unix_nano
    assert without_chance(told) == without_chance(expected)


def test_a_child_is_below_its_parent_of_the_same_process_and_a_root_below_nothing() -> None:
    exporter = InMemorySpanExporter()
    batches = spans(exporter)
    root = batches.start("ask", "internal", None, {}, None)
    batches.start("send", "producer", root, {}, None).end({})
    root.end({})
    batches.flush()
    child, above = encoded(exporter)
    assert (child.name, child.parent_span_id, child.trace_id) == ("send", above.span_id, above.trace_id)
    assert above.parent_span_id == b""
    assert root.traceparent == f"00-{above.trace_id.hex()}-{above.span_id.hex()}-01"


def test_a_span_ends_once_and_one_that_is_not_sampled_is_not_told() -> None:
    exporter = InMemorySpanExporter()
    batches = spans(exporter)
    span = batches.start("once", "internal", None, {}, None)
    span.end({})
    span.end({"again": True})
    unsampled = batches.start("never", "internal", w3c.written(0xA1, 0xB2, sampled=False), {}, None)
    unsampled.event("x", {})
    unsampled.end({})
    batches.flush()
    assert [each.name for each in encoded(exporter)] == ["once"]
    batches.shutdown()
