"""retrieve-dense: embeds a question once and searches chunks, and the questions of Q&A pairs, with its vector."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.queries import PreparedQuery
from streams.domain import normalise, scope
from streams.domain.generation import named
from streams.domain.profile import Profile
from streams.errors import ConfigurationError, Invalid, ModelUnavailable, StoreUnavailable, Transient
from streams.ports import Embedder, Generations, VectorIndex, Vectors
from streams.processors.legs import Found, looks_at, retrieval

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-dense` needs."""

    embedder: Callable[[str], Awaitable[Embedder]]  # by name; the empty one is the live generation's main embedder
    vectors: VectorIndex
    profiles: Mapping[str, Profile]
    generations: Generations | None = None  # whose further models stand in for one that fails; none: no model does


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the chunks nearest to the question, by cosine; with the leg `qa`, the nearest questions of pairs too."""
    profile, where = deps.profiles[query.profile], scope.of(query)
    names = (query.embedder, *await _further(query, deps))
    model, vector = await _embedded(query, names, profile.legs_budget, deps)
    lists = [profile.levels]
    if "qa" in profile.legs and looks_at(query, "qa"):
        lists.append(("question",))
    found = await asyncio.gather(
        *(deps.vectors.search_dense(where, vector, each, query.candidates, model=model) for each in lists)
    )
    fallback = f"fallback: {model} instead of {query.embedder}" if query.embedder not in ("", model) else None
    return Found(found[0], questions=found[1] if len(found) > 1 else (), model=model, fallback=fallback)


async def _further(query: PreparedQuery, deps: Deps) -> Sequence[str]:
    """Return the models, beside the question's own, that have vectors where it searches; the main one first."""
    if deps.generations is None or not query.embedder:
        return ()
    try:
        generation = named(query.generation, await deps.generations.active())
    except StoreUnavailable:
        return ()
    if generation is None or not generation.has(query.embedder):
        return ()
    return [model.name for model in generation.models if model.name != query.embedder]


async def _embedded(
    query: PreparedQuery, names: Sequence[str], seconds: float, deps: Deps
) -> tuple[str, Sequence[float]]:
    """Return the first model that answers, and the question's vector by it; raise ModelUnavailable when none does.

    Each has half of the time that is left, so that the next one's answer is not too late; the last has as long as the
    question has.
    """
    text = normalise.for_model(query.expanded or query.text)
    texts = [text, f"{text} {normalise.for_model(query.carried)}"] if query.carried else [text]
    until = time.monotonic() + seconds
    for place, name in enumerate(names, start=1):
        last = place == len(names)
        try:
            async with asyncio.timeout(None if last else max(0.0, until - time.monotonic()) / 2):
                embedder = await deps.embedder(name)
                rows = await embedder.embed_queries(texts)
            if rows.shape != (len(texts), embedder.dimension):
                raise Invalid(f"{embedder.model} gave vectors of shape {rows.shape} for a question", field="dimension")
            return embedder.model, _middle(rows)
        except (Transient, ConfigurationError, Invalid, TimeoutError) as error:
            log.warning("dense: %s does not embed a question: %s", name or "the model", error or "no answer in time")
            if last:
                raise ModelUnavailable(f"none of {', '.join(filter(None, names)) or 'the models'} answers") from error
    raise ModelUnavailable("no model is named")


def _middle(rows: Vectors) -> Sequence[float]:
    """Return the question's vector; of a follow-up the middle between it with and without what is carried into it."""
    middle = rows.sum(axis=0)
    length = float(np.linalg.norm(middle)) if len(rows) > 1 else 1.0
    vector: list[float] = (middle / (length or 1.0)).tolist()
    return vector


RETRIEVE_DENSE = retrieval("dense", summary="nearest chunks, and questions of Q&A pairs, by meaning", search=search)
