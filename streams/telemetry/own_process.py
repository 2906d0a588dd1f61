"""What every process tells of itself: memory, time, open files, and whether its code is what was released."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streams import release
from streams.errors import ConfigurationError
from streams.telemetry import instruments as told
from streams.telemetry.signals import Reading

PROC = Path("/proc/self")
LOOK_SECONDS = 86_400.0  # between two comparisons of the code
_BEGAN = time.monotonic()  # of the import, which is early


@dataclass(kw_only=True)
class _Code:
    looked: float | None = None  # on the monotonic clock
    differences: int | None = None  # none: there is no manifest to compare with


_code = _Code()


def readings() -> Iterator[Reading]:
    """Yield what is read at each export."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    yield told.MEMORY, int((PROC / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"), {}
    yield told.CPU, usage.ru_utime + usage.ru_stime, {}
    yield told.UPTIME, time.monotonic() - _BEGAN, {}
    yield told.FILES, sum(1 for _ in (PROC / "fd").iterdir()), {}
    if (differences := of_code()) is not None:
        yield told.CODE_DIFFERENCES, differences, {}


def of_code(path: Path = release.MANIFEST) -> int | None:
    """Return how many files are not as released, looked at once a day; none without a manifest."""
    now = time.monotonic()
    if _code.looked is None or now - _code.looked >= LOOK_SECONDS:
        _code.looked = now
        try:
            _code.differences = len(release.differences(release.manifest(path), release.hashes()))
        except ConfigurationError:
            _code.differences = None
    return _code.differences
