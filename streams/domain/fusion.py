"""Reciprocal rank fusion.

Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
SIGIR 2009: each list gives a candidate 1 / (k + rank), ranks from 1 and k = 60, and the contributions add up. Qdrant's
own fusion is the same with ranks from 0 and k = 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeVar

C = TypeVar("C", bound=Hashable)

K = 60
FIRST = 1


def reciprocal_rank_fusion(
    rankings: Mapping[str, Iterable[C]], *, k: int = K, first: int = FIRST, weights: Mapping[Any, float] | None = None
) -> dict[C, float]:
    """Return the fused score by candidate. Scores are relative: they order, and support no threshold.

    rankings: by list, candidates best first, each once. first: the number of the first rank. weights: by list, 1 where
    absent; a list that is not there, or is empty, takes its weight with it.
    """
    fused: dict[C, float] = {}
    for name, ranking in rankings.items():
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        for rank, candidate in enumerate(ranking, start=first):
            fused[candidate] = fused.get(candidate, 0.0) + weight / (k + rank)
    return fused


def agreement(
    fused: float, lists: Iterable[str], *, k: int = K, first: int = FIRST, weights: Mapping[Any, float] | None = None
) -> float:
    """Return a fused score as a share of what a candidate would have that is first in all `lists`; from 0 to 1."""
    most = sum(1.0 if weights is None else weights.get(name, 1.0) for name in lists) / (k + first)
    return fused / most if most else 0.0
