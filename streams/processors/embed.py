"""embed: turns the new and changed chunks of a version into dense and sparse vectors."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.chunks import Chunk, ChunkBatch, ChunkVectors, SparseVector, VectorBatch
from streams.domain import bm25, normalise
from streams.domain.generation import Generation
from streams.errors import Invalid
from streams.ports import Embedder
from streams.processor import Processor
from streams.processors import parts
from streams.wire import Outgoing
from topics import catalogue


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `embed` needs."""

    embedder: Embedder
    generation: Generation


async def handle(batch: ChunkBatch, deps: Deps) -> Sequence[Outgoing]:
    """Embed what must be; a part of which everything is unchanged goes on without vectors, for its receipt."""
    chunks = [chunk for chunk in batch.chunks if chunk.embed]
    if deps.embedder.dimension != deps.generation.dimension:
        raise Invalid(
            f"{deps.embedder.model} gives {deps.embedder.dimension} dimensions, the generation has "
            f"{deps.generation.dimension}",
            field="dimension",
        )
    # A short page's only section often reads like the page itself: equal texts are embedded once.
    texts = list(dict.fromkeys(normalise.for_model(chunk.text) for chunk in chunks))
    dense = dict(zip(texts, await deps.embedder.embed_passages(texts), strict=True)) if texts else {}
    vectors = tuple(
        ChunkVectors(
            id=chunk.id,
            level=chunk.level,
            dense=base64.b64encode(dense[normalise.for_model(chunk.text)].astype("<f4").tobytes()).decode("ascii"),
            sparse=_sparse(chunk, batch.language, deps.generation.average_length),
        )
        for chunk in chunks
    )
    message = VectorBatch(
        **parts.fields(batch),
        model=deps.embedder.model,
        dimension=deps.embedder.dimension,
        vectors=vectors,
    )
    return [Outgoing(topic=catalogue.VECTORS, key=parts.record_key(batch), message=message)]


def _sparse(chunk: Chunk, language: str, average_length: float) -> SparseVector | None:
    return bm25.passage_vector(chunk.text, language, average_length) if chunk.level == "parent" else None


EMBED = Processor(
    name="embed",
    summary="dense and sparse vectors of new and changed chunks",
    source=catalogue.CHUNKS,
    sinks=(catalogue.VECTORS, catalogue.RECEIPTS),
    handle=handle,
    failed=parts.failed_as("vectors"),
    keyed=False,
    in_flight=16,
    time_limit=300.0,
)
