"""A provider of embeddings that costs nothing: a hashed bag of words, over OpenAI's protocol.

It stands for a model in the load, so that the machine's time goes into delivery; processors reach it by the code that
reaches any provider.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import re

import numpy as np
from aiohttp import web

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
    """The server; `delay` makes it slow, seconds."""

    def __init__(self) -> None:
        self.delay = 0.0
        self.url = ""
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/embeddings", self._embed)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/v1"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _embed(self, request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        if self.delay:
            await asyncio.sleep(self.delay)
        data = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
        return web.json_response({"data": data})
