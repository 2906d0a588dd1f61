"""rankstream mcp: the tools of AI agents over the Model Context Protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import click

from streams import settings
from streams.cli import connect, console
from streams.errors import ConfigurationError, Unauthenticated

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from streams.domain.api_keys import Principal
    from streams.gateways.agent_tools import AgentTools
    from streams.gateways.mcp_server import McpDoor

PATH = "/mcp"
SHUTDOWN = 5  # seconds that open requests may take once the process is told to stop


@click.command("mcp", short_help="Serve AI agents (MCP): on stdio, or over HTTP.")
@click.option("--tenant", metavar="NAME", help="On stdio without a key: whose documents are searched.")
@click.option(
    "--agent", metavar="NAME", help="With --tenant: the assistant; its restricted documents are seen as well."
)
@click.option("--http", metavar="HOST:PORT", help="Serve streamable HTTP at /mcp instead; every request needs a key.")
def command(*, tenant: str | None, agent: str | None, http: str | None) -> None:
    """Serve the tools `search` and `read_document`.

    On stdio the tenant is an argument, or comes from the API key in RANKSTREAM_API_KEY. With --http, each request's
    `Authorization: Bearer KEY` says whose documents are searched.
    """
    import asyncio  # noqa: PLC0415  the help must not wait

    found = settings.load()
    key = settings.secret(settings.API_KEY)
    if http is not None:
        if tenant or agent:
            raise click.UsageError("--http takes no --tenant and no --agent: they come from each request's key")
        asyncio.run(_http(found, *settings.address("--http", http)))
        return
    if key and (tenant or agent):
        raise ConfigurationError(f"{settings.API_KEY} is set, and says the tenant; leave out --tenant and --agent")
    if not key and not tenant:
        raise click.UsageError(f"--tenant is missing: whose documents are to be searched? (or set {settings.API_KEY})")
    asyncio.run(_stdio(found, tenant, agent, key))


async def _stdio(found: settings.Settings, tenant: str | None, agent: str | None, key: str) -> None:
    from streams.domain import api_keys  # noqa: PLC0415
    from streams.gateways import keys, mcp_server  # noqa: PLC0415

    async with AsyncExitStack() as opened:
        if key:
            doors = await opened.enter_async_context(keys.opened(found))

            async def who() -> Principal:
                return await doors.authenticate(f"Bearer {key}")

            try:
                await who()  # a wrong key is told before an agent depends on it
            except Unauthenticated as error:
                raise ConfigurationError(f"{settings.API_KEY}: {error}") from None
        else:
            agents = (agent,) if agent else ()
            api_keys.check_names(tenant or "", agents)
            local = api_keys.Principal(
                tenant=tenant or "",
                agents=agents,
                roles=frozenset({"read"}),
                key_id="local",
            )

            async def who() -> Principal:
                return local

        await mcp_server.serve_stdio(await opened.enter_async_context(tools(found)), who)


async def _http(found: settings.Settings, host: str, port: int) -> None:
    import uvicorn  # noqa: PLC0415

    from streams.gateways import keys, mcp_server  # noqa: PLC0415

    async with keys.opened(found) as doors, tools(found) as agent_tools:
        door = mcp_server.McpDoor(agent_tools, doors.authenticate)
        config = uvicorn.Config(
            application(door),
            host=host,
            port=port,
            lifespan="off",
            log_config=None,
            timeout_graceful_shutdown=SHUTDOWN,
        )
        async with door.running():
            console.note(f"serving MCP at http://{host}:{port}{PATH}")
            await uvicorn.Server(config).serve()


def application(door: McpDoor) -> Starlette:
    """Return the web application that has the door at its path, and nothing else."""
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    return Starlette(routes=[Route(PATH, endpoint=door)])


@asynccontextmanager
async def tools(found: settings.Settings) -> AsyncIterator[AgentTools]:
    """Open what the tools need: a client on the topics, and the database for whole documents."""
    from streams.adapters.cached_generations import CachedGenerations  # noqa: PLC0415
    from streams.adapters.passages import PostgresPassages  # noqa: PLC0415
    from streams.adapters.postgres_generations import PostgresGenerations  # noqa: PLC0415
    from streams.cli import stored  # noqa: PLC0415
    from streams.gateways.agent_tools import AgentTools  # noqa: PLC0415
    from streams.gateways.reading import DocumentReader  # noqa: PLC0415

    async with connect.client(found) as client, stored.database(found) as pool:
        generations = CachedGenerations(PostgresGenerations(pool=pool))
        documents = DocumentReader(passages=PostgresPassages(pool=pool), generations=generations)
        yield AgentTools(client=client, documents=documents, generations=generations)
