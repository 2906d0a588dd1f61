"""The ways in for callers, each as tests/tenants.py needs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client

from schemas import codec
from schemas.documents import DocKey, DocumentChange, DocumentStatus
from schemas.replies import QueryReply
from streams.adapters import postgres
from streams.adapters.passages import PostgresPassages
from streams.adapters.postgres_generations import PostgresGenerations
from tests.gateway import Front, serving
from tests.pipeline import Pipeline
from tests.tenants import Ask, Door, Said


class KafkaDoor:
    """The Python client; a document is read as `rankstream show` does."""

    def __init__(self, pipeline: Pipeline, pool: postgres.Pool) -> None:
        self._client, self._pool = pipeline.client, pool

    async def publish(self, change: DocumentChange) -> DocumentStatus | None:
        return await self._client.publish(change, wait=True, timeout=60)

    async def ask(self, tenant: str, ask: Ask, text: str, filters: Mapping[str, Any]) -> Said:
        options = {"agent": ask.agent, "profile": ask.profile, "explain": ask.explain, "filters": filters}
        replies = [each async for each in self._client.ask_stream(text, tenant=tenant, timeout=20, **options)]
        return Said(text="\n".join(codec.encode(reply).decode() for reply in replies), counts=counted(replies[-1]))

    async def read(self, tenant: str, source: str, doc_id: str) -> Said:
        live = await PostgresGenerations(pool=self._pool).live()
        key = DocKey(tenant=tenant, source=source, doc_id=doc_id)
        views = await PostgresPassages(pool=self._pool).describe(key, live.id)
        return Said(text=repr(views), counts={"versions": len(views)})

    async def held(self, tenant: str) -> int | None:
        counts = await PostgresGenerations(pool=self._pool).counts("g1")
        return next((each.documents for each in counts if each.tenant == tenant), 0)


@asynccontextmanager
async def kafka(pipeline: Pipeline) -> AsyncIterator[KafkaDoor]:
    """Open the door of the Python client."""
    pool = await postgres.open_pool(pipeline.stack.endpoints.postgres, size=2)
    try:
        yield KafkaDoor(pipeline, pool)
    finally:
        await pool.close()


def counted(reply: QueryReply) -> dict[str, int]:
    """Return the numbers of a reply that tell of what there is."""
    legs = {leg: report.candidates for leg, report in reply.legs.items()}
    facts = len(reply.summary.facts) if reply.summary else 0
    return legs | {
        "passages": len(reply.passages),
        "pinned": len(reply.pinned),
        "dropped": len(reply.dropped),
        "facts": facts,
    }


class HttpDoor:
    """The gateway over HTTP, with a key for each tenant; it also asks as others, which must be refused."""

    def __init__(self, front: Front, opened: AsyncExitStack) -> None:
        self._front, self._opened = front, opened
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._opening = asyncio.Lock()

    async def as_tenant(self, tenant: str) -> httpx.AsyncClient:
        async with self._opening:
            if tenant not in self._clients:
                client = self._front.asking(await self._front.key(tenant))
                self._clients[tenant] = await self._opened.enter_async_context(client)
            return self._clients[tenant]

    async def publish(self, change: DocumentChange) -> DocumentStatus | None:
        http, path = await self.as_tenant(change.tenant), f"/v1/documents/{change.source}/{change.doc_id}"
        if change.op == "delete":
            done = await http.delete(f"{path}?wait=searchable", headers={"Document-Version": str(change.version)})
        else:
            names = ("version", "kind", "title", "content", "question", "answer", "uri", "agents", "pinned", "tags")
            body = {name: getattr(change, name) for name in (*names, "metadata")}
            done = await http.put(f"{path}?wait=searchable", json=body)
        assert done.status_code == 200, done.text
        said = done.json()
        key = {"tenant": change.tenant, "source": said["source"], "doc_id": said["doc_id"]}
        return DocumentStatus(**key, version=said["version"], status=said["status"], generation="")

    async def ask(self, tenant: str, ask: Ask, text: str, filters: Mapping[str, Any]) -> Said:
        http = await self.as_tenant(tenant)
        question = {"text": text, "profile": ask.profile, "explain": ask.explain, "filters": filters, "timeout": 20.0}
        if ask.agent is not None:
            question["agent"] = ask.agent
        done = await http.post("/v1/query", json=question)
        assert done.status_code == 200, done.text
        stolen = await http.post("/v1/query", json={**question, "tenant": "somebody-else"})
        assert stolen.status_code == 403, stolen.text
        return Said(text=done.text, counts=counted(codec.decode(done.content, QueryReply)))

    async def read(self, tenant: str, source: str, doc_id: str) -> Said:
        done = await (await self.as_tenant(tenant)).get(f"/v1/documents/{source}/{doc_id}")
        return Said(text=done.text, counts={"documents": int(done.status_code == 200)})

    async def held(self, tenant: str) -> int | None:
        status = (await (await self.as_tenant(tenant)).get("/v1/status")).json()
        assert status["tenant"] == tenant
        return int(status["documents"])


class McpDoor:
    """An agent's tools over HTTP, with a key for each tenant; documents come in by the client."""

    def __init__(self, front: Front, pipeline: Pipeline) -> None:
        self._front, self._pipeline = front, pipeline
        self._keys: dict[str, str] = {}

    @asynccontextmanager
    async def session(self, tenant: str) -> AsyncIterator[mcp.Client]:
        if tenant not in self._keys:
            self._keys[tenant] = await self._front.key(tenant, "read")
        headers = {"authorization": f"Bearer {self._keys[tenant]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=20) as http,
            mcp.Client(streamable_http_client(f"{self._front.url}/mcp", http_client=http)) as client,
        ):
            yield client

    async def publish(self, change: DocumentChange) -> DocumentStatus | None:
        return await self._pipeline.client.publish(change, wait=True, timeout=60)

    async def ask(self, tenant: str, ask: Ask, text: str, filters: Mapping[str, Any]) -> Said:
        arguments: dict[str, Any] = {"query": text, "profile": ask.profile, "agent": ask.agent or ""}
        arguments |= {"tags": filters["tags"]} if "tags" in filters else {}
        if "directory" in filters:
            arguments["directory"] = f"help/{filters['directory']}"
        if "sources" in filters:
            arguments["source"] = filters["sources"][0]
        return await self._called(tenant, "search", arguments)

    async def read(self, tenant: str, source: str, doc_id: str) -> Said:
        return await self._called(tenant, "read_document", {"path": f"{source}/{doc_id}"})

    async def held(self, tenant: str) -> int | None:
        return None

    async def _called(self, tenant: str, tool: str, arguments: dict[str, Any]) -> Said:
        async with self.session(tenant) as client:
            result = await client.call_tool(tool, arguments)
        text = "\n".join(each.text for each in result.content if each.type == "text")
        return Said(text=text, counts={"passages": text.count("· id ")})


@asynccontextmanager
async def http(pipeline: Pipeline) -> AsyncIterator[HttpDoor]:
    """Open a gateway."""
    async with serving(pipeline.settings) as front, AsyncExitStack() as opened:
        yield HttpDoor(front, opened)


@asynccontextmanager
async def agents(pipeline: Pipeline) -> AsyncIterator[McpDoor]:
    """Open a gateway for agents."""
    async with serving(pipeline.settings) as front:
        yield McpDoor(front, pipeline)


DOORS: dict[str, Callable[[Pipeline], AbstractAsyncContextManager[Door]]] = {
    "kafka": kafka,
    "http": http,
    "mcp": agents,
}
