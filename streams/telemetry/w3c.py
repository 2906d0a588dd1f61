"""W3C trace context, version 00: `traceparent` as text and as its parts (https://www.w3.org/TR/trace-context/)."""

from __future__ import annotations

import re
from dataclasses import dataclass

TRACEPARENT = "traceparent"
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_SAMPLED = 1


@dataclass(frozen=True, kw_only=True)
class TraceContext:
    """A place in a trace."""

    trace_id: int
    span_id: int
    sampled: bool


def read(text: str) -> TraceContext | None:
    """Return what a `traceparent` says; none for one that is malformed, which starts a trace of its own."""
    found = _FORM.fullmatch(text) if len(text) <= 256 else None
    if found is None or found[1] == "ff" or (found[1] == "00" and len(text) != 55):
        return None
    trace_id, span_id = int(found[2], 16), int(found[3], 16)
    if not trace_id or not span_id:
        return None
    return TraceContext(trace_id=trace_id, span_id=span_id, sampled=bool(int(found[4], 16) & _SAMPLED))


def written(trace_id: int, span_id: int, *, sampled: bool) -> str:
    """Return a `traceparent`."""
    return f"00-{trace_id:032x}-{span_id:016x}-{'01' if sampled else '00'}"
