"""mcp: an agent's `search` call over MCP, on stdio and HTTP, against the same question of a Kafka client."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from bench import beside, corpus, system
from bench.figures import Figure, Promise, median, spread
from streams.errors import RankstreamError
from streams.settings import Settings

CHUNKS = 200
WARM_UP = 10
QUESTIONS = 100

Ask = Callable[[str], Awaitable[float]]  # asks, and returns the milliseconds that the answer took by its own account


async def measure() -> list[Figure]:
    """Ask in turn over Kafka, over MCP on stdio and over MCP on HTTP; the servers are processes of their own."""
    asked = corpus.questions()
    async with AsyncExitStack() as opened:
        running = await opened.enter_async_context(system.running())
        await running.fill(CHUNKS)
        stdio = StdioServerParameters(
            command=sys.executable,
            args=["-m", "streams.cli.main", "mcp", "--tenant", corpus.TENANT],
            env=_environment(running.settings),
        )
        on_stdio = await opened.enter_async_context(Client(stdio))
        over_http = await opened.enter_async_context(_over_http(running.settings))

        async def kafka(text: str) -> float:
            reply = await running.client.ask(text, tenant=corpus.TENANT)
            if reply.error is not None:
                raise RankstreamError(reply.error.message)
            return reply.milliseconds.total

        ways: dict[str, Ask] = {"Kafka client": kafka, "MCP, stdio": _search(on_stdio), "MCP, HTTP": _search(over_http)}
        took: dict[str, list[float]] = {name: [] for name in ways}
        beside: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(WARM_UP + QUESTIONS):
            for position in range(len(ways)):
                name = list(ways)[(number + position) % len(ways)]
                began = time.perf_counter()
                its_own = await ways[name](next(asked))
                if number >= WARM_UP:
                    took[name].append((time.perf_counter() - began) * 1000)
                    beside[name].append(took[name][-1] - its_own)
    figures = [figure for name in ways for figure in spread(f"a question, {name}", took[name])]
    # Searches differ from each other by more than MCP adds: their own milliseconds are taken out of both sides.
    for name in ("MCP, stdio", "MCP, HTTP"):
        figures += [
            Figure(
                name=f"{name}, above the Kafka client",
                value=median(beside[name]) - median(beside["Kafka client"]),
                unit="ms",
                promise=Promise(bound=10),
                note="p50 beside the search",
            ),
            Figure(
                name=f"{name}, above it, whole",
                value=median([mine - its for mine, its in zip(took[name], took["Kafka client"], strict=True)]),
                unit="ms",
                note="p50 of pairs",
            ),
        ]
    return figures


def _search(client: Client) -> Ask:
    async def ask(text: str) -> float:
        result = await client.call_tool("search", {"query": text})
        if result.is_error:
            raise RankstreamError(str(result.content))
        said = re.search(r", (\d+) ms, cache", str(result.content))
        return float(said[1]) if said else 0.0

    return ask


@asynccontextmanager
async def _over_http(found: Settings) -> AsyncIterator[Client]:
    """Run a gateway and open a session with a key."""
    async with (
        beside.gateway(found) as at,
        httpx2.AsyncClient(headers={"authorization": f"Bearer {at.key}"}, timeout=20) as http,
        Client(streamable_http_client(f"http://{at.address}/mcp", http_client=http)) as client,
    ):
        yield client


def _environment(found: Settings) -> dict[str, str]:
    return {
        **os.environ,
        "RANKSTREAM_DATA": str(found.data_dir),
        "KAFKA_BOOTSTRAP_SERVERS": found.kafka or "",
        "DATABASE_URL": found.postgres or "",
    }
