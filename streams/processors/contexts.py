"""Has a language model say where passages stand; asked once a passage, for whoever needs it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping

from schemas.chunks import Chunk, ChunkBatch
from streams.domain import chunk_context
from streams.errors import RankstreamError
from streams.processors.asking import Asker

log = logging.getLogger(__name__)

SECONDS = 240.0  # that a language model may take for a part; what is left has no context


async def said(batch: ChunkBatch, wanted: Collection[str], asker: Asker) -> Mapping[str, str]:
    """Return the contexts of the `wanted` passages of a part, by chunk id.

    Empty: nothing of the answer is believed. Absent: there was none. What the model is shown of the document is what
    this part has of it, so a change elsewhere in a document leaves the contexts of unchanged passages as they were.
    """
    parents = [chunk for chunk in batch.chunks if chunk.level == "parent"]
    bodies = [parent.body for parent in parents]
    until = time.monotonic() + SECONDS

    async def context(place: int, parent: Chunk) -> str | None:
        document = "\n".join([*parent.heading_path[:1], chunk_context.around(bodies, place)])
        passage = parent.text[: chunk_context.AROUND]
        try:
            found = await asker.ask(
                batch.tenant,
                lambda mark: chunk_context.prompt(document=document, chunk=passage, mark=mark),
                lambda answer: chunk_context.read(answer, document=document, chunk=passage, language=batch.language),
                max_tokens=chunk_context.MOST_TOKENS,
                seconds=until - time.monotonic(),
            )
        except RankstreamError as error:
            log.warning("a passage has no context: %s", error)
            return None
        return found or ""

    asked = [(place, parent) for place, parent in enumerate(parents) if parent.id in wanted]
    found = await asyncio.gather(*(context(place, parent) for place, parent in asked))
    return {parent.id: each for (_, parent), each in zip(asked, found, strict=True) if each is not None}
