"""The routes of the gateway, and what every request goes through."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streams.errors import RankstreamError
from streams.gateways.client import Client
from streams.gateways.http import memory, openapi, problems
from streams.gateways.http.bulk import Bulk
from streams.gateways.http.contracts import Health
from streams.gateways.http.documents import Documents, Versions, json
from streams.gateways.http.door import Door
from streams.gateways.http.memory import Held, Memory
from streams.gateways.http.query import Query
from streams.gateways.http.standing import Standing
from streams.gateways.keys import Keys
from streams.ports import DocumentReader, Generations
from streams.settings import Settings

log = logging.getLogger(__name__)

MCP = "/mcp"
LINGER = 2.0  # seconds in which what still comes of an answered body is thrown away, so that its sender can read


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What the gateway needs."""

    settings: Settings
    client: Client
    keys: Keys
    documents: DocumentReader
    generations: Generations
    unready: Callable[[], tuple[str, ...]]  # why no request should come here now
    mcp: ASGIApp | None = None  # for agents; none: they are not served


def build(deps: Deps) -> ASGIApp:
    """Return the gateway as an ASGI application."""
    door, versions = Door(deps.keys, rate=deps.settings.http_rate), Versions()
    documents = Documents(deps.client, door, deps.documents, deps.generations, versions)
    described = msgspec.json.encode(openapi.document())

    async def livez(_: Request) -> Response:
        return json(Health(ok=True))

    async def readyz(_: Request) -> Response:
        found = deps.unready()
        return json(Health(ok=not found, problems=found), 503 if found else 200)

    async def description(_: Request) -> Response:
        return Response(described, media_type="application/json")

    standing = Standing(deps.settings, door, deps.documents, deps.generations)
    one = "/v1/documents/{name:path}"
    routes = [
        Route("/v1/query", Query(deps.client, door).__call__, methods=["POST"]),
        Route("/v1/documents", Bulk(deps.client, door, versions).__call__, methods=["POST"]),
        Route(one, _by_method(PUT=documents.put, DELETE=documents.delete, GET=documents.get), methods=_METHODS),
        Route("/v1/status", standing.__call__),
        Route("/openapi.json", description),
        Route("/livez", livez),
        Route("/readyz", readyz),
    ]
    if deps.mcp is not None:
        routes.append(Route(MCP, deps.mcp, methods=["POST", "GET", "DELETE"]))
    handlers = {HTTPException: _of_starlette, RankstreamError: _of_ours, ClientDisconnect: _nobody}
    app = Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]
    app.router.redirect_slashes = False
    return _Outside(app)


_METHODS = ["PUT", "DELETE", "GET"]


def _by_method(**handlers: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return one handler for several methods: a route of its own each would name only its own in `Allow`."""

    async def handle(request: Request) -> Response:
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return handle


async def _of_starlette(_: Request, error: HTTPException) -> Response:
    found = problems.problem(error.status_code, error.detail)
    return problems.answer(found, headers=dict(error.headers or {}))


async def _of_ours(_: Request, error: RankstreamError) -> Response:
    found = problems.of_error(error)
    if found.status >= 500:
        log.warning("answered with %d: %s", found.status, error)
    return problems.respond(error)


async def _nobody(_: Request, __: ClientDisconnect) -> Response:
    return Response(status_code=400)  # nobody reads it


class _Outside:
    """Hands paths on as they were sent, ends what is left of a request that is refused, and frees what it held."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._memory = Memory()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        # Decoded, an id that is not UTF-8 would become another one, and one with a line break would match no route.
        scope["path"] = scope["raw_path"].decode("latin-1")
        exchange = _Exchange(scope, receive, send)
        scope[memory.HELD] = held = Held(self._memory)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except Exception as error:
            log.exception("%s %s broke", scope["method"], scope["path"].partition("/v1/documents/")[0])
            if not exchange.started:
                await problems.respond(error)(scope, exchange.receive, exchange.send)
        finally:
            held.end()


class _Exchange:
    """One request and its response. Who is answered while still sending can read it, and is then cut off."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        names = {name for name, _ in scope["headers"]}
        self._coming = bool(names & {b"content-length", b"transfer-encoding"})  # something of a body
        self._early = False  # the answer began before the body had ended
        self.started = False

    async def receive(self) -> Message:
        """Pass on what comes."""
        message = await self._receive()
        if not message.get("more_body", False):
            self._coming = False
        return message

    async def send(self, message: Message) -> None:
        """Pass on what goes."""
        if message["type"] == "http.response.start":
            self.started = True
            self._early = self._coming
            if self._early:
                headers = [(name, value) for name, value in message["headers"] if name != b"connection"]
                message = {**message, "headers": [*headers, (b"connection", b"close")]}
        elif self._early and self._coming and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER):
                    while self._coming:
                        await self.receive()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)
