"""Reads what is in the stores and on the dead letter topics, past the proxies and past the code under test."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Mapping

import psycopg
from aiokafka import AIOKafkaConsumer, TopicPartition
from qdrant_client import AsyncQdrantClient, models

from schemas import dead_letters
from schemas.documents import DocumentChange
from streams.domain import changes, chunking
from tests.faults.evidence import Applied, Letter, Stored
from topics.catalogue import DEAD_LETTERS

PLANTED = "faults-planted"  # a header; dead letters keep the headers of their record
AUDIT = """
CREATE TABLE IF NOT EXISTS faults_audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text, doc_id text, version bigint
);
CREATE OR REPLACE FUNCTION faults_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO faults_audit (tenant, doc_id, version) VALUES (NEW.tenant, NEW.doc_id, NEW.live_version);
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER faults_note AFTER UPDATE OF live_version ON documents
FOR EACH ROW WHEN (NEW.live_version IS DISTINCT FROM OLD.live_version) EXECUTE FUNCTION faults_note();
"""


def rebuilt(change: DocumentChange, generation: str) -> frozenset[str]:
    """Return the chunk ids of a version, as a rebuild from its text alone gives them."""
    if change.op == "delete":
        return frozenset()
    text = chunking.text_of(changes.normalised(change), generation)
    return frozenset(chunk.id for chunk in chunking.cut(text))


async def watch_versions(url: str) -> None:
    """Let the database note every change of a document's live version."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(AUDIT.encode())


async def postgres(url: str, tenant: str) -> tuple[dict[str, Stored], frozenset[str], tuple[Applied, ...], int]:
    """Return the documents, the ids of all chunks, the changes of live versions, and what waits to be collected."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:

        async def rows(statement: str) -> list[tuple[object, ...]]:
            cursor = await connection.execute(statement.encode(), {"tenant": tenant})
            return await cursor.fetchall()

        live: Mapping[str, set[str]] = defaultdict(set)
        for doc, chunk in await rows("SELECT doc_id, chunk_id::text FROM live_chunks WHERE tenant = %(tenant)s"):
            live[str(doc)].add(str(chunk))
        documents = await rows(
            "SELECT d.doc_id, d.live_version, v.state FROM documents d LEFT JOIN document_versions v "
            "ON v.document = d.id AND v.version = d.live_version WHERE d.tenant = %(tenant)s"
        )
        stored = {
            str(doc): Stored(
                doc=str(doc),
                version=None if version is None else int(str(version)),
                chunks=frozenset(live[str(doc)]),
                deleted=state == "deleted",
            )
            for doc, version, state in documents
        }
        texts = await rows("SELECT chunk_id::text FROM chunks WHERE tenant = %(tenant)s")
        applied = await rows("SELECT doc_id, version FROM faults_audit WHERE tenant = %(tenant)s ORDER BY id")
        garbage = await rows(
            "SELECT count(*) FROM garbage g JOIN documents d ON d.id = g.document WHERE d.tenant = %(tenant)s"
        )
    return (
        stored,
        frozenset(str(chunk) for (chunk,) in texts),
        tuple(Applied(doc=str(doc), version=int(str(version))) for doc, version in applied),
        int(str(garbage[0][0])),
    )


async def qdrant(url: str, collection: str, tenant: str) -> frozenset[str]:
    """Return the ids of a tenant's points."""
    client = AsyncQdrantClient(url=url, check_compatibility=False, timeout=60)
    found: set[str] = set()
    own = models.Filter(must=[models.FieldCondition(key="tenant", match=models.MatchValue(value=tenant))])
    try:
        offset = None
        for _ in range(1_000):
            points, offset = await client.scroll(
                collection, scroll_filter=own, limit=1_000, offset=offset, with_payload=False, with_vectors=False
            )
            found |= {str(point.id) for point in points}
            if offset is None:
                break
    finally:
        await client.close()
    return frozenset(found)


async def ends(kafka: str, *topics: str) -> dict[TopicPartition, int]:
    """Return where topics end now."""
    consumer = AIOKafkaConsumer(bootstrap_servers=kafka)
    await consumer.start()
    try:
        cluster = await consumer._client.fetch_all_metadata()
        partitions = [TopicPartition(name, p) for name in topics for p in cluster.partitions_for_topic(name) or ()]
        found: dict[TopicPartition, int] = await consumer.end_offsets(partitions)
        return found
    finally:
        await consumer.stop()


async def letters(kafka: str, since: Mapping[TopicPartition, int], *, seconds: float = 60.0) -> list[Letter]:
    """Return the dead letters since a moment."""
    until = await ends(kafka, *(topic.name for topic in DEAD_LETTERS))
    wanted = {tp: end for tp, end in until.items() if end > since.get(tp, 0)}
    if not wanted:
        return []
    consumer = AIOKafkaConsumer(bootstrap_servers=kafka, enable_auto_commit=False)
    await consumer.start()
    found: list[Letter] = []
    limit = time.monotonic() + seconds
    try:
        consumer.assign(list(wanted))
        for tp in wanted:
            consumer.seek(tp, since.get(tp, 0))
        while time.monotonic() < limit:
            for batch in (await consumer.getmany(timeout_ms=300)).values():
                found += [_letter(record.headers, record.value) for record in batch]
            if all([await consumer.position(tp) >= end for tp, end in wanted.items()]):
                break
    finally:
        await consumer.stop()
    return found


def _letter(headers: list[tuple[str, bytes]], value: bytes | None) -> Letter:
    said = dict(headers)

    def text(name: str) -> str:
        return said.get(name, b"").decode(errors="replace")

    doc, version = None, None
    try:
        body = json.loads(value or b"")
        doc, version = body.get("doc_id"), body.get("version")
    except (ValueError, AttributeError, RecursionError):
        pass
    return Letter(
        group=text(dead_letters.ORIGINAL_GROUP),
        topic=text(dead_letters.ORIGINAL_TOPIC),
        partition=int(text(dead_letters.ORIGINAL_PARTITION)),
        offset=int(text(dead_letters.ORIGINAL_OFFSET)),
        error_class=text(dead_letters.ERROR_CLASS),
        planted=PLANTED in said,
        doc=doc if isinstance(doc, str) else None,
        version=version if isinstance(version, int) else None,
    )
