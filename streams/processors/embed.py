"""embed: turns the new and changed chunks of a version into dense and sparse vectors."""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from schemas.chunks import Chunk, ChunkBatch, ChunkVectors, SparseVector, VectorBatch
from streams.domain import bm25, chunk_context, normalise
from streams.domain.generation import Generation
from streams.errors import Invalid, RankstreamError
from streams.ports import Embedder, Vector
from streams.processor import Processor
from streams.processors import parts
from streams.processors.asking import Asker
from streams.processors.reuse import Reuse
from streams.wire import Outgoing
from topics import catalogue

log = logging.getLogger(__name__)

CONTEXT_SECONDS = 240.0  # that a language model may take for a part; what is left is embedded as it is


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `embed` needs."""

    embedder: Embedder
    generation: Generation
    also: tuple[Embedder, ...] = ()  # of the generation's further models
    asker: Asker | None = None  # who says in which context a chunk stands; none: chunks are embedded as they are
    reuse: Reuse | None = None  # finds the vectors that other generations have; none: everything is embedded
    # What is needed for a part of another generation, by its id; it returns none for one that was dropped.
    other: Callable[[str], Awaitable[Deps | None]] | None = None


async def handle(batch: ChunkBatch, deps: Deps) -> Sequence[Outgoing]:
    """Embed what must be; a part of which everything is unchanged goes on without vectors, for its receipt."""
    if deps.other is not None and batch.generation != deps.generation.id:
        found = await deps.other(batch.generation)
        if found is None:
            return ()  # nobody waits for it any more
        deps = found
    chunks = [chunk for chunk in batch.chunks if chunk.embed]
    _check((deps.embedder, *deps.also), deps.generation)
    # A short page's only section often reads like the page itself: equal texts are embedded once.
    whole = await _in_context(batch, chunks, deps.asker)
    texts = list(dict.fromkeys(normalise.for_model(whole[chunk.id]) for chunk in chunks))
    known = await _known(batch, chunks, deps)
    main = await _encoded(deps.embedder, texts, known)
    further = {embedder.model: await _encoded(embedder, texts, known) for embedder in deps.also}
    vectors = tuple(
        ChunkVectors(
            id=chunk.id,
            level=chunk.level,
            dense=main[normalise.for_model(whole[chunk.id])],
            sparse=_sparse(chunk, whole[chunk.id], batch.language, deps.generation.average_length),
            also={name: encoded[normalise.for_model(whole[chunk.id])] for name, encoded in further.items()},
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


async def _known(batch: ChunkBatch, chunks: Sequence[Chunk], deps: Deps) -> Mapping[tuple[str, str], Vector]:
    """Return the vectors that other generations have, by model and text; with contexts none: theirs may differ."""
    if deps.reuse is None or deps.asker is not None or not chunks:
        return {}
    found = await deps.reuse.find(batch, chunks, deps.generation)
    return {
        (model, normalise.for_model(chunk.text)): vector
        for chunk in chunks
        for model, vector in found.get(chunk.id, {}).items()
    }


async def _encoded(embedder: Embedder, texts: Sequence[str], known: Mapping[tuple[str, str], Vector]) -> dict[str, str]:
    """Return the vector of each text as base64 of little-endian float32; what is `known` is not embedded again."""
    found = {text: known[embedder.model, text] for text in texts if (embedder.model, text) in known}
    if new := [text for text in texts if text not in found]:
        rows = await embedder.embed_passages(new)
        if rows.shape != (len(new), embedder.dimension):
            raise Invalid(
                f"{embedder.model} gave vectors of shape {rows.shape} for {len(new)} texts", field="dimension"
            )
        found |= dict(zip(new, rows, strict=True))
    return {text: base64.b64encode(row.astype("<f4").tobytes()).decode("ascii") for text, row in found.items()}


def _sparse(chunk: Chunk, text: str, language: str, average_length: float) -> SparseVector | None:
    return bm25.passage_vector(text, language, average_length) if chunk.level == "parent" else None


async def _in_context(batch: ChunkBatch, chunks: Sequence[Chunk], asker: Asker | None) -> dict[str, str]:
    """Return the text to embed of each chunk, by its id: after its context, where a language model says one.

    A child stands in the context of its parent: one call a passage. What the model is shown of the document is what
    this part has of it, so a change elsewhere in a document leaves the contexts of unchanged chunks as they were.
    """
    texts = {chunk.id: chunk.text for chunk in chunks}
    if asker is None or batch.kind == "qa":
        return texts
    parents = [chunk for chunk in batch.chunks if chunk.level == "parent"]
    bodies = [parent.body for parent in parents]
    wanted = {chunk.parent_id for chunk in chunks if chunk.level in ("parent", "child")}
    until = time.monotonic() + CONTEXT_SECONDS

    async def context(place: int, parent: Chunk) -> str | None:
        document = "\n".join([*parent.heading_path[:1], chunk_context.around(bodies, place)])
        passage = parent.text[: chunk_context.AROUND]
        try:
            return await asker.ask(
                batch.tenant,
                lambda mark: chunk_context.prompt(document=document, chunk=passage, mark=mark),
                lambda said: chunk_context.read(said, document=document, chunk=passage, language=batch.language),
                max_tokens=chunk_context.MOST_TOKENS,
                seconds=until - time.monotonic(),
            )
        except RankstreamError as error:
            log.warning("a passage is embedded without context: %s", error)
            return None

    asked = [(place, parent) for place, parent in enumerate(parents) if parent.id in wanted]
    found = await asyncio.gather(*(context(place, parent) for place, parent in asked))
    contexts = {parent.id: said for (_, parent), said in zip(asked, found, strict=True) if said}
    for chunk in chunks:
        if chunk.level in ("parent", "child") and chunk.parent_id in contexts:
            texts[chunk.id] = f"{contexts[chunk.parent_id]}\n\n{chunk.text}"
    return texts


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
