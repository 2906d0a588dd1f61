"""Log lines for machines: JSON on standard error, or OTLP, with the trace they belong to and without secrets."""

from __future__ import annotations

import json
import logging
import time
import traceback

from streams.domain.redaction import shown
from streams.telemetry import w3c
from streams.telemetry.signals import CURRENT

LONGEST = 2_000  # characters of a message
LONGEST_TRACE = 8_000  # characters of an exception
_MADE = "rankstream_line"


def line(record: logging.LogRecord) -> dict[str, str]:
    """Return what a log line says, made once for all handlers; what looks like a secret is hidden."""
    made: dict[str, str] | None = getattr(record, _MADE, None)
    if made is None:
        made = _line(record)
        setattr(record, _MADE, made)
    return dict(made)


def _line(record: logging.LogRecord) -> dict[str, str]:
    current = CURRENT.get()
    found = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{record.msecs:03.0f}Z",
        "level": record.levelname,
        "logger": record.name,
        "message": shown(record.getMessage(), LONGEST),
    }
    if current is not None:
        found["processor"] = current.processor
        at = w3c.read(current.span.traceparent if current.span is not None else current.incoming or "")
        if at is not None:
            found |= {"trace_id": f"{at.trace_id:032x}", "span_id": f"{at.span_id:016x}"}
    if record.exc_info and record.exc_info[0] is not None:
        found["exception"] = shown("".join(traceback.format_exception(*record.exc_info)), LONGEST_TRACE)
    return found


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return json.dumps(line(record), ensure_ascii=False)
