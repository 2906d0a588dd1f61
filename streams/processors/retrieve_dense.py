"""retrieve-dense: embeds a question once and searches chunks, and the questions of Q&A pairs, with its vector."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.chunks import SparseVector
from schemas.queries import Hit, PreparedQuery
from streams.domain import lexical, normalise, scope
from streams.domain.generation import named
from streams.domain.profile import Profile
from streams.errors import (
    ConfigurationError,
    Invalid,
    ModelUnavailable,
    NoVectors,
    RankstreamError,
    StoreUnavailable,
    Transient,
)
from streams.ports import Embedder, Generations, LexicalModel, VectorIndex, Vectors
from streams.processors.legs import Found, looks_at, retrieval

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `retrieve-dense` needs."""

    embedder: Callable[[str], Awaitable[Embedder]]  # by name; the empty one is the live generation's main embedder
    vectors: VectorIndex
    profiles: Mapping[str, Profile]
    generations: Generations | None = None  # whose further models stand in for one that fails; none: no model does


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What a model says of a question."""

    model: str
    vector: Sequence[float]
    weights: SparseVector | None  # none: it gives none, or none are wanted


async def search(query: PreparedQuery, deps: Deps) -> Found:
    """Return the chunks nearest to the question, by cosine; with the leg `qa`, the nearest questions of pairs too.

    Where the profile wants them, passages by the model's lexical weights are one more list.
    """
    profile, where = deps.profiles[query.profile], scope.of(query)
    names = (query.embedder, *await _further(query, deps))
    asked = await _embedded(query, names, profile, deps)
    model, vector = asked.model, asked.vector
    lists = [profile.levels]
    if "qa" in profile.legs and looks_at(query, "qa"):
        lists.append(("question",))
    searches = (deps.vectors.search_dense(where, vector, each, query.candidates, model=model) for each in lists)
    found, (weighed, lacking) = await asyncio.gather(
        asyncio.gather(*searches), _by_weights(query, asked, deps) if profile.lexical else _nothing()
    )
    fallback = f"fallback: {model} instead of {query.embedder}" if query.embedder not in ("", model) else None
    return Found(
        found[0],
        questions=found[1] if len(found) > 1 else (),
        lexical=weighed,
        model=model,
        fallback="; ".join(filter(None, (fallback, lacking))) or None,
    )


async def _by_weights(query: PreparedQuery, asked: _Asked, deps: Deps) -> tuple[Sequence[Hit], str | None]:
    """Return the passages by the model's lexical weights, or why there are none: that fails no dense search."""
    if asked.weights is None:
        return (), f"{asked.model} gives no lexical weights"
    try:
        found = await deps.vectors.search_sparse(scope.of(query), asked.weights, query.candidates, model=asked.model)
    except NoVectors:
        return (), f"no lexical weights of {asked.model} in generation {query.generation}"
    except RankstreamError as error:
        log.warning("dense: the lexical weights were not searched: %s", error)
        return (), "the lexical weights were not searched"
    return found, None


async def _nothing() -> tuple[Sequence[Hit], None]:
    return (), None


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


async def _embedded(query: PreparedQuery, names: Sequence[str], profile: Profile, deps: Deps) -> _Asked:
    """Return what the first model that answers says of the question; raise ModelUnavailable when none does.

    Each has half of the time that is left, so that the next one's answer is not too late; the last has as long as the
    question has.
    """
    text = normalise.for_model(query.expanded or query.text)
    texts = [text, f"{text} {normalise.for_model(query.carried)}"] if query.carried else [text]
    until = time.monotonic() + profile.legs_budget
    for place, name in enumerate(names, start=1):
        last = place == len(names)
        weights: Sequence[SparseVector] = ()
        try:
            async with asyncio.timeout(None if last else max(0.0, until - time.monotonic()) / 2):
                embedder = await deps.embedder(name)
                if profile.lexical and isinstance(embedder, LexicalModel):
                    # One pass over the question gives both; another leg would need the model a second time.
                    rows, weights = await embedder.weigh_queries(texts)
                else:
                    rows = await embedder.embed_queries(texts)
            if rows.shape != (len(texts), embedder.dimension):
                raise Invalid(f"{embedder.model} gave vectors of shape {rows.shape} for a question", field="dimension")
            return _Asked(
                model=embedder.model, vector=_middle(rows), weights=lexical.middle(weights) if weights else None
            )
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
