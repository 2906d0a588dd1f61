"""The process that serves Qdrant's REST API from an embedded engine."""

import os
import sys
from pathlib import Path

from streams.embedded.processes import HOST, accepts, folder_at, spawn
from streams.embedded.server import Server

ROOT = Path(__file__).resolve().parents[2]


async def start(folder: Path, *, port: int, log: Path) -> Server:
    """Start the server on loopback over the collections in the folder."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    child = spawn(
        "qdrant",
        [
            sys.executable,
            "-P",
            "-m",
            "streams.embedded.qdrant_server",
            "--port",
            str(port),
            "--data",
            folder_at(folder),
        ],
        log=log,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    try:
        # It listens only once every collection is loaded.
        await child.ready(lambda: accepts(port), within=60)
    except BaseException:
        await child.stop(1)
        raise
    return Server(url=f"http://{HOST}:{port}", child=child)
