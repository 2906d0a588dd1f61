"""extract: finds the entities of new and changed passages, and how they connect."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas import codec
from schemas.chunks import Chunk, ChunkBatch
from schemas.graph import Entity, GraphBatch, Relation
from streams.domain import extraction, graph_rows, graph_schema
from streams.errors import RankstreamError
from streams.processor import Processor
from streams.processors import parts
from streams.processors.asking import Asker
from streams.wire import Outgoing
from topics import catalogue

log = logging.getLogger(__name__)

MODEL_SECONDS = 240.0  # that a language model may take for a part; the rules read what is left
LARGEST_BATCH = 200_000  # bytes of entities and relations a record

Said = tuple[list[Entity], list[Relation]]


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `extract` needs beside the text."""

    asker: Asker | None = None  # a language model reads the passages; none: the rules alone


async def handle(batch: ChunkBatch, deps: Deps) -> Sequence[Outgoing]:
    """Send what the new passages of a part say; what is unchanged is in the graph already.

    Nothing waits for it, so a part that says nothing sends nothing.
    """
    chunks = [chunk for chunk in batch.chunks if chunk.embed and chunk.level == "parent"]
    # Off the event loop: a part may take seconds, and other processors may share the process.
    by_model = await _by_model(chunks, batch, deps.asker) if deps.asker is not None else {}
    said = await asyncio.to_thread(
        lambda: [by_model[chunk.id] if chunk.id in by_model else _said(chunk, batch.language) for chunk in chunks]
    )
    return [
        Outgoing(topic=catalogue.ENTITIES, key=parts.record_key(batch), message=message)
        for message in _batches(batch, said)
    ]


async def _by_model(chunks: Sequence[Chunk], batch: ChunkBatch, asker: Asker) -> dict[str, Said]:
    """Return what a language model says of the passages, by chunk id, without those it had no good answer for."""
    until = time.monotonic() + MODEL_SECONDS

    async def one(chunk: Chunk) -> Said | None:
        try:
            found = await asker.ask(
                batch.tenant,
                lambda mark: graph_schema.prompt(chunk.heading_path, chunk.body, mark),
                lambda answer: graph_schema.read(
                    answer,
                    chunk_id=chunk.id,
                    heading_path=chunk.heading_path,
                    body=chunk.body,
                    language=batch.language,
                ),
                max_tokens=graph_schema.MOST_TOKENS,
                seconds=until - time.monotonic(),
            )
        except RankstreamError as error:
            log.warning("a passage is read by the rules: %s", error)
            return None
        if found is None:
            return None
        entities = graph_rows.entities(found[0])
        return entities, graph_rows.relations(found[1], entities)

    answers = await asyncio.gather(*(one(chunk) for chunk in chunks))
    return {chunk.id: said for chunk, said in zip(chunks, answers, strict=True) if said is not None}


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
EXTRACT_BULK = dataclasses.replace(
    EXTRACT,
    name="extract-bulk",
    summary="the same for the bulk lane",
    source=catalogue.CHUNKS_BULK,
    in_flight=1,
    bulk=True,
)
