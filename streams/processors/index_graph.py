"""index-graph: writes entities and relations; no version waits for it, so it says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.graph import GraphBatch
from streams.ports import Graph
from streams.processor import Processor
from streams.wire import Outgoing
from topics import catalogue


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `index-graph` needs."""

    graph: Graph


async def handle(batch: GraphBatch, deps: Deps) -> Sequence[Outgoing]:
    """Write what the chunks of a part say, as far as any version still has them."""
    await deps.graph.write(batch)
    return ()


INDEX_GRAPH = Processor(
    name="index-graph",
    summary="writes entities and relations to Postgres",
    source=catalogue.ENTITIES,
    sinks=(),
    handle=handle,
    in_flight=4,
)
