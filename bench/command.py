"""`rankstream up` as a person runs it: in a process of its own, its output read line by line."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from streams import settings
from streams.errors import RankstreamError

STOP_SECONDS = 15.0
_GIVEN = (settings.KAFKA, settings.QDRANT, settings.POSTGRES, settings.REDIS)


class Up:
    """A running `rankstream up`."""

    def __init__(self, child: asyncio.subprocess.Process) -> None:
        self._child = child
        self._began = time.perf_counter()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._child.pid

    async def says(self, text: str, *, within: float = 180.0) -> float:
        """Wait for a line that holds `text`; return the seconds since the command began."""
        assert self._child.stdout is not None
        said: list[str] = []
        async with asyncio.timeout(within):
            async for line in self._child.stdout:
                said.append(line.decode("utf-8", "replace"))
                if text in said[-1]:
                    return time.perf_counter() - self._began
        raise RankstreamError(f"`rankstream up` ended without saying {text!r}: {''.join(said[-5:])}")

    async def ends(self, *, within: float = 60.0) -> float:
        """Wait for the end of the command; return the seconds since it began."""
        assert self._child.stdout is not None
        async with asyncio.timeout(within):
            await self._child.stdout.read()
            await self._child.wait()
        return time.perf_counter() - self._began


@asynccontextmanager
async def up(folder: Path, *arguments: str) -> AsyncIterator[Up]:
    """Run `rankstream up` with its data in `folder`; stop it at the end of the block."""
    environment = {name: value for name, value in os.environ.items() if name not in _GIVEN}
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "streams.cli.main", "up", *arguments),
        env={**environment, settings.DATA_DIR: str(folder), "PYTHONUNBUFFERED": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield Up(child)
    finally:
        if child.returncode is None:
            child.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(child.communicate(), STOP_SECONDS)
            except TimeoutError:
                child.kill()
                await child.wait()
