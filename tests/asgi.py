"""A client of an ASGI application in the same process, which sends a body piece by piece, as slowly as it likes."""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any, Self

from starlette.types import ASGIApp, Message


class Exchange:
    """One request and what is answered. At the end of the block the client has left."""

    def __init__(self, app: ASGIApp, method: str, path: str, key: str) -> None:
        path, _, query = path.partition("?")
        headers = {"host": "x", "authorization": f"Bearer {key}", "transfer-encoding": "chunked"}
        headers |= {"accept": "application/json, text/event-stream"} if path == "/mcp" else {}
        headers |= {"content-type": "application/x-ndjson"} if path == "/v1/documents" else {}
        self._app = app
        self._scope = {
            **{"type": "http", "method": method, "path": path, "raw_path": path.encode(), "root_path": ""},
            **{"query_string": query.encode(), "scheme": "http", "http_version": "1.1", "server": ("x", 80)},
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        self._incoming: asyncio.Queue[Message] = asyncio.Queue()
        self._answering: asyncio.Task[None] | None = None
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""

    async def __aenter__(self) -> Self:
        self._answering = asyncio.create_task(self._answer())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, _: object, __: TracebackType | None) -> None:
        self._incoming.put_nowait({"type": "http.disconnect"})
        assert self._answering is not None
        if kind is not None:
            self._answering.cancel()
        await asyncio.wait([self._answering], timeout=10)
        assert self._answering.done()

    async def give(self, data: bytes, *, more: bool = True) -> None:
        """Send a piece of the body, and let it be read."""
        self._incoming.put_nowait({"type": "http.request", "body": data, "more_body": more})
        turns = 0
        while turns < 20:
            await asyncio.sleep(0)
            turns += self._incoming.empty() or self.ended

    @property
    def ended(self) -> bool:
        return self._answering is not None and self._answering.done()

    async def end(self) -> int:
        """Wait for the end of the answer, and return its status."""
        assert self._answering is not None
        async with asyncio.timeout(10):
            await asyncio.shield(self._answering)
        return self.status

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.body.splitlines()]

    async def _answer(self) -> None:
        await self._app(self._scope, self._incoming.get, self._send)

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message.get("body", b"")
