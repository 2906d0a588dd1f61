"""retrieve-graph: passages and facts around the entities that a question names, also over one bridge.

Where a profile says so, broad questions get overviews as well, which were made before; no model is asked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.graph import Overview
from schemas.queries import PreparedQuery
from streams.domain import broad, extraction, overviews, scope
from streams.domain.graph import GraphFound
from streams.domain.profile import Profile
from streams.errors import RankstreamError
from streams.ports import Graph, Overviews
from streams.processors.legs import Found, retrieval

log = logging.getLogger(__name__)

NONE_MADE = "graph_global: there are no overviews; `rankstream graph summarize` makes them"
NOT_READ = "graph_global: the overviews could not be read"


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-graph` needs."""

    graph: Graph
    overviews: Overviews | None = None
    profiles: Mapping[str, Profile] = field(default_factory=dict)


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the passages that speak of the question's entities or of what these lead to; skipped if it names none."""
    keys = await asyncio.to_thread(extraction.of_question, query.text, query.language)
    found = GraphFound(hits=[], facts=[])
    if keys:
        found = await deps.graph.search(scope.of(query), keys, query.candidates)
    told, reason = await _overviews(query, deps, known=bool(found.hits))
    hits = overviews.merged(found.hits, overviews.hits(told))[: query.candidates] if told else found.hits
    if not keys and not hits and reason is None:
        return Found(skipped="no entity in the question")
    return Found(hits, facts=found.facts, overviews=told, fallback=reason)


async def _overviews(query: PreparedQuery, deps: Deps, *, known: bool) -> tuple[list[Overview], str | None]:
    """Return the overviews that fit a broad question, or why the option could do nothing for it."""
    profile = deps.profiles.get(query.profile)
    if profile is None or not profile.graph_global or deps.overviews is None:
        return [], None
    asked = broad.broad(query.text, query.language, known=known)
    if asked is None:
        return [], None
    try:
        found = await deps.overviews.search(scope.of(query), asked.terms, overviews.FOUND)
    except RankstreamError as error:
        log.warning("overviews: %s", error)
        return [], NOT_READ
    return overviews.rank(found.matched, asked), None if found.known or not asked.by_words else NONE_MADE


RETRIEVE_GRAPH = retrieval(
    "graph", summary="passages and facts around named things, over one bridge", search=search, phrased=False
)
