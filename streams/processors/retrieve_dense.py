"""retrieve-dense: embeds a question once and searches chunks, and the questions of Q&A pairs, with its vector."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import numpy as np

from schemas.queries import PreparedQuery
from streams.domain import normalise, scope
from streams.domain.profile import Profile
from streams.ports import Embedder, VectorIndex
from streams.processors.legs import Found, looks_at, retrieval


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-dense` needs."""

    embedder: Callable[[str], Awaitable[Embedder]]  # by name; the empty one is the live generation's main embedder
    vectors: VectorIndex
    profiles: Mapping[str, Profile]
    reads: Callable[[str, str], bool] = lambda embedder, language: True  # whether one is made for a language


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the chunks nearest to the question, by cosine; with the leg `qa`, the nearest questions of pairs too."""
    profile, where = deps.profiles[query.profile], scope.of(query)
    if profile.route_by_language and not deps.reads(query.embedder, query.language):
        return Found(skipped=f"{query.embedder} does not read {query.language}")
    embedder = await deps.embedder(query.embedder)
    vector = await _vector(query, embedder)
    lists = [profile.levels]
    if "qa" in profile.legs and looks_at(query, "qa"):
        lists.append(("question",))
    found = await asyncio.gather(
        *(deps.vectors.search_dense(where, vector, each, query.candidates, model=embedder.model) for each in lists)
    )
    return Found(found[0], questions=found[1] if len(found) > 1 else (), model=embedder.model)


async def _vector(query: PreparedQuery, embedder: Embedder) -> list[float]:
    """Return the question's vector; of a follow-up the middle between it with and without what is carried into it."""
    text = normalise.for_model(query.expanded or query.text)
    texts = [text, f"{text} {normalise.for_model(query.carried)}"] if query.carried else [text]
    middle = (await embedder.embed_queries(texts)).sum(axis=0)
    length = float(np.linalg.norm(middle)) or 1.0
    vector: list[float] = (middle / length if query.carried else middle).tolist()
    return vector


RETRIEVE_DENSE = retrieval("dense", summary="nearest chunks, and questions of Q&A pairs, by meaning", search=search)
