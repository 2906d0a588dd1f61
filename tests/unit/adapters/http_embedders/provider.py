"""A provider on loopback that answers as it is told, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Answer = Callable[[web.Request, Any], Any]


def vector(text: str) -> list[float]:
    """A vector of four numbers that is not of unit length, and tells texts apart."""
    return [3.0, float(len(text)), float(sum(map(ord, text)) % 97), 1.0]


def rows(body: Any) -> Any:
    """What OpenAI answers, in another order than asked."""
    data = [{"object": "embedding", "index": n, "embedding": vector(t)} for n, t in enumerate(body["input"])]
    return {"object": "list", "data": data[::-1], "usage": {"total_tokens": 1}}


def status(code: int, text: str = "", **headers: str) -> Answer:
    return lambda *_: web.Response(status=code, text=text, headers=headers)


def text(content: str) -> Answer:
    return lambda *_: web.Response(text=content)


def changed(change: Callable[[Any], Any]) -> Answer:
    """OpenAI's answer with something changed."""
    return lambda _, body: web.json_response(text=json.dumps(change(rows(body))))


async def reset(request: web.Request, _: Any) -> web.Response:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def slow(request: web.Request, body: Any) -> web.StreamResponse:
    """Headers at once, then a body that does not come to its end."""
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b'{"data": [')
    await asyncio.sleep(30.0)
    return response


@dataclass
class Provider:
    url: str = ""
    answers: list[Answer] = field(default_factory=list)  # of the next requests; then what is right
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)  # path, headers, body
    right: Answer = lambda _, body: web.json_response(rows(body))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        self.asked.append((request.path, dict(request.headers), body))
        answer = (self.answers.pop(0) if self.answers else self.right)(request, body)
        found: web.StreamResponse = await answer if asyncio.iscoroutine(answer) else answer
        return found


@asynccontextmanager
async def serving() -> AsyncIterator[Provider]:
    provider = Provider()
    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/{path:.*}", provider.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server = site._server
    provider.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"  # type: ignore[union-attr]
    yield provider
    await runner.cleanup()
