"""A TCP proxy that breaks the connections through it: pass, latency, reset, black hole."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from typing import Literal

Mode = Literal["pass", "latency", "reset", "black hole"]
HOST = "127.0.0.1"
PIECE = 65_536  # bytes


class Proxy:
    """Stands before one server. `mode` holds for open and new connections alike."""

    def __init__(self, name: str, port: int, *, seed: int = 0) -> None:
        self.name = name
        self.mode: Mode = "pass"
        self.delay = 0.0  # seconds, in the mode latency
        self.jitter = 0.0
        self.passed = 0  # pieces
        self._to = port
        self._rng = random.Random(seed)
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._gate = asyncio.Event()
        self._gate.set()
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        """Listen on a free port of loopback and return it."""
        self._server = await asyncio.start_server(self._serve, HOST, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Close everything."""
        if self._server is not None:
            self._server.close()
        self._gate.set()
        self._abort()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def set(self, mode: Mode, *, delay: float = 0.0, jitter: float = 0.0) -> None:
        """Break, or mend: bytes held in a black hole go on, as a network's repeats do."""
        self.mode, self.delay, self.jitter = mode, delay, jitter
        if mode == "black hole":
            self._gate.clear()
        else:
            self._gate.set()
        if mode == "reset":
            self._abort()

    def _abort(self) -> None:
        for writer in list(self._open):
            with contextlib.suppress(OSError):
                end = writer.get_extra_info("socket")
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._open.add(writer)
        there: asyncio.StreamWriter | None = None
        try:
            if self.mode == "reset":
                self._abort()
                return
            back, there = await asyncio.open_connection(HOST, self._to)
            self._open.add(there)
            # Whoever hangs up first ends both ways.
            ways = [asyncio.ensure_future(self._pump(reader, there, slow=False))]
            ways.append(asyncio.ensure_future(self._pump(back, writer, slow=True)))
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        except OSError:
            pass
        finally:
            for each in (writer, there):
                if each is not None:
                    self._open.discard(each)
                    each.close()
            self._tasks.discard(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, slow: bool) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while piece := await reader.read(PIECE):
                await self._gate.wait()
                if slow and self.mode == "latency":
                    await asyncio.sleep(max(0.0, self.delay + self._rng.uniform(-self.jitter, self.jitter)))
                self.passed += 1
                writer.write(piece)
                await writer.drain()
