"""start: seconds from `rankstream up --once` to its first answer, its downloads done before."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench import command
from bench.figures import Figure, Promise, median
from streams.cli.corpus import DEMO_QUESTIONS

RUNS = 3


async def measure() -> list[Figure]:
    """Start on an empty folder, then again on the data that the first left; several times."""
    took: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="rankstream-bench-", ignore_cleanup_errors=True) as folder:
        for number in range(RUNS):
            for kind in ("empty folder", "data there"):
                async with command.up(Path(folder, str(number)), "--once") as running:
                    up = await running.says("up after")
                    answer = await running.says(DEMO_QUESTIONS[0])
                    ends = await running.ends()
                for name, seconds in {"all is up": up, "first answer": answer, "ended": ends}.items():
                    took.setdefault(f"{kind}: {name}", []).append(seconds)
    return [
        Figure(
            name=name,
            value=median(values),
            unit="s",
            promise=Promise(bound=30) if name.endswith("first answer") else None,
            note=f"median of {RUNS}",
        )
        for name, values in took.items()
    ]
