"""retrieve-dense: embeds a question once and searches the dense vectors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from schemas.queries import PreparedQuery
from streams.domain import normalise, scope
from streams.domain.profile import Profile
from streams.ports import Embedder, VectorIndex
from streams.processors.legs import Found, retrieval


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-dense` needs."""

    embedder: Callable[[str], Awaitable[Embedder]]  # by name; the empty one is the live generation's main embedder
    vectors: VectorIndex
    profiles: Mapping[str, Profile]


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the chunks nearest to the question, by cosine."""
    embedder = await deps.embedder(query.embedder)
    vector = (await embedder.embed_queries([normalise.for_model(query.expanded or query.text)]))[0]
    levels = deps.profiles[query.profile].levels
    hits = await deps.vectors.search_dense(
        scope.of(query), vector.tolist(), levels, query.candidates, model=embedder.model
    )
    return Found(hits, model=embedder.model)


RETRIEVE_DENSE = retrieval("dense", summary="nearest chunks by meaning", search=search)
