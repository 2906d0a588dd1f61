"""Runs benches by name, one after another; all without a name: `python -m bench.run [name…]`."""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
import time
from collections.abc import Sequence

from bench import report

BENCHES = (
    "roundtrip",
    "ingest",
    "freshness",
    "lanes",
    "scale",
    "hop",
    "start",
    "memory",
    "extraction",
    "legs",
    "fuse",
    "rerank",
    "telemetry",
    "gateway",
    "mcp",
)


def main(names: Sequence[str]) -> int:
    """Run, print and keep; return 2 for a name that is not known, 1 when a bench failed, 0 also for slow results."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"bench: there is no {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.ERROR)
    # It complains while a group forms for the first time, which is no error.
    logging.getLogger("aiokafka.consumer.group_coordinator").setLevel(logging.CRITICAL)
    failed = 0
    for name in names or BENCHES:
        bench = importlib.import_module(f"bench.{name}")
        print((bench.__doc__ or name).splitlines()[0], flush=True)
        began = time.perf_counter()
        try:
            figures = asyncio.run(bench.measure())
        except Exception:
            logging.exception("%s failed", name)
            failed = 1
            continue
        if not figures:
            continue  # it has said why
        for figure in figures:
            print(report.line(figure))
        print(f"  took {time.perf_counter() - began:.0f} s", flush=True)
        report.keep(name, figures, time.perf_counter() - began)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
