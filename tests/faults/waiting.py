"""Waiting for something to become true, within a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(holds: Callable[[], bool], seconds: float, *, pause: float = 0.05) -> bool:
    """Return true as soon as something holds, false when it does not within `seconds`."""
    for _ in range(max(1, round(seconds / pause))):
        if holds():
            return True
        await asyncio.sleep(pause)
    return holds()
