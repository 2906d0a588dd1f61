"""retrieve-qa: Postgres full text over questions and answers of Q&A pairs, the words of a question OR-ed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.queries import PreparedQuery
from streams.domain import scope
from streams.domain.profile import Profile
from streams.ports import TextIndex
from streams.processors.legs import NO_WORDS, OTHER_KINDS, Found, looks_at, retrieval


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-qa` needs."""

    texts: TextIndex
    profiles: Mapping[str, Profile]


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the pairs that share words with the question, by cover density; skipped when it has none.

    A profile may let a word of the question match as the beginning of a pair's word.
    """
    if not looks_at(query, "qa"):
        return Found(skipped=OTHER_KINDS)
    if not query.terms:
        return Found(skipped=NO_WORDS)
    prefix = deps.profiles[query.profile].qa_prefix
    found = await deps.texts.search(scope.of(query), query.terms, query.candidates, kind="qa", prefix=prefix)
    return Found(found.hits, frequencies=found.frequencies, counted=found.counted)


RETRIEVE_QA = retrieval("qa", summary="Q&A pairs by shared words, questions first", search=search)
