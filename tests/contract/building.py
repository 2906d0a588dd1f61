"""Documents, chunks, batches and receipts for the contract tests: small, so that what must come out can be counted."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from schemas.chunks import Chunk, ChunkVectors, Level, SparseVector, VectorBatch
from schemas.documents import DocKey, DocumentChange, Receipt
from streams.domain import bm25, identity, lexemes
from streams.domain.lexemes import TextRow
from streams.domain.scope import Scope
from streams.domain.versions import Candidate

MODEL = "memory-hash"
DIMENSION = 64
GENERATION = "g1"


def change(version: int, content: str = "", **fields: Any) -> DocumentChange:
    """A version of a document; `content` has a passage between every two bars."""
    return DocumentChange(
        **{"tenant": "acme", "source": "help", "doc_id": "billing/refunds.md", "title": "Refunds"} | fields,
        version=version,
        content=content,
    )


def deletion(version: int, **fields: Any) -> DocumentChange:
    return change(version, op="delete", **fields)


def cut(of: DocumentChange, generation: str = GENERATION) -> tuple[Chunk, ...]:
    """A parent and a child for each passage; equal passages of one document have equal ids.

    A pair's parents have a question each in place of a child.
    """
    chunks = []
    small: Level = "question" if of.kind == "qa" else "child"
    levels: tuple[Level, ...] = ("parent", small)
    for passage in filter(None, (part.strip() for part in of.content.split("|"))):
        names = {"generation": generation, "tenant": of.tenant, "source": of.source, "doc_id": of.doc_id}
        parent, child = (
            identity.chunk_id(**names, level=f"{of.kind} {level}", heading_path=(of.title,), body=passage, occurrence=0)
            for level in levels
        )
        chunks += [
            Chunk(id=parent, level="parent", heading_path=(of.title,), body=passage, parent_id=parent),
            Chunk(id=child, level=small, heading_path=(of.title,), body=passage, parent_id=parent),
        ]
    return tuple(chunks)


def candidate(of: DocumentChange, *, generation: str = GENERATION, part_size: int = 100) -> Candidate:
    chunks = cut(of, generation) if of.op == "upsert" else ()
    return Candidate(
        change=of,
        content_hash=identity.content_hash(of),
        generation=generation,
        language="en",
        chunks=chunks,
        parts=-(-len(chunks) // part_size),
    )


def text_rows(chunks: Iterable[Chunk]) -> list[TextRow]:
    return [
        TextRow(
            id=chunk.id,
            level=chunk.level,
            heading_path=chunk.heading_path,
            body=chunk.body,
            lexemes=lexemes.tsvector(chunk.heading_path, chunk.body, "en") if chunk.level == "parent" else "",
        )
        for chunk in chunks
    ]


def dense(text: str, dimension: int = DIMENSION) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A vector that depends on nothing but the text."""
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")
    return np.random.default_rng(seed).normal(size=dimension).astype(np.float32)


def encoded(vector: np.ndarray[Any, np.dtype[np.float32]]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def vector_batch(
    of: DocumentChange,
    chunks: Sequence[Chunk],
    *,
    generation: str = GENERATION,
    part: int = 0,
    parts: int = 1,
    also: Mapping[str, int] | None = None,
) -> VectorBatch:
    """Vectors of chunks; `also`: the dimensions of further models, by name, each with vectors of its own."""
    return VectorBatch(
        tenant=of.tenant,
        source=of.source,
        doc_id=of.doc_id,
        version=of.version,
        generation=generation,
        part=part,
        parts=parts,
        kind=of.kind,
        language="en",
        agents=of.agents,
        tags=of.tags,
        model=MODEL,
        dimension=DIMENSION,
        vectors=tuple(
            ChunkVectors(
                id=chunk.id,
                level=chunk.level,
                dense=encoded(dense(chunk.body)),
                sparse=sparse(chunk.body) if chunk.level == "parent" else None,
                also={name: encoded(dense(name + chunk.body, size)) for name, size in (also or {}).items()},
            )
            for chunk in chunks
        ),
    )


def sparse(text: str) -> SparseVector:
    return bm25.passage_vector(text, "en", 5.0)


def receipt(
    of: DocumentChange, writer: Any = "chunk", part: int = 0, *, generation: str = GENERATION, error: str | None = None
) -> Receipt:
    return Receipt(
        tenant=of.tenant,
        source=of.source,
        doc_id=of.doc_id,
        version=of.version,
        generation=generation,
        writer=writer,
        part=part,
        error=error,
    )


def scope(**fields: Any) -> Scope:
    return Scope(**{"tenant": "acme", "generation": GENERATION} | fields)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """All that a store holds of a document, to be compared with what it should hold."""

    live: int | None
    texts: Set[str]  # live passages, by their body
    text_ids: Set[str]
    vector_ids: Set[str]


KEY = DocKey(tenant="acme", source="help", doc_id="billing/refunds.md")
