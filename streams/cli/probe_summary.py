"""What the probe's runs come to: in words for a day, as metrics for now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from streams.domain import canary
from streams.gateways import probe_log
from streams.telemetry import instruments as told
from streams.telemetry.signals import Reading

WELL = "nothing to look at"


def lines(log: Path) -> Iterator[str]:
    """Yield a day in words: how many runs, how long they took, what failed, what was degraded for long."""
    day = canary.summary(probe_log.read(log), now=time.time())
    runs = sum(day.runs.values())
    yield f"the probe's last day: {runs} runs" + "".join(f", {count} {name}" for name, count in day.runs.items())
    for name, median in day.median.items():
        yield f"  {name}: median {median:.0f} ms, p95 {day.p95[name]:.0f} ms"
    for line in day.failed:
        yield f"failed at {_clock(line['at'])}: {'; '.join(line['problems'])}"
    for begin, end, reasons in day.long:
        hours = (end - begin) / 3600
        yield f"degraded for {hours:.1f} h, {_clock(begin)} to {_clock(end)}: {'; '.join(reasons)}"
    if not runs:
        yield "no run in a day: the probe is not running"
    if day.well:
        yield WELL


def readings(log: Path, began: float) -> Iterator[Reading]:
    """Yield how the probe stands, by what it wrote down; before its first run, as old as the process."""
    runs, now = probe_log.read(log), time.time()
    since = canary.degraded_since(runs)
    last = max(began, runs[-1]["at"] + runs[-1]["seconds"] if runs else 0.0)
    yield told.PROBE_FAILURES, canary.failures(runs), {}
    yield told.PROBE_DEGRADED, 0.0 if since is None else now - since, {}
    yield told.PROBE_AGE, max(0.0, now - last), {}


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime(at))
