"""Finds the vectors that other generations have of the same texts, so that no text is embedded twice by one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from schemas.chunks import Chunk, ChunkBatch, Level
from streams.domain import identity
from streams.domain.generation import Generation
from streams.ports import Generations, Vector, VectorReader

Found = Mapping[str, Mapping[str, Vector]]  # by chunk id and model


@dataclass(frozen=True, kw_only=True)
class Reuse:
    """Looks in the active generations, by id: a chunk's is made of its document, the hash of its text and its place."""

    generations: Generations
    vectors: VectorReader

    async def find(self, batch: ChunkBatch, chunks: Sequence[Chunk], generation: Generation) -> Found:
        """Return the vectors of `chunks` by the models of `generation` that another generation has.

        A text that stands elsewhere in its document there, as a section that now is a piece of one, is found as well;
        an equal text of another document is not. One look-up of up to four ids a chunk in each other generation.
        """
        found: dict[str, dict[str, Vector]] = {}
        if generation.fresh:
            return found
        for other in await self.generations.active():
            # A text that a model must weigh has to go through it, and gets its vector there.
            models = [model for model in generation.models if model.name not in generation.lexical]
            common = [model.name for model in models if model in other.models]
            if other.id == generation.id or not common:
                continue
            ids = {there: chunk.id for chunk in chunks for there in _ids(batch, chunk, other.id)}
            for there, vectors in (await self.vectors.read(other.id, list(ids), common)).items():
                mine = found.setdefault(ids[there], {})
                mine |= {model: vector for model, vector in vectors.items() if model not in mine}
        return found


def _ids(batch: ChunkBatch, chunk: Chunk, generation: str) -> list[str]:
    """Return the ids that a chunk's text may have in another generation, at whatever level it stands there."""
    return [
        identity.chunk_id(
            generation=generation,
            level=identity.chunk_level(level, batch.kind, batch.language),
            tenant=batch.tenant,
            source=batch.source,
            doc_id=batch.doc_id,
            heading_path=chunk.heading_path,
            body=chunk.body,
            occurrence=0,  # of equal texts in a document the first is as good
        )
        for level in get_args(Level)
    ]
