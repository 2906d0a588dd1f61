"""A profile: the configuration of a whole search, as data."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from schemas.chunks import Level
from schemas.queries import Leg

Positive = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=60)]


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which legs run, how much each may return, how they are fused and how long it may take."""

    name: str
    summary: str
    legs: tuple[Leg, ...]
    levels: tuple[Level, ...] = ("parent", "child")  # what the dense leg searches
    candidates: Positive = 30  # per leg
    rrf_k: Positive = 60
    # What passages are ordered by: the fused ranks, or P(relevant) where there are weights for the embedder.
    score: Literal["fused", "relevance"] = "fused"
    passages: Positive = 5  # returned unless the question says otherwise
    budget: Seconds = 5.0  # until the deadline, unless the question brings one
    legs_budget: Seconds = 2.0  # how long a slow leg is waited for
