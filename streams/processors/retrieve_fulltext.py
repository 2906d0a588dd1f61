"""retrieve-fulltext: Postgres full text over passages, the words of a question OR-ed."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.queries import PreparedQuery
from streams.domain import scope, tokens
from streams.ports import TextIndex
from streams.processors.legs import Found, retrieval


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-fulltext` needs."""

    texts: TextIndex


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the passages that share words with the question, by cover density; skipped when it has none."""
    terms = tokens.terms(query.text, query.language)
    if not terms:
        return Found(skipped="no words in the question")
    return Found(await deps.texts.search(scope.of(query), terms, query.candidates))


RETRIEVE_FULLTEXT = retrieval("fulltext", summary="passages by shared words, headings first", search=search)
