"""embed: turns the new and changed chunks of a version into dense and sparse vectors."""

from __future__ import annotations

import base64
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from schemas.chunks import Chunk, ChunkBatch, ChunkVectors, SparseVector, VectorBatch
from streams.domain import bm25, normalise
from streams.domain.generation import Generation
from streams.errors import ConfigurationError, Invalid, RankstreamError
from streams.ports import Contexts, Embedder, LexicalModel, Vector, Vectors
from streams.processor import Processor
from streams.processors import contexts, parts
from streams.processors.asking import Asker
from streams.processors.reuse import Reuse
from streams.wire import Outgoing
from topics import catalogue

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `embed` needs."""

    embedder: Embedder
    generation: Generation
    also: tuple[Embedder, ...] = ()  # of the generation's further models
    asker: Asker | None = None  # who says in which context a chunk stands; none: chunks are embedded as they are
    contexts: Contexts | None = None  # where what is said is kept for the reranker; none: it is not
    reuse: Reuse | None = None  # finds the vectors that other generations have; none: everything is embedded
    # What is needed for a part of a generation, by its id; it returns none for one that was dropped. None: this is it.
    other: Callable[[str], Awaitable[Deps | None]] | None = None


async def handle(batch: ChunkBatch, deps: Deps) -> Sequence[Outgoing]:
    """Embed what must be; a part of which everything is unchanged goes on without vectors, for its receipt."""
    found = deps if deps.other is None else await deps.other(batch.generation)
    if found is None:
        return ()  # the generation was dropped: nobody waits for it any more
    try:
        return await _embedded(batch, found)
    except ConfigurationError as error:
        if found.generation.state == "live":
            raise
        # A wrong setting of a generation that is built, a key for one, must not stop the work for the live one.
        raise Invalid(f"generation {batch.generation}: {error}", field="model") from error


async def _embedded(batch: ChunkBatch, deps: Deps) -> Sequence[Outgoing]:
    chunks = [chunk for chunk in batch.chunks if chunk.embed]
    _check((deps.embedder, *deps.also), deps.generation)
    # A short page's only section often reads like the page itself: equal texts are embedded once.
    whole = await _in_context(batch, chunks, deps)
    texts = list(dict.fromkeys(normalise.for_model(whole[chunk.id]) for chunk in chunks))
    known = await _known(batch, chunks, deps)
    main = await _encoded(deps.embedder, texts, known, deps.generation)
    further = {embedder.model: await _encoded(embedder, texts, known, deps.generation) for embedder in deps.also}
    weights = {name: each.weights for name, each in {deps.embedder.model: main, **further}.items() if each.weights}
    vectors = tuple(
        ChunkVectors(
            id=chunk.id,
            level=chunk.level,
            dense=main.dense[normalise.for_model(whole[chunk.id])],
            sparse=_sparse(chunk, whole[chunk.id], batch.language, deps.generation.average_length),
            also={name: each.dense[normalise.for_model(whole[chunk.id])] for name, each in further.items()},
            lexical={name: of[normalise.for_model(whole[chunk.id])] for name, of in weights.items()}
            if chunk.level == "parent"
            else {},
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


@dataclass(frozen=True, kw_only=True)
class _Encoded:
    """What a model says, by text: vectors as base64 of little-endian float32; weights where the generation has them."""

    dense: Mapping[str, str]
    weights: Mapping[str, SparseVector]


async def _encoded(
    embedder: Embedder, texts: Sequence[str], known: Mapping[tuple[str, str], Vector], generation: Generation
) -> _Encoded:
    """Return what a model says of each text; what is `known` is not embedded again."""
    found = {text: known[embedder.model, text] for text in texts if (embedder.model, text) in known}
    weights: dict[str, SparseVector] = {}
    if new := [text for text in texts if text not in found]:
        rows, weighed = await _asked(embedder, new, generation=generation)
        if rows.shape != (len(new), embedder.dimension):
            raise Invalid(
                f"{embedder.model} gave vectors of shape {rows.shape} for {len(new)} texts", field="dimension"
            )
        found |= dict(zip(new, rows, strict=True))
        weights = dict(zip(new, weighed, strict=True)) if weighed else {}
    dense = {text: base64.b64encode(row.astype("<f4").tobytes()).decode("ascii") for text, row in found.items()}
    return _Encoded(dense=dense, weights=weights)


async def _asked(
    embedder: Embedder, texts: Sequence[str], *, generation: Generation
) -> tuple[Vectors, Sequence[SparseVector]]:
    """Return the vectors of texts, and their lexical weights where the generation has them."""
    if embedder.model not in generation.lexical:
        return await embedder.embed_passages(texts), ()
    if not isinstance(embedder, LexicalModel):
        raise Invalid(f"{embedder.model} gives no lexical weights, generation {generation.id} has them")
    return await embedder.weigh_passages(texts)


def _sparse(chunk: Chunk, text: str, language: str, average_length: float) -> SparseVector | None:
    return bm25.passage_vector(text, language, average_length) if chunk.level == "parent" else None


async def _in_context(batch: ChunkBatch, chunks: Sequence[Chunk], deps: Deps) -> dict[str, str]:
    """Return the text to embed of each chunk, by its id: after its context, where a language model says one.

    A child stands in the context of its parent: one call a passage.
    """
    texts = {chunk.id: chunk.text for chunk in chunks}
    if deps.asker is None or batch.kind == "qa":
        return texts
    wanted = {chunk.parent_id for chunk in chunks if chunk.level in ("parent", "child")}
    kept = await _kept(batch.tenant, sorted(wanted), deps.contexts)
    found = await contexts.said(batch, wanted - kept.keys(), deps.asker)
    await _keep(batch, found, deps.contexts)
    stands = {**kept, **found}
    for chunk in chunks:
        if chunk.level in ("parent", "child") and (context := stands.get(chunk.parent_id)):
            texts[chunk.id] = f"{context}\n\n{chunk.text}"
    return texts


async def _kept(tenant: str, chunk_ids: Sequence[str], store: Contexts | None) -> Mapping[str, str]:
    try:
        return await store.read(tenant, chunk_ids) if store is not None else {}
    except RankstreamError as error:
        log.warning("contexts are made anew: %s", error)
        return {}


async def _keep(batch: ChunkBatch, found: Mapping[str, str], store: Contexts | None) -> None:
    """Keep contexts for the reranker, which can do without: no vector waits for that."""
    try:
        if store is not None:
            await store.write(batch.key, batch.generation, found)
    except RankstreamError as error:
        log.warning("contexts are not kept: %s", error)


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
EMBED_BULK = dataclasses.replace(
    EMBED,
    name="embed-bulk",
    summary="the same for the bulk lane, while no question and no edit wants the model",
    source=catalogue.CHUNKS_BULK,
    in_flight=4,
    bulk=True,
)
