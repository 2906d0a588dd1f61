"""The MCP server: the two tools of an agent over the Model Context Protocol, on stdio and on streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from streams.domain.api_keys import Principal
from streams.errors import RankstreamError, Unauthenticated
from streams.gateways import agent_tools
from streams.gateways.agent_tools import AgentTools, ReadArguments, SearchArguments
from streams.gateways.http import bodies, problems

log = logging.getLogger(__name__)

LARGEST_REQUEST = 256 * 1024  # bytes of a request's body: more than the longest question in any script
PRINCIPAL = "rankstream.principal"  # where a request's scope says who asks

Context = ServerRequestContext[Any, Any]
Who = Callable[[Context], Awaitable[Principal]]
Admit = Callable[[Request], Awaitable[Principal]]

_READS = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_TOOLS = (
    types.Tool(
        name="search",
        title="Search the organization's documents",
        description="Find passages that answer a question, by meaning and by exact words; best first, with paths.",
        input_schema=agent_tools.schema(SearchArguments),
        annotations=_READS,
    ),
    types.Tool(
        name="read_document",
        title="Read a document",
        description="Read a document that a search found, by its path or a passage's id; whole or a range of it.",
        input_schema=agent_tools.schema(ReadArguments),
        annotations=_READS,
    ),
)


def build(tools: AgentTools, who: Who) -> Server[Any]:
    """Return the server; `who` tells for each call whose it is, so that a revoked key ends with the next call."""
    calls: Mapping[str, Callable[[Principal, Mapping[str, Any]], Awaitable[str]]] = {
        "search": tools.search,
        "read_document": tools.read_document,
    }

    async def listed(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(_TOOLS))

    async def called(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        call = calls.get(params.name)
        if call is None:
            return _failed(f"there is no tool {params.name[:80]!r}; there are {', '.join(calls)}")
        try:
            said = await call(await who(context), params.arguments or {})
        except RankstreamError as error:
            return _failed(" ".join(str(error).split()) or type(error).__name__)
        except Exception:
            log.exception("%s failed", params.name)
            return _failed("it failed in a way that is our mistake; the server's log says more")
        return types.CallToolResult(content=[types.TextContent(type="text", text=said)])

    return Server("rankstream", instructions=agent_tools.INSTRUCTIONS, on_list_tools=listed, on_call_tool=called)


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)


async def serve_stdio(tools: AgentTools, who: Callable[[], Awaitable[Principal]]) -> None:
    """Serve one client on standard input and output, until it closes them."""

    async def asked(_: Context) -> Principal:
        return await who()

    server = build(tools, asked)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class McpDoor:
    """An ASGI application that serves MCP at whatever path it is put; `admit` says whose each request is.

    There are no sessions, so any instance takes any request, and a key that is revoked opens nothing any more. As no
    cookie opens it either, a foreign web page can do nothing here, whatever host it calls this one.
    """

    def __init__(self, tools: AgentTools, admit: Admit) -> None:
        self._admit = admit
        self._manager = StreamableHTTPSessionManager(
            build(tools, _of_request), json_response=True, stateless=True, max_request_body_size=LARGEST_REQUEST
        )
        self._ready, self._ending = asyncio.Event(), asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self._run(), name="MCP over HTTP")
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait([self._running, ready], return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._running.done():
            self._running.result()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ending.set()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        # In a task of its own: the manager must be closed by the task that opened it.
        async with self._manager.run():
            self._ready.set()
            await self._ending.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        try:
            principal = await self._admit(request)
            body = await bodies.whole(request, LARGEST_REQUEST)
        except RankstreamError as error:
            await problems.respond(error)(scope, receive, send)
            return
        await self._manager.handle_request({**scope, PRINCIPAL: principal}, _read(body, receive), send)


def _read(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, and then what `receive` gives."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


async def _of_request(context: Context) -> Principal:
    found: Principal | None = context.request.scope.get(PRINCIPAL) if context.request is not None else None
    if found is None:
        raise Unauthenticated("no key came with this request")
    return found
