"""Every topic, in pipeline order. No topic name is written anywhere else."""

from __future__ import annotations

from dataclasses import replace

from schemas.chunks import ChunkBatch, VectorBatch
from schemas.documents import Document, DocumentChange, DocumentStatus, Receipt
from schemas.fused import Fused
from schemas.graph import GraphBatch
from schemas.queries import Expected, LegResult, PreparedQuery, QueryRequest
from schemas.query_log import LoggedQuestion, LoggedReply
from schemas.replies import QueryReply
from topics.topic import DAY, LARGEST_RECORD, MINUTE, Topic

DOCUMENT = "tenant/source/doc_id"
QUERY = "query id"
TICKET = "ticket"

DOCUMENT_CHANGES = Topic(
    name="document-changes",
    carries=(DocumentChange,),
    key=DOCUMENT,
    partitions=4,
    largest_record=LARGEST_RECORD,
    summary="the inbox: new versions and deletions, as sources publish them",
)
DOCUMENT_CHANGES_BULK = replace(
    DOCUMENT_CHANGES,
    name=f"{DOCUMENT_CHANGES.name}.bulk",
    summary="the inbox's bulk lane: first loads, and what tenants publish over their quota",
)
DOCUMENTS = Topic(
    name="documents",
    carries=(Document,),
    key=DOCUMENT,
    partitions=4,
    cleanup="compact",
    largest_record=LARGEST_RECORD,
    summary="the last accepted version of every document: what a replay reads",
)
CHUNKS = Topic(
    name="chunks",
    carries=(ChunkBatch,),
    key=DOCUMENT,
    partitions=4,
    summary="accepted versions, cut into chunks",
)
CHUNKS_BULK = replace(
    CHUNKS,
    name=f"{CHUNKS.name}.bulk",
    summary="the same of the bulk lane, so that an edit never queues behind a first load or a re-index",
)
VECTORS = Topic(
    name="vectors",
    carries=(VectorBatch,),
    key=DOCUMENT,
    partitions=4,
    summary="dense and sparse vectors of new or changed chunks",
)
ENTITIES = Topic(
    name="entities",
    carries=(GraphBatch,),
    key=DOCUMENT,
    partitions=4,
    summary="entities and relations of new or changed chunks",
)
RECEIPTS = Topic(
    name="receipts",
    carries=(Receipt,),
    key=DOCUMENT,
    partitions=4,
    summary="a writer finished, or gave up, one part of one version",
)
DOCUMENT_STATUS = Topic(
    name="document-status",
    carries=(DocumentStatus,),
    key=DOCUMENT,
    partitions=4,
    summary="what sources wait for: searchable, deleted or failed, for exactly one version",
)
QUERIES = Topic(
    name="queries",
    carries=(QueryRequest,),
    key=QUERY,
    partitions=4,
    retention_ms=DAY,
    segment_ms=DAY // 4,
    stamped="broker",  # how long a question has waited must not depend on its client's clock
    summary="questions, with the reply address in the headers",
)
PREPARED = Topic(
    name="prepared",
    carries=(PreparedQuery,),
    key=TICKET,
    partitions=4,
    retention_ms=60 * MINUTE,
    segment_ms=10 * MINUTE,
    summary="normalised questions, for every leg",
)
LEG_RESULTS = Topic(
    name="leg-results",
    carries=(Expected, LegResult),
    key=TICKET,
    partitions=4,
    retention_ms=60 * MINUTE,
    segment_ms=10 * MINUTE,
    summary="what `fuse` joins: one `Expected` a question, then one result a leg",
)
FUSED = Topic(
    name="fused",
    carries=(Fused,),
    key=TICKET,
    partitions=4,
    retention_ms=60 * MINUTE,
    segment_ms=10 * MINUTE,
    largest_record=LARGEST_RECORD,
    summary="fused answers with the texts of their candidates, where a reranker is to order them",
)
REPLIES = Topic(
    name="replies",
    carries=(QueryReply,),
    key=QUERY,
    partitions=64,
    retention_ms=10 * MINUTE,
    segment_ms=MINUTE,
    summary="answers, on the partition that the asking client reads",
)

QUERY_LOG = Topic(
    name="query-log",
    carries=(LoggedQuestion, LoggedReply),
    key=QUERY,
    partitions=4,
    retention_ms=90 * DAY,
    segment_ms=DAY,
    summary="questions and what they were answered with, without secrets, for who labels, counts and looks back",
)

PIPELINE: tuple[Topic, ...] = (
    DOCUMENT_CHANGES,
    DOCUMENT_CHANGES_BULK,
    DOCUMENTS,
    CHUNKS,
    CHUNKS_BULK,
    VECTORS,
    ENTITIES,
    RECEIPTS,
    DOCUMENT_STATUS,
    QUERIES,
    PREPARED,
    LEG_RESULTS,
    FUSED,
    REPLIES,
    QUERY_LOG,
)
CONSUMED: tuple[Topic, ...] = (
    DOCUMENT_CHANGES,
    DOCUMENT_CHANGES_BULK,
    DOCUMENTS,
    CHUNKS,
    CHUNKS_BULK,
    VECTORS,
    ENTITIES,
    RECEIPTS,
    QUERIES,
    PREPARED,
    LEG_RESULTS,
    FUSED,
    REPLIES,
)
DEAD_LETTERS: tuple[Topic, ...] = tuple(topic.dead_letters for topic in CONSUMED)
ALL: tuple[Topic, ...] = PIPELINE + DEAD_LETTERS
REPLY_TOPICS: frozenset[str] = frozenset({REPLIES.name})


def document_key(tenant: str, source: str, doc_id: str) -> bytes:
    """Return the record key that keeps a document's events in order; each part carries its length, so none collide."""
    return "".join(f"{len(part)}:{part}" for part in (tenant, source, doc_id)).encode()
