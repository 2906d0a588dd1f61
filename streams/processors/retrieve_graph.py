"""retrieve-graph: passages and facts around the entities that a question names, also over one bridge."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from schemas.queries import PreparedQuery
from streams.domain import extraction, scope
from streams.ports import Graph
from streams.processors.legs import Found, retrieval


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-graph` needs."""

    graph: Graph


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the passages that speak of the question's entities or of what these lead to; skipped if it names none."""
    keys = await asyncio.to_thread(extraction.of_question, query.text, query.language)
    if not keys:
        return Found(skipped="no entity in the question")
    found = await deps.graph.search(scope.of(query), keys, query.candidates)
    return Found(found.hits, facts=found.facts)


RETRIEVE_GRAPH = retrieval(
    "graph", summary="passages and facts around named things, over one bridge", search=search, phrased=False
)
