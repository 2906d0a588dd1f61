"""Processors as real processes, signalled by pid: started, awaited, killed, stopped, paused, watched, measured."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from streams.embedded.processes import Child, spawn
from streams.processors import catalogue
from tests.faults.evidence import LEGS, Exit, Size

ROOT = Path(__file__).parents[2]
READY = 120.0  # seconds; the machine may be busy with other things
GROUPS: dict[str, tuple[str, ...]] = {
    "chunk": ("chunk",),
    "embed": ("embed", "extract", "index-graph"),
    "writers": ("index-vectors", "index-text"),
    "publish-version": ("publish-version",),
    "prepare": ("prepare",),
    "legs-vectors": ("retrieve-dense", "retrieve-sparse"),
    "legs-text": ("retrieve-fulltext", "retrieve-qa", "retrieve-graph"),
    "fuse": ("fuse", "rerank"),
}
# What else there is has a process to itself.
_placed = {name for members in GROUPS.values() for name in members}
if rest := tuple(processor.name for processor in catalogue.ALL if processor.name not in _placed):
    GROUPS["others"] = rest
# What may be seen of a group that is away: which legs are flagged, and whether questions may end in an error. While
# `prepare` or `fuse` is away the legs' time runs out as well.
FLAGGED: Mapping[str, frozenset[str]] = {
    "legs-vectors": frozenset({"dense", "sparse"}),
    "legs-text": frozenset({"fulltext", "qa", "graph"}),
    "prepare": frozenset(LEGS),
    "fuse": frozenset(LEGS),
}
ANSWERING = frozenset({"prepare", "fuse"})


class Process:
    """One process: `rankstream run NAME…`."""

    def __init__(self, name: str, processors: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self.processors = processors
        self.exits: list[Exit] = []
        self.expected_away = False  # it was signalled by the harness
        self.log = folder / "logs" / f"{name}.log"
        self._folder = folder
        self._environment = environment
        self._child: Child | None = None
        self._began = 0  # where the log of this start begins

    @property
    def pid(self) -> int:
        assert self._child is not None
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child is not None and self._child.alive

    @property
    def code(self) -> int | None:
        return self._child.process.poll() if self._child else None

    def start(self, **environment: str) -> None:
        """Start it; `ready` waits until it works."""
        own = Path(__file__).parent / "inside"
        tasks = self._folder / "tasks"
        tasks.mkdir(exist_ok=True)
        env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("RANKSTREAM_", "FAULTS_"))},
            **self._environment,
            "PYTHONPATH": os.pathsep.join([str(own), str(ROOT)]),
            "PYTHONUNBUFFERED": "1",
            "RANKSTREAM_DATA": str(self._folder / "data" / self.name),
            "FAULTS_TASKS": str(tasks),
            **environment,
        }
        command = [sys.executable, "-m", "streams.cli.main", "run", *self.processors]
        self._began = self.log.stat().st_size if self.log.exists() else 0
        self._child = spawn(self.name, command, log=self.log, cwd=ROOT, env=env)
        self.expected_away = False

    async def ready(self, within: float = READY) -> float:
        """Return when it has its partitions (seconds since the epoch); raise RuntimeError when it never has."""
        until = time.monotonic() + within
        while time.monotonic() < until:
            if "running: " in self.said():
                return time.time()
            if not self.alive:
                raise RuntimeError(f"{self.name} ended with {self.code} while starting: {self.said()[-500:]}")
            await asyncio.sleep(0.05)
        raise RuntimeError(f"{self.name} was not ready within {within:.0f} s: {self.said()[-500:]}")

    def said(self) -> str:
        """Return what it has logged since its start."""
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(self._began)
            return file.read().decode(errors="replace")
        return ""

    async def kill(self) -> None:
        """End it as a crash would."""
        self.expected_away = True
        self.signal(signal.SIGKILL)
        await self._ended((-signal.SIGKILL,), 10.0, None)

    async def terminate(self, within: float = 10.0, expected: tuple[int, ...] = (0,)) -> float:
        """Ask it to end and return the seconds that took; after three times as long it is killed."""
        self.expected_away = True
        self.signal(signal.SIGTERM)
        return await self._ended(expected, within * 3, within)

    async def _ended(self, expected: tuple[int, ...], patience: float, within: float | None) -> float:
        assert self._child is not None
        began = time.monotonic()
        if not await self._child.ended(patience):
            await self._child.kill()
        took = time.monotonic() - began
        self.exits.append(Exit(process=self.name, code=self.code or 0, expected=expected, seconds=took, within=within))
        return took

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def lost(self) -> bool:
        """Tell whether it ended by itself, and note that."""
        if self._child is None or self.expected_away or self.alive:
            return False
        self.exits.append(Exit(process=self.name, code=self.code or 0, expected=()))
        return True

    async def stop(self) -> None:
        """End it for good, whatever state it is in."""
        if self._child is not None and self.alive:
            self.expected_away = True
            with contextlib.suppress(ProcessLookupError):
                self.signal(signal.SIGCONT)
            await self._child.stop(12.0)

    def size(self) -> tuple[int, int, int, int]:
        """Return pid, bytes of memory, descriptors and asyncio tasks."""
        process = psutil.Process(self.pid)
        tasks = 0
        with contextlib.suppress(OSError, ValueError):
            tasks = int((self._folder / "tasks" / str(self.pid)).read_text() or 0)
        return self.pid, process.memory_info().rss, process.num_fds(), tasks


def grown(
    before: Mapping[str, tuple[int, int, int, int]], after: Mapping[str, tuple[int, int, int, int]]
) -> list[Size]:
    """Return the sizes of those that are the same process before and after."""
    return [
        Size(
            process=name,
            rss=(before[name][1], now[1]),
            fds=(before[name][2], now[2]),
            tasks=(before[name][3], now[3]),
        )
        for name, now in after.items()
        if name in before and before[name][0] == now[0]
    ]
