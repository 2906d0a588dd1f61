"""Reciprocal rank fusion.

Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
SIGIR 2009: each list gives a candidate 1 / (k + rank), ranks from 1, and the contributions add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def reciprocal_rank_fusion(rankings: Iterable[Sequence[str]], *, k: int = 60) -> dict[str, float]:
    """Return the fused score by id. Scores are relative: they order, and support no threshold.

    A ranking is best first and names an id once.
    """
    fused: dict[str, float] = {}
    for ranking in rankings:
        for rank, candidate in enumerate(ranking, start=1):
            fused[candidate] = fused.get(candidate, 0.0) + 1.0 / (k + rank)
    return fused
