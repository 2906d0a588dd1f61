"""Fills the stores with a made-up knowledge base: rows by COPY, vectors by bulk upserts, no bus and no model."""

from __future__ import annotations

import base64
import functools
import uuid
from collections.abc import Iterator, Sequence
from itertools import islice

from psycopg.types.json import Jsonb

from bench.synthetic import BODY_WORDS, DIMENSION, Base, Text
from schemas.chunks import ChunkVectors, SparseVector, VectorBatch
from schemas.documents import Kind
from streams.adapters import postgres_scope
from streams.adapters.postgres import Connection, Pool
from streams.adapters.qdrant import QdrantVectors
from streams.adapters.text_index import FILED
from streams.domain import bm25, lexemes, tokens
from streams.domain.tokens import Token

GENERATION = "g1"
MODEL = "bench"
LANGUAGE = "en"
A_DOCUMENT = 5  # texts of one document; a pair is one of its own
BATCH = 500  # points a call
_KINDS: tuple[Kind, ...] = ("document", "qa")
_COPIES = {
    "documents": "id, generation, tenant, source, doc_id, accepted_version, accepted_hash, live_version",
    "document_versions": "document, version, tenant, hash, op, kind, title, uri, trust, language, agents, pinned, "
    "tags, metadata, parts, chunks, waits, state",
    "chunks": "chunk_id, document, tenant, level, heading_path, body, lexemes",
    "version_chunks": "document, version, tenant, chunk_id, parent_id, level, ordinal",
    "graph_mentions": "chunk_id, document, generation, tenant, key, name, kind, mentions",
    "graph_relations": "chunk_id, document, generation, tenant, subject, object, label, weight, subject_name, "
    "object_name",
}
Row = Sequence[object]


async def postgres(pool: Pool, bases: Sequence[Base]) -> None:
    """Write documents, pairs, their full-text index and the graph of all bases, each a tenant, live at version 1."""
    first = 1
    async with pool.connection() as connection, connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")  # no checks of foreign keys
        for base in bases:
            for kind in _KINDS:
                texts = base.texts(kind)
                while group := list(islice(texts, 5_000)):
                    await _write(connection, base.name, kind, group, first)
                    first += len(group)
    async with pool.connection() as connection:
        await connection.execute("VACUUM (ANALYZE)")  # as the server does by itself some time after such a load


async def vectors(index: QdrantVectors, bases: Sequence[Base]) -> None:
    """Write a dense and a sparse vector of each passage of the documents."""
    await index.ensure_collection(GENERATION, MODEL, DIMENSION)
    for base in bases:
        texts = base.texts("document")
        while group := list(islice(texts, BATCH)):
            rows = base.vectors(group)
            found = tuple(
                ChunkVectors(
                    id=text.id, level="parent", dense=base64.b64encode(row.tobytes()).decode(), sparse=_sparse(text)
                )
                for text, row in zip(group, rows, strict=True)
            )
            await index.upsert(_batch(base.name, found))


def cut(text: str, start: int = 0) -> list[Token]:
    """Return the tokens of a made-up text as the domain cuts them, in a tenth of the time: its words are few."""
    found: list[Token] = []
    for word in text.split():
        pieces = _word(word.strip(".").lower())
        found += [Token(piece.term, start + piece.position) for piece in pieces]
        start += pieces[-1].position + 1
    return found


@functools.cache
def _word(word: str) -> list[Token]:
    return tokens.tokens(word, LANGUAGE)


def tsvector(text: Text) -> str:
    """Return the literal that `lexemes.tsvector` gives for a text."""
    heading = cut(text.heading)
    places: dict[str, list[str]] = {}
    for token in heading:
        places.setdefault(token.term, []).append(f"{token.position + 1}A")
    for token in cut(text.body, heading[-1].position + lexemes.HEADING_GAP):
        places.setdefault(token.term, []).append(str(token.position))
    return " ".join(f"{lexemes.quote(term)}:{','.join(found)}" for term, found in places.items())


def _sparse(text: Text) -> SparseVector:
    return bm25.weighed([token.term for token in cut(f"{text.heading} {text.body}")], BODY_WORDS)


def _batch(tenant: str, found: tuple[ChunkVectors, ...]) -> VectorBatch:
    return VectorBatch(
        tenant=tenant,
        source="bench",
        doc_id=f"d-{found[0].id}",
        version=1,
        generation=GENERATION,
        part=0,
        parts=1,
        kind="document",
        language=LANGUAGE,
        model=MODEL,
        dimension=DIMENSION,
        vectors=found,
    )


async def _write(connection: Connection, tenant: str, kind: Kind, group: Sequence[Text], first: int) -> None:
    size = A_DOCUMENT if kind == "document" else 1
    starts = range(0, len(group), size)
    placed = [(first + place // size * size, place % size, text) for place, text in enumerate(group)]
    owner = postgres_scope.owner(tenant, GENERATION)
    rows: dict[str, Iterator[Row]] = {
        "documents": (
            (first + start, GENERATION, tenant, "bench", f"{kind}-{first + start}", 1, "", 1) for start in starts
        ),
        "document_versions": (
            (
                first + start,
                1,
                tenant,
                "",
                "upsert",
                kind,
                group[start].heading,
                "",
                "internal",
                LANGUAGE,
                [],
                [],
                [],
                Jsonb({}),
                1,
                size,
                [],
                "live",
            )
            for start in starts
        ),
        "chunks": (
            (
                text.id,
                document,
                tenant,
                FILED[kind],
                [text.heading],
                text.body,
                f"{tsvector(text)} {owner}",
            )
            for document, _, text in placed
        ),
        "version_chunks": (
            (document, 1, tenant, text.id, text.id, "parent", place) for document, place, text in placed
        ),
    }
    if kind == "document":
        rows["graph_mentions"] = (
            (text.id, document, GENERATION, tenant, key, key.title(), "name", 1 + place % 3)
            for document, _, text in placed
            for place, key in enumerate(text.entities)
        )
        rows["graph_relations"] = (
            (
                text.id,
                document,
                GENERATION,
                tenant,
                *ends,
                "uses",
                uuid.UUID(text.id).int % 10 / 10 + 0.1,
                *(end.title() for end in ends),
            )
            for document, _, text in placed
            for ends in text.links
        )
    for table, lines in rows.items():
        async with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({_COPIES[table]}) FROM STDIN") as copy:
            for line in lines:
                await copy.write_row(line)
