"""The ways in for callers, each as tests/tenants.py needs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from schemas import codec
from schemas.documents import DocKey, DocumentChange, DocumentStatus
from schemas.replies import QueryReply
from streams.adapters import postgres
from streams.adapters.passages import PostgresPassages
from streams.adapters.postgres_generations import PostgresGenerations
from tests.pipeline import Pipeline
from tests.tenants import Ask, Said


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


DOORS = {"kafka": kafka}
