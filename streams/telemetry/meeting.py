"""Where parts of one whole meet: each comes with a span of its own, and the span of the whole links to all of them."""

from __future__ import annotations

from collections.abc import Hashable

from streams.telemetry import signals

MOST = 10_000  # wholes that are remembered; the oldest of more is forgotten


class Meeting:
    """Remembers, by whole, the trace contexts of the parts that came; nothing without telemetry."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, list[str]] = {}

    def note(self, whole: Hashable) -> None:
        """Remember the record in work as a part of a whole."""
        traceparent = signals.incoming()
        if traceparent is None:
            return
        if whole not in self._parts and len(self._parts) >= MOST:
            del self._parts[next(iter(self._parts))]
        self._parts.setdefault(whole, []).append(traceparent)

    def link(self, whole: Hashable) -> None:
        """Link the span in work to all parts that came, and forget them."""
        if parts := self._parts.pop(whole, None):
            signals.link(parts)
