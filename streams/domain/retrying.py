"""When to ask an endpoint again: exponential back-off with full jitter, or when it says itself.

Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
"""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime

FIRST = 0.25  # seconds
LONGEST = 8.0  # seconds


def pause(attempt: int, share: float, *, asked: float | None = None) -> float:
    """Return the seconds to wait after attempt number `attempt`, from 1; `share` is random, from 0 to 1.

    What the endpoint asks for is waited in full, with up to a second more: its clients would else return together.
    """
    if asked is not None:
        return asked + share * min(1.0, asked)
    return share * float(min(LONGEST, FIRST * 2 ** min(attempt - 1, 10)))


def asked_for(header: str | None, now: float) -> float | None:
    """Return the seconds that a `Retry-After` asks for (RFC 9110, 10.2.3); None without a readable one.

    `now` is in seconds since the epoch, for one that names a date.
    """
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
        return max(0.0, (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None
