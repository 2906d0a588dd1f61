"""Messages between `chunk`, `embed` and the writers."""

from __future__ import annotations

from typing import Literal

from schemas.base import Agent, Value
from schemas.documents import Kind, OfVersion, Tag

Level = Literal["document", "parent", "child", "question"]


class Chunk(Value, frozen=True, kw_only=True):
    """What is indexed: a document-level text, a section (parent), a piece of one that fits the embedder (child), or the
    question of a Q&A pair alone (question).
    """

    id: str  # UUIDv5, see streams/domain/identity.py
    level: Level
    heading_path: tuple[str, ...]
    body: str
    parent_id: str  # the passage that a hit on this chunk returns; its own id for a parent
    embed: bool = True  # false: its vectors are in the live index already

    @property
    def text(self) -> str:
        """The text that is indexed, embedded and shown: the heading path, then the body."""
        return chunk_text(self.heading_path, self.body)


def chunk_text(heading_path: tuple[str, ...], body: str) -> str:
    """Write the heading path at the start of a chunk's body."""
    return f"{' > '.join(heading_path)}\n\n{body}" if heading_path else body


class Part(OfVersion, frozen=True, kw_only=True):
    """One part of one version on its way to the indexes; `part` counts from 0 to `parts` - 1."""

    part: int
    parts: int
    kind: Kind
    language: str
    agents: tuple[Agent, ...] = ()
    tags: tuple[Tag, ...] = ()


class ChunkBatch(Part, tag=True, frozen=True, kw_only=True):
    """Chunks of one version, under 256 KB."""

    chunks: tuple[Chunk, ...]


class SparseVector(Value, frozen=True, kw_only=True):
    """Weights by hashed term, or by a model's token; `indices` ascend and do not repeat."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


class ChunkVectors(Value, frozen=True, kw_only=True):
    """The vectors of one chunk."""

    id: str
    level: Level
    dense: str  # base64 of little-endian float32
    sparse: SparseVector | None  # parents only
    also: dict[str, str] = {}  # the same chunk by further models: name to base64
    lexical: dict[str, SparseVector] = {}  # by model: how much each of its tokens counts; parents only


class VectorBatch(Part, tag=True, frozen=True, kw_only=True):
    """Vectors of the chunks of one part that had to be embedded."""

    model: str
    dimension: int
    vectors: tuple[ChunkVectors, ...]
