"""Every processor, in pipeline order."""

from __future__ import annotations

from streams.processor import Processor
from streams.processors.add_context import ADD_CONTEXT, ADD_CONTEXT_BULK
from streams.processors.chunk import CHUNK, CHUNK_BULK
from streams.processors.embed import EMBED, EMBED_BULK
from streams.processors.extract import EXTRACT, EXTRACT_BULK
from streams.processors.fuse import FUSE
from streams.processors.index_graph import INDEX_GRAPH
from streams.processors.index_text import INDEX_TEXT, INDEX_TEXT_BULK
from streams.processors.index_vectors import INDEX_VECTORS
from streams.processors.prepare import PREPARE
from streams.processors.publish_version import PUBLISH_VERSION
from streams.processors.query_log import LOG_QUESTIONS, LOG_REPLIES
from streams.processors.replay import REPLAY
from streams.processors.rerank import RERANK
from streams.processors.retrieve_dense import RETRIEVE_DENSE
from streams.processors.retrieve_fulltext import RETRIEVE_FULLTEXT
from streams.processors.retrieve_graph import RETRIEVE_GRAPH
from streams.processors.retrieve_qa import RETRIEVE_QA
from streams.processors.retrieve_sparse import RETRIEVE_SPARSE
from topics.catalogue import CONSUMED

LIVE: tuple[Processor, ...] = (
    CHUNK,
    EMBED,
    INDEX_VECTORS,
    INDEX_TEXT,
    ADD_CONTEXT,
    EXTRACT,
    INDEX_GRAPH,
    PUBLISH_VERSION,
)
BULK: tuple[Processor, ...] = (CHUNK_BULK, EMBED_BULK, INDEX_TEXT_BULK, ADD_CONTEXT_BULK, EXTRACT_BULK)
INGEST: tuple[Processor, ...] = (*LIVE, *BULK, REPLAY)
LEGS: tuple[Processor, ...] = (RETRIEVE_DENSE, RETRIEVE_SPARSE, RETRIEVE_FULLTEXT, RETRIEVE_QA, RETRIEVE_GRAPH)
QUERY: tuple[Processor, ...] = (PREPARE, *LEGS, FUSE, RERANK)
LOG: tuple[Processor, ...] = (LOG_QUESTIONS, LOG_REPLIES)
ALL: tuple[Processor, ...] = INGEST + QUERY + LOG
# The topics whose dead letters may go back: a question's sender was answered, and a log never goes back in time.
REDRIVABLE: frozenset[str] = frozenset(topic.name for topic in CONSUMED if topic.cleanup != "compact") - frozenset(
    processor.source.name for processor in (*QUERY, *LOG)
)
