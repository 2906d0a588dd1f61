"""replay: brings what the log of accepted versions holds into a generation that is built beside the live one.

It begins at the log's beginning, and follows the log as long as the generation is active: a change that was accepted
by a process that did not know of the generation yet comes to it here. All other changes `chunk` writes to every active
generation itself, and the replay passes them by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.documents import Document
from streams.domain.generation import named
from streams.ports import Generations, VersionReader, VersionStore
from streams.processor import STORES_LIMIT, Processor
from streams.processors import chunk
from streams.wire import Outgoing
from topics import catalogue

LANE = catalogue.CHUNKS_BULK  # nobody waits for a replay


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `replay` needs."""

    versions: VersionStore
    reader: VersionReader
    generations: Generations
    generation: str = ""  # the id of the one that is filled


async def handle(document: Document, deps: Deps) -> Sequence[Outgoing]:
    """Cut a version for the generation, unless it has it, or something later came; nobody is told of it."""
    change = document.change
    generation = named(deps.generation, await deps.generations.active())
    if generation is None or not await deps.reader.unreplayed(change.key, change.version, generation.id):
        return ()
    return (await chunk.into(generation, document, deps.versions, to=LANE, replayed=True))[1]


REPLAY = Processor(
    name="replay",
    summary="fills a generation that is built beside the live one, from the log",
    source=catalogue.DOCUMENTS,
    sinks=(LANE, catalogue.RECEIPTS),
    handle=handle,
    time_limit=STORES_LIMIT,
    in_flight=2,  # as `chunk-bulk`, whose connections it shares
    bulk=True,
    per_generation=True,
)


def of(generation: str, replaying: Processor = REPLAY) -> Processor:
    """Return the replay of one generation: it reads in a group of its own."""
    return replace(replaying, name=f"{REPLAY.name}-{generation}")
