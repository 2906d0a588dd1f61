"""rankstream mcp: the tools of AI agents over the Model Context Protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import click

from streams import settings
from streams.cli import connect
from streams.errors import ConfigurationError, Unauthenticated

if TYPE_CHECKING:
    from streams.domain.api_keys import Principal
    from streams.gateways.agent_tools import AgentTools


@click.command("mcp", short_help="Serve an AI agent (MCP) on standard input and output.")
@click.option("--tenant", metavar="NAME", help="Without a key: whose documents are searched.")
@click.option(
    "--agent", metavar="NAME", help="With --tenant: the assistant; its restricted documents are seen as well."
)
def command(*, tenant: str | None, agent: str | None) -> None:
    """Serve the tools `search` and `read_document` to the agent that started this command.

    The tenant is an argument, or comes from the API key in RANKSTREAM_API_KEY. Over HTTP, `rankstream run gateway`
    serves the same tools at /mcp, behind API keys.
    """
    found = settings.load()
    key = settings.secret(settings.API_KEY)
    if key and (tenant or agent):
        raise ConfigurationError(f"{settings.API_KEY} is set, and says the tenant; leave out --tenant and --agent")
    if not key and not tenant:
        raise click.UsageError(f"--tenant is missing: whose documents are to be searched? (or set {settings.API_KEY})")
    connect.check_names(tenant, (agent,) if agent else ())
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
            local = api_keys.Principal(
                tenant=tenant or "",
                agents=(agent,) if agent else (),
                roles=frozenset({"read"}),
                key_id="local",
            )

            async def who() -> Principal:
                return local

        await mcp_server.serve_stdio(await opened.enter_async_context(tools(found)), who)


@asynccontextmanager
async def tools(found: settings.Settings) -> AsyncIterator[AgentTools]:
    """Open what the tools need: a client on the topics, and the database for whole documents."""
    from streams.adapters.cached_generations import CachedGenerations  # noqa: PLC0415
    from streams.adapters.live_documents import PostgresDocuments  # noqa: PLC0415
    from streams.adapters.passages import PostgresPassages  # noqa: PLC0415
    from streams.adapters.postgres_generations import PostgresGenerations  # noqa: PLC0415
    from streams.cli import stored  # noqa: PLC0415
    from streams.gateways.agent_tools import AgentTools  # noqa: PLC0415

    async with connect.client(found) as client, stored.database(found) as pool:
        generations = CachedGenerations(PostgresGenerations(pool=pool))
        yield AgentTools(
            client=client,
            documents=PostgresDocuments(pool=pool),
            passages=PostgresPassages(pool=pool),
            generations=generations,
        )
