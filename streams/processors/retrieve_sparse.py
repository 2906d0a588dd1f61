"""retrieve-sparse: BM25 over sparse vectors."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.queries import PreparedQuery
from streams.domain import bm25, scope
from streams.ports import VectorIndex
from streams.processors.legs import NO_WORDS, Found, retrieval


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-sparse` needs."""

    vectors: VectorIndex


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the passages with the highest BM25 score; skipped when the question has no word."""
    vector = bm25.query_vector(query.expanded or query.text, query.language, query.carried)
    if not vector.indices:
        return Found(skipped=NO_WORDS)
    return Found(await deps.vectors.search_sparse(scope.of(query), vector, query.candidates))


RETRIEVE_SPARSE = retrieval("sparse", summary="passages by BM25", search=search)
