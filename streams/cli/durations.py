"""Times as people write them: 90s, 15m, 2h, 7d."""

from __future__ import annotations

import re

_WRITTEN = re.compile(r"(\d{1,6})(s|m|h|d)", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}  # seconds


def seconds(text: str) -> int | None:
    """Return the seconds that a text stands for; none where it is no such time."""
    found = _WRITTEN.fullmatch(text)
    return None if found is None else int(found[1]) * _UNITS[found[2]]
