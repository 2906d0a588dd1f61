"""The seam: what the rest of the code calls. Without a backend every call returns at once and nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, Protocol

from streams.telemetry.instruments import Instrument

SpanKind = Literal["internal", "client", "producer", "consumer"]
Value = str | int | float | bool
Attributes = Mapping[str, Value]
Reading = tuple[Instrument, float, Mapping[str, str]]
Read = Callable[[], Iterable[Reading]]  # called from another thread whenever metrics are exported


class Span(Protocol):
    """A piece of work in a trace."""

    @property
    def traceparent(self) -> str:
        """The W3C trace context of what it causes."""

    @property
    def recording(self) -> bool:
        """Whether it is sampled: what is not, has no children either."""

    def event(self, name: str, attributes: Attributes) -> None:
        """Note something that happened in it."""

    def link(self, traceparent: str) -> None:
        """Point at a span elsewhere that it has to do with."""

    def end(self, attributes: Attributes, *, error: str | None = None) -> None:
        """End it; `error`: the class of what went wrong."""


class Backend(Protocol):
    """Where signals go."""

    def start(
        self, name: str, kind: SpanKind, parent: Span | str | None, attributes: Attributes, since: float | None = None
    ) -> Span:
        """Begin a span below a span of this process or a W3C trace context; since: seconds since the epoch."""

    def record(self, instrument: Instrument, value: float, labels: Mapping[str, str]) -> None:
        """Count or measure something."""

    def close(self, seconds: float) -> None:
        """Export what is left, within so many seconds."""


@dataclass(kw_only=True)
class _Seam:
    backend: Backend | None = None
    reads: list[Read] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Current:
    """What this task works on."""

    processor: str
    incoming: str | None  # the trace context of the record
    span: Span | None  # none: the record is told of in another one's span


_seam = _Seam()
CURRENT: ContextVar[Current | None] = ContextVar("current", default=None)


def install(backend: Backend | None) -> None:
    """Send signals there from now on; None: nowhere."""
    _seam.backend = backend


def backend() -> Backend | None:
    """Return where signals go."""
    return _seam.backend


def record(instrument: Instrument, value: float, labels: Mapping[str, str]) -> None:
    """Count or measure something."""
    if _seam.backend is not None:
        _seam.backend.record(instrument, value, labels)


def watch(read: Read) -> Callable[[], None]:
    """Have readings exported, by whatever backend there is then, until what is returned is called.

    What was counted until then is told on: the last export comes after everything has stopped.
    """
    _seam.reads.append(read)

    def unwatch() -> None:
        if read not in _seam.reads:
            return
        _seam.reads.remove(read)
        if _seam.backend is not None:
            counted = [reading for reading in patiently(read) if reading[0].kind == "counter"]
            _seam.reads.append(lambda: counted)

    return unwatch


def reads() -> Sequence[Read]:
    """Return what is to be read at an export."""
    return tuple(_seam.reads)


def patiently(read: Read) -> Sequence[Reading]:
    """Read counts that the event loop's thread may be changing; what cannot be read is not told this time."""
    for _ in range(3):
        try:
            return tuple(read())
        except RuntimeError:  # a dictionary changed its size meanwhile
            continue
        except Exception:
            break
    return ()


def incoming() -> str | None:
    """Return the trace context of the record in work; none without telemetry or without a trace."""
    current = CURRENT.get()
    return None if current is None else current.incoming


def link(traceparents: Iterable[str]) -> None:
    """Point from the span in work at other spans."""
    current = CURRENT.get()
    if current is not None and current.span is not None:
        for traceparent in traceparents:
            current.span.link(traceparent)
