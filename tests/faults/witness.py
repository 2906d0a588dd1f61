"""What else held the system up: how busy the machine was at each moment, and stores that did not answer by themselves.

`Pressure` is read in the harness. The witness of the stores is a process of its own, so that a busy harness is not
taken for a slow store: `python -m tests.faults.witness --out FILE --postgres URL --qdrant URL --redis URL`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import aiohttp
import psycopg
import redis.asyncio

from tests.faults.evidence import Fault

PRESSURE = Path("/proc/pressure/cpu")
CROWDED_LOAD = 2.5  # processes that want to run, a core: where the kernel does not tell the pressure
SHORTEST = 1.0  # seconds over which it is looked at
EVERY = 0.1  # seconds
KEPT = 3_000  # samples
HELD_UP = 1.0  # seconds after which a store that says nothing counts as held up
LEGS: Mapping[str, frozenset[str]] = {
    "qdrant": frozenset({"dense", "sparse"}),
    "postgres": frozenset({"fulltext", "qa", "graph"}),
    "redis": frozenset(),
}


class Pressure:
    """For how much of the time somebody waited for a processor, from the kernel's own count."""

    def __init__(self, file: Path = PRESSURE, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._clock = clock
        self._samples: deque[tuple[float, float]] = deque(maxlen=KEPT)  # when, seconds waited until then
        self.sample()

    def sample(self) -> None:
        """Note the count; to be called every now and then."""
        now = self._clock()
        if self._samples and now - self._samples[-1][0] < EVERY:
            return
        with contextlib.suppress(OSError, ValueError, IndexError):
            some = self._file.read_text().splitlines()[0]  # some avg10=0.00 avg60=0.00 avg300=0.00 total=12345
            self._samples.append((now, int(some.rsplit("=", 1)[1]) / 1e6))

    def share(self, since: float) -> float:
        """Return in which share of the time from a moment until now somebody waited; none or all where nobody tells."""
        self.sample()
        if not self._samples:
            return float(os.getloadavg()[0] > CROWDED_LOAD * (os.cpu_count() or 1))
        end, waited = self._samples[-1]
        since = min(since, end - SHORTEST)
        before = next((each for each in reversed(self._samples) if each[0] <= since), self._samples[0])
        return (waited - before[1]) / (end - before[0]) if end > before[0] else 0.0


def held_up(said: str, since: float) -> tuple[Fault, ...]:
    """Return what the witness wrote of stores since a moment, as what explains a late answer."""
    found = []
    for line in said.splitlines():
        with contextlib.suppress(ValueError, KeyError):
            store, begin, end = line.split()
            if float(end) >= since:
                found.append(
                    Fault(
                        what=f"{store} was held up for {float(end) - float(begin):.1f} s",
                        begin=float(begin),
                        end=float(end),
                        legs=LEGS[store],
                        in_flight=1,
                    )
                )
    return tuple(found)


async def watch(store: str, ask: Callable[[], Awaitable[object]], out: Path) -> None:
    """Ask a store again and again, and write a line for each time that it took too long."""
    while True:
        begin = time.time()
        with contextlib.suppress(OSError, aiohttp.ClientError, psycopg.Error, redis.RedisError, TimeoutError):
            await ask()
        if (end := time.time()) - begin > HELD_UP:
            with out.open("a") as file:
                file.write(f"{store} {begin:.3f} {end:.3f}\n")
        await asyncio.sleep(EVERY)


async def main(given: argparse.Namespace) -> None:
    """Watch the three stores until ended."""
    cache = redis.asyncio.from_url(given.redis)
    async with (
        aiohttp.ClientSession() as http,
        await psycopg.AsyncConnection.connect(given.postgres, autocommit=True) as database,
    ):

        async def vectors() -> None:
            async with http.get(f"{given.qdrant}/healthz") as answer:
                await answer.read()

        asks: dict[str, Callable[[], Awaitable[object]]] = {
            "qdrant": vectors,
            "postgres": lambda: database.execute("SELECT 1"),
            "redis": cache.ping,
        }
        await asyncio.gather(*(watch(store, ask, given.out) for store, ask in asks.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="tests.faults.witness")
    parser.add_argument("--out", type=Path, required=True)
    for name in LEGS:
        parser.add_argument(f"--{name}", required=True)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(parser.parse_args()))
