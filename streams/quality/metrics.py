"""Metrics of one ranking against its gold: which places are right, and how early they come.

A ranking is a list of ids, best first, each once; gold gives a grade by id, and ids with a grade above 0 are relevant.
Definitions are those of trec_eval: nDCG has a linear gain (the grade itself, as `ndcg_cut` and ranx's `ndcg`), the
discount 1 / log2(rank + 1), and the ideal order of all gold in its denominator (Järvelin and Kekäläinen, "Cumulated
Gain-Based Evaluation of IR Techniques", 2002).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

NAMES = ("Hit@1", "Hit@5", "MRR@5", "nDCG@10", "Recall@10")
YES_OR_NO = ("Hit@1", "Hit@5")  # 0 or 1 for a question

Gold = Mapping[str, int]


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """The metrics of one question, each between 0 and 1; their names in JSON are those in NAMES."""

    hit_1: float = msgspec.field(name="Hit@1")
    hit_5: float = msgspec.field(name="Hit@5")
    mrr_5: float = msgspec.field(name="MRR@5")
    ndcg_10: float = msgspec.field(name="nDCG@10")
    recall_10: float = msgspec.field(name="Recall@10")


def measure(ranking: Sequence[str], gold: Gold) -> Metrics:
    """Return all metrics of a ranking; all are 0 where it holds nothing relevant."""
    return Metrics(
        hit_1=hit(ranking, gold, 1),
        hit_5=hit(ranking, gold, 5),
        mrr_5=reciprocal_rank(ranking, gold, 5),
        ndcg_10=ndcg(ranking, gold, 10),
        recall_10=recall(ranking, gold, 10),
    )


def value(metrics: Metrics, name: str) -> float:
    """Return the metric of one of NAMES."""
    found: float = msgspec.structs.astuple(metrics)[NAMES.index(name)]
    return found


def hit(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """Return 1 if anything relevant is among the first k, else 0."""
    return 1.0 if reciprocal_rank(ranking, gold, k) else 0.0


def reciprocal_rank(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """Return 1 / rank of the first relevant one among the first k, else 0."""
    for rank, found in enumerate(ranking[:k], start=1):
        if gold.get(found, 0) > 0:
            return 1.0 / rank
    return 0.0


def recall(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """Return the share of all relevant ones that is among the first k; 0 where nothing is relevant."""
    relevant = {wanted for wanted, grade in gold.items() if grade > 0}
    return len(relevant & set(ranking[:k])) / len(relevant) if relevant else 0.0


def ndcg(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """Return the discounted gain of the first k, as a share of the best possible one; 0 where nothing is relevant."""
    best = _discounted(sorted(gold.values(), reverse=True)[:k])
    return _discounted([gold.get(found, 0) for found in ranking[:k]]) / best if best else 0.0


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
