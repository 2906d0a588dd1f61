"""index-vectors: writes the vectors of a part under its document's lock, then says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.chunks import VectorBatch
from streams.ports import VectorIndex, VersionStore
from streams.processor import STORES_LIMIT, Processor
from streams.processors import parts
from streams.wire import Outgoing
from topics import catalogue


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `index-vectors` needs."""

    versions: VersionStore
    vectors: VectorIndex


async def handle(batch: VectorBatch, deps: Deps) -> Sequence[Outgoing]:
    """Write a part's vectors, unless its version was superseded: nobody waits for it then."""
    async with deps.versions.hold(batch.key, batch.version, batch.generation) as wanted:
        if not wanted:
            return ()
        if batch.vectors:
            await deps.vectors.upsert(batch)
    return [parts.receipt(batch, "vectors")]


INDEX_VECTORS = Processor(
    name="index-vectors",
    summary="writes vectors to Qdrant",
    source=catalogue.VECTORS,
    sinks=(catalogue.RECEIPTS,),
    handle=handle,
    failed=parts.failed_as("vectors"),
    time_limit=STORES_LIMIT,
    in_flight=4,  # each holds a database connection while Qdrant writes
)
