"""A backend that keeps what it is told: the twin of the one over OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from streams.telemetry import signals, w3c
from streams.telemetry.instruments import Instrument
from streams.telemetry.signals import Attributes, Span, SpanKind


@dataclass(kw_only=True)
class KeptSpan:
    """A span with all that was said of it."""

    name: str
    kind: SpanKind
    parent: Span | str | None
    attributes: dict[str, object]
    traceparent: str
    recording: bool = True
    events: list[tuple[str, Attributes]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ended: bool = False
    error: str | None = None

    def event(self, name: str, attributes: Attributes) -> None:
        self.events.append((name, attributes))

    def link(self, traceparent: str) -> None:
        self.links.append(traceparent)

    def end(self, attributes: Attributes, *, error: str | None = None) -> None:
        assert not self.ended
        self.attributes |= attributes
        self.ended, self.error = True, error


class Kept:
    """The Backend port in memory; without `sampled`, no span is recorded."""

    def __init__(self, *, sampled: bool = True) -> None:
        self.spans: list[KeptSpan] = []
        self.points: list[tuple[Instrument, float, Mapping[str, str]]] = []
        self._sampled = sampled

    def start(
        self, name: str, kind: SpanKind, parent: Span | str | None, attributes: Attributes, since: float | None = None
    ) -> Span:
        traceparent = w3c.written(1, len(self.spans) + 1, sampled=self._sampled)
        span = KeptSpan(
            name=name,
            kind=kind,
            parent=parent,
            attributes=dict(attributes),
            traceparent=traceparent,
            recording=self._sampled,
        )
        self.spans.append(span)
        return span

    def record(self, instrument: Instrument, value: float, labels: Mapping[str, str]) -> None:
        self.points.append((instrument, value, instrument.bounded(labels)))

    def close(self, seconds: float) -> None:
        return None

    def values(self, instrument: Instrument) -> list[tuple[float, Mapping[str, str]]]:
        return [(value, labels) for which, value, labels in self.points if which is instrument]


@contextmanager
def kept(*, sampled: bool = True) -> Iterator[Kept]:
    """Have signals kept inside the block."""
    backend = Kept(sampled=sampled)
    signals.install(backend)
    try:
        yield backend
    finally:
        signals.install(None)
