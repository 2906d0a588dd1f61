"""A provider of embeddings that costs nothing: a hashed bag of words, over OpenAI's protocol.

It stands for a model in the load, so that the machine's time goes into delivery; processors reach it by the code that
reaches any provider.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
from pathlib import Path

import numpy as np
from aiohttp import web

from streams.embedded.processes import HOST, Child, accepts, free_port, spawn

ROOT = Path(__file__).parents[2]
NAME = "bag-of-words"
DIMENSION = 64
CONFIG = """
[embedders.{name}]
kind = "openai"
model = "{name}"
dimension = {dimension}
url = "{url}"
key_env = "{key}"
batch = 64
query_timeout = 3.0
"""


@functools.lru_cache(maxsize=50_000)
def _word(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    direction: np.ndarray = np.random.default_rng(seed).standard_normal(DIMENSION)
    return direction / np.linalg.norm(direction)


def vector(text: str) -> list[float]:
    """Return the unit vector of a text: the sum of its words' directions."""
    total = sum((_word(word) for word in re.findall(r"[a-z0-9-]+", text.lower())), np.full(DIMENSION, 1e-3))
    row: list[float] = (total / np.linalg.norm(total)).tolist()
    return row


class Provider:
    """The server, in a process of its own: the load must not keep questions waiting for their vectors."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://{HOST}:{self.port}/v1"
        self._child: Child | None = None

    async def start(self, log: Path) -> None:
        """Return when it listens."""
        command = [sys.executable, "-m", "tests.faults.embedder", str(self.port)]
        self._child = spawn("embedder", command, log=log, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
        await self._child.ready(lambda: accepts(self.port), within=60)

    async def stop(self) -> None:
        if self._child is not None:
            await self._child.stop(3.0)


async def _embed(request: web.Request) -> web.Response:
    texts = (await request.json())["input"]
    data = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    return web.json_response({"data": data})


if __name__ == "__main__":
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/embeddings", _embed)
    web.run_app(app, host=HOST, port=int(sys.argv[1]), print=None, access_log=None)
