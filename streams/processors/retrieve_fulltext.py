"""retrieve-fulltext: Postgres full text over the passages of documents, the words of a question OR-ed."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.queries import PreparedQuery
from streams.domain import scope
from streams.ports import TextIndex
from streams.processors.legs import NO_WORDS, OTHER_KINDS, Found, looks_at, retrieval


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-fulltext` needs."""

    texts: TextIndex


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the passages that share words with the question, by cover density; skipped when it has none."""
    if not looks_at(query, "document"):
        return Found(skipped=OTHER_KINDS)
    if not query.terms:
        return Found(skipped=NO_WORDS)
    found = await deps.texts.search(scope.of(query), query.terms, query.candidates, kind="document")
    return Found(found.hits, frequencies=found.frequencies, counted=found.counted)


RETRIEVE_FULLTEXT = retrieval("fulltext", summary="passages of documents by shared words", search=search)
