"""index-text: writes the texts of a part and their full-text index, then says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.chunks import ChunkBatch
from streams.domain import lexemes
from streams.ports import TextIndex
from streams.processor import Processor
from streams.processors import parts
from streams.wire import Outgoing
from topics import catalogue


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `index-text` needs."""

    texts: TextIndex


async def handle(batch: ChunkBatch, deps: Deps) -> Sequence[Outgoing]:
    """Write a part's texts, unless its version was superseded: nobody waits for it then."""
    rows = [
        lexemes.TextRow(
            id=chunk.id,
            level=chunk.level,
            heading_path=chunk.heading_path,
            body=chunk.body,
            lexemes=lexemes.tsvector(chunk.heading_path, chunk.body, batch.language) if chunk.level == "parent" else "",
        )
        for chunk in batch.chunks
    ]
    if not await deps.texts.write(batch.key, batch.version, batch.generation, rows, kind=batch.kind):
        return ()
    return [parts.receipt(batch, "text")]


INDEX_TEXT = Processor(
    name="index-text",
    summary="writes texts and their full-text index to Postgres",
    source=catalogue.CHUNKS,
    sinks=(catalogue.RECEIPTS,),
    handle=handle,
    failed=parts.failed_as("text"),
    in_flight=4,
)
INDEX_TEXT_BULK = dataclasses.replace(
    INDEX_TEXT,
    name="index-text-bulk",
    summary="the same for the bulk lane",
    source=catalogue.CHUNKS_BULK,
    in_flight=2,
    bulk=True,
)
