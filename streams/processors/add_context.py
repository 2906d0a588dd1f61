"""add-context: keeps beside each passage, for the reranker, what a language model says of where it stands.

A processor of its own, since a model takes seconds a passage: no version waits for it, it fails no document, and a
passage without a context is reranked as it is. Where vectors have the context too, `embed` waits for it anyway, makes
it and keeps it, so that it is made once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.chunks import ChunkBatch
from streams.ports import Contexts
from streams.processor import Processor
from streams.processors import contexts
from streams.processors.asking import Asker
from streams.wire import Outgoing
from topics import catalogue


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `add-context` needs; without an asker it adds nothing."""

    contexts: Contexts
    asker: Asker | None = None


async def handle(batch: ChunkBatch, deps: Deps) -> Sequence[Outgoing]:
    """Ask for the passages of a part that have no context yet; Q&A pairs stand for themselves.

    What failed is asked for when the document is published again, unchanged or not.
    """
    if deps.asker is None or batch.kind == "qa":
        return ()
    parents = [chunk.id for chunk in batch.chunks if chunk.level == "parent"]
    known = await deps.contexts.read(batch.tenant, parents)
    found = await contexts.said(batch, set(parents) - known.keys(), deps.asker)
    await deps.contexts.write(batch.key, batch.generation, found)
    return ()


ADD_CONTEXT = Processor(
    name="add-context",
    summary="has a language model say where passages stand, for the reranker",
    source=catalogue.CHUNKS,
    sinks=(),
    handle=handle,
    keyed=False,
    in_flight=4,
    time_limit=300.0,
)
ADD_CONTEXT_BULK = dataclasses.replace(
    ADD_CONTEXT,
    name="add-context-bulk",
    summary="the same for the bulk lane",
    source=catalogue.CHUNKS_BULK,
    in_flight=1,
    bulk=True,
)
