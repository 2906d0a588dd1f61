"""The key under which an answer is kept: two questions share it only when the same search answers both."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from schemas.queries import Filters, PreparedQuery
from streams.domain.identity import length_prefixed
from streams.domain.profile import Profile


def answer_key(query: PreparedQuery, *, profile: Profile, models: Sequence[str], top_k: int, epoch: int) -> str:
    """Return `answers:<tenant>:<hex SHA-256>` of all that an answer depends on.

    That is what the legs are told (tenant, agent, generation, normalised question and what follows from it, filters),
    the whole profile, the models, the number of passages, and the epoch of the tenant's documents. Who asks, and until
    when, is left out. A field that is added to PreparedQuery or Profile is part of the key from then on.
    """
    asked = msgspec.structs.replace(query, query_id="", ticket="", deadline=0.0, filters=_unordered(query.filters))
    parts = (
        _text(asked),
        _text(profile),
        length_prefixed(tuple(models)),
        str(top_k),
        str(epoch),
    )
    return f"answers:{query.tenant}:{hashlib.sha256(length_prefixed(parts).encode()).hexdigest()}"


def _unordered(filters: Filters) -> Filters:
    """Return filters that are equal when they let the same through: each list is a set, a directory ends in a slash."""
    directory = filters.directory
    return Filters(
        sources=tuple(sorted(set(filters.sources))),
        tags=tuple(sorted(set(filters.tags))),
        directory=directory if not directory or directory.endswith("/") else f"{directory}/",
        kinds=tuple(sorted(set(filters.kinds))),
    )


def _text(part: PreparedQuery | Profile) -> str:
    return msgspec.json.encode(part, order="deterministic").decode()
