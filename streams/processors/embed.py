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
    also: tuple[Embedder, ...] = ()  # of the generation's further models


async def handle(batch: ChunkBatch, deps: Deps) -> Sequence[Outgoing]:
    """Embed what must be; a part of which everything is unchanged goes on without vectors, for its receipt."""
    chunks = [chunk for chunk in batch.chunks if chunk.embed]
    _check((deps.embedder, *deps.also), deps.generation)
    # A short page's only section often reads like the page itself: equal texts are embedded once.
    texts = list(dict.fromkeys(normalise.for_model(chunk.text) for chunk in chunks))
    main = await _encoded(deps.embedder, texts)
    further = {embedder.model: await _encoded(embedder, texts) for embedder in deps.also}
    vectors = tuple(
        ChunkVectors(
            id=chunk.id,
            level=chunk.level,
            dense=main[normalise.for_model(chunk.text)],
            sparse=_sparse(chunk, batch.language, deps.generation.average_length),
            also={name: encoded[normalise.for_model(chunk.text)] for name, encoded in further.items()},
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


def _check(embedders: Sequence[Embedder], generation: Generation) -> None:
    """Raise Invalid unless these are the generation's models: a wrong vector must not be written, none be missing."""
    given = {embedder.model: embedder.dimension for embedder in embedders}
    for model in generation.models:
        if given.get(model.name) != model.dimension:
            gives = f"gives {given[model.name]} dimensions" if model.name in given else "is not loaded"
            raise Invalid(f"{model.name} {gives}, generation {generation.id} has {model}", field="dimension")


async def _encoded(embedder: Embedder, texts: Sequence[str]) -> dict[str, str]:
    """Return the vector of each text as base64 of little-endian float32."""
    if not texts:
        return {}
    rows = await embedder.embed_passages(texts)
    if rows.shape != (len(texts), embedder.dimension):
        raise Invalid(f"{embedder.model} gave vectors of shape {rows.shape} for {len(texts)} texts", field="dimension")
    return {
        text: base64.b64encode(row.astype("<f4").tobytes()).decode("ascii")
        for text, row in zip(texts, rows, strict=True)
    }


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
    time_limit=3_600.0,  # a large model on a CPU takes minutes; who hosts one has time limits of its own
)
