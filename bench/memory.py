"""memory: what `rankstream up` takes once the demonstration is indexed: memory, and computing while idle."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from bench import command, processes
from bench.figures import Figure, Promise

SETTLE = 15.0  # seconds after the last answer
IDLE = 30.0  # seconds
GIB = 1024**3


async def measure() -> list[Figure]:
    """Start the command, let it answer and settle, then look at its processes twice."""
    with tempfile.TemporaryDirectory(prefix="rankstream-bench-", ignore_cleanup_errors=True) as folder:
        async with command.up(Path(folder)) as running:
            await running.says("Everything is up")
            await asyncio.sleep(SETTLE)
            before, began = processes.family(running.pid), time.perf_counter()
            await asyncio.sleep(IDLE)
            after, seconds = processes.family(running.pid), time.perf_counter() - began
    computed = {usage.pid: usage.seconds for usage in before}
    figures = [
        Figure(name="memory, shared pages once (PSS)", value=sum(use.pss for use in after) / GIB, unit="GiB"),
        Figure(
            name="memory (RSS)",
            value=sum(use.rss for use in after) / GIB,
            unit="GiB",
            promise=Promise(bound=1.5),
            note=f"{len(after)} processes",
        ),
        Figure(
            name="computing while idle",
            value=sum(use.seconds - computed.get(use.pid, 0.0) for use in after) / seconds * 100,
            unit="% of a core",
            promise=Promise(bound=15),
            note=f"over {seconds:.0f} s",
        ),
    ]
    groups: dict[str, list[processes.Usage]] = {}
    for use in after:
        groups.setdefault(_name(use.command), []).append(use)
    for name, uses in sorted(groups.items()):
        idle = sum(use.seconds - computed.get(use.pid, 0.0) for use in uses) / seconds * 100
        figures += [
            Figure(name=f"{name}: memory (RSS)", value=sum(use.rss for use in uses) / GIB, unit="GiB"),
            Figure(name=f"{name}: memory (PSS)", value=sum(use.pss for use in uses) / GIB, unit="GiB"),
            Figure(name=f"{name}: idle", value=idle, unit="% of a core"),
        ]
    return figures


def _name(line: str) -> str:
    known = {"kafka.Kafka": "Kafka", "qdrant_server": "Qdrant", "postgres": "Postgres", "valkey": "Valkey"}
    known |= {"tansu": "Tansu", "streams.cli.main": "processors"}
    return next((name for part, name in known.items() if part in line), line[:40])
