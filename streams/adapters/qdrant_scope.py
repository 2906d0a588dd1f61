"""The one place where a scope becomes a Qdrant filter, and where a point's payload is made to fit it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qdrant_client import models

from schemas.chunks import Level, Part
from streams.domain.scope import Scope

EVERYONE = "*"  # in `audience`, for documents open to all agents; no agent's name has this form

# Every field that a filter reads is indexed.
FIELDS = ("tenant", "audience", "tags", "source", "level", "kind", "dirs")


def audience(agents: Sequence[str]) -> list[str]:
    """Return whom a chunk is for: one indexed list, where "no agents or this one" would need two conditions."""
    return sorted(set(agents)) or [EVERYONE]


def payload(part: Part, level: Level) -> dict[str, Any]:
    """Return what a chunk is filtered by."""
    return {
        "tenant": part.tenant,
        "audience": audience(part.agents),
        "tags": sorted(set(part.tags)),
        "source": part.source,
        "level": level,
        "kind": part.kind,
        "doc_id": part.doc_id,
        "dirs": directories(part.doc_id),
    }


def directories(doc_id: str) -> list[str]:
    """Return every directory that a doc id is under, with its closing slash."""
    steps = doc_id.split("/")[:-1]
    return ["".join(f"{step}/" for step in steps[: depth + 1]) for depth in range(len(steps))]


def visible(scope: Scope, levels: Sequence[Level] = ()) -> models.Filter:
    """Return the filter of a scope; without `levels`, chunks of any."""
    filters = scope.filters
    conditions = [
        models.FieldCondition(key="tenant", match=models.MatchValue(value=scope.tenant)),
        _any("audience", [EVERYONE] if scope.agent is None else [EVERYONE, scope.agent]),
    ]
    if scope.directory:
        conditions.append(models.FieldCondition(key="dirs", match=models.MatchValue(value=scope.directory)))
    lists = (("level", levels), ("source", filters.sources), ("tags", filters.tags), ("kind", filters.kinds))
    for key, wanted in lists:
        if wanted:
            conditions.append(_any(key, wanted))
    return models.Filter(must=list(conditions))


def owned(scope: Scope) -> models.Filter:
    """Return the filter of everything that a tenant has, visible to the agent or not: it weighs words only."""
    return models.Filter(must=[models.FieldCondition(key="tenant", match=models.MatchValue(value=scope.tenant))])


def _any(key: str, values: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))
