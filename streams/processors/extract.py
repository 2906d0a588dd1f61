"""extract: finds the entities of new and changed passages, and how they connect."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas import codec
from schemas.chunks import Chunk, ChunkBatch
from schemas.graph import Entity, GraphBatch, Relation
from streams.domain import extraction, graph_rows
from streams.processor import Processor
from streams.processors import parts
from streams.wire import Outgoing
from topics import catalogue

LARGEST_BATCH = 200_000  # bytes of entities and relations a record

Said = tuple[list[Entity], list[Relation]]


@dataclass(frozen=True, kw_only=True)
class Deps:
    """`extract` needs nothing but the text."""


async def handle(batch: ChunkBatch, _: Deps) -> Sequence[Outgoing]:
    """Send what the new passages of a part say; what is unchanged is in the graph already.

    Nothing waits for it, so a part that says nothing sends nothing.
    """
    chunks = [chunk for chunk in batch.chunks if chunk.embed and chunk.level == "parent"]
    # Off the event loop: a part may take seconds, and other processors may share the process.
    said = await asyncio.to_thread(lambda: [_said(chunk, batch.language) for chunk in chunks])
    return [
        Outgoing(topic=catalogue.ENTITIES, key=parts.record_key(batch), message=message)
        for message in _batches(batch, said)
    ]


def _said(chunk: Chunk, language: str) -> Said:
    found = extraction.extract(chunk_id=chunk.id, heading_path=chunk.heading_path, body=chunk.body, language=language)
    entities = graph_rows.entities(found.entities)
    return entities, graph_rows.relations(found.relations, entities)


def _batches(batch: ChunkBatch, said: Sequence[Said]) -> Iterator[GraphBatch]:
    """Divide what passages say among records; what one passage says stays together."""
    fields = parts.fields(batch)
    entities: list[Entity] = []
    relations: list[Relation] = []
    size = 0
    for more_entities, more_relations in said:
        more = len(codec.encode(GraphBatch(**fields, entities=tuple(more_entities), relations=tuple(more_relations))))
        if entities and size + more > LARGEST_BATCH:
            yield GraphBatch(**fields, entities=tuple(entities), relations=tuple(relations))
            entities, relations, size = [], [], 0
        entities += more_entities
        relations += more_relations
        size += more
    if entities:
        yield GraphBatch(**fields, entities=tuple(entities), relations=tuple(relations))


EXTRACT = Processor(
    name="extract",
    summary="entities and relations of new and changed passages",
    source=catalogue.CHUNKS,
    sinks=(catalogue.ENTITIES,),
    handle=handle,
    keyed=False,
    in_flight=4,
    time_limit=300.0,
)
