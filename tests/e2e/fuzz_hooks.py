"""What schemathesis does not know of itself: lines of JSON are sent as they are."""

from __future__ import annotations

from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> bytes:
    """Return a body of lines."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
