"""P(relevant): a small listwise linear model over the legs' own signals, calibrated.

The model of Cao et al., "Learning to Rank: From Pairwise Approach to Listwise Approach" (ICML 2007), with one linear
layer: a softmax over the candidates of a question, fitted to its labels. What it looks at needs no text and no model
call. Its score is turned into a probability by a logistic function of the score and of what the question found at best
(Platt, 1999), so that one number means the same on every leg and for every question: it orders, and carries a floor.

The weights belong to an embedding model and are data (streams/profiles/weights), fitted by `rankstream calibrate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]  # a number a candidate

FULL = 100  # a list this long was cut: what it lacks may be anything up to its last score
UNKNOWN_IDF = 5.0  # of every term, where nobody counted them
RRF_K = 60


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the legs say of a question's candidates: `scores` and `ranks` by leg and candidate, absent where not found."""

    candidates: int
    scores: Mapping[str, Mapping[int, float]]
    ranks: Mapping[str, Mapping[int, int]]
    terms: Sequence[Sequence[int]]  # by candidate: which of the question's terms it has
    idf: Sequence[float]  # by term


class Weights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fitted model; `center`, `scale` and `weight` by signal, `calibration` by what the question found at best."""

    embedder: str
    fitted_on: tuple[str, ...]
    signals: dict[str, Signal]
    slope: float
    offset: float
    calibration: dict[str, float]


class Signal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one signal counts: (value - center) / scale × weight."""

    center: float
    scale: float
    weight: float


def inverse_document_frequency(frequencies: Sequence[int], counted: int, terms: int) -> list[float]:
    """Return the IDF of each term as BM25 has it, or a usual one where nobody counted."""
    if len(frequencies) != terms or not counted:
        return [UNKNOWN_IDF] * terms
    return [math.log(1 + (max(counted, seen) - seen + 0.5) / (seen + 0.5)) for seen in frequencies]


def signals(evidence: Evidence) -> dict[str, Column]:
    """Return what the model may look at, by name, a value a candidate; ranks and scores of absent legs count as none."""
    dense = _Leg.of(evidence, "dense", bounded=False)
    sparse = _Leg.of(evidence, "sparse", bounded=True)
    total = sum(evidence.idf) or 1.0
    coverage = np.array([sum(evidence.idf[term] for term in found) / total for found in evidence.terms], dtype=float)
    plain = {
        "cosine": dense.score,
        "cosine_gap": dense.score - dense.best,
        "dense_z": dense.z,
        "dense_rank": dense.reciprocal,
        "bm25_share": sparse.score / (sparse.best or 1.0),
        "bm25_z": sparse.z,
        "bm25_idf": sparse.score / total,
        "sparse_rank": sparse.reciprocal,
        "coverage": coverage,
        "cosine_coverage": dense.score * coverage,
        "z_z": dense.z * sparse.z,
    }
    crossed = {
        f"{name}_{question}": plain[name] * value
        for question, value in (
            ("terms", math.log1p(len(evidence.idf))),
            ("dense_peak", dense.peak),
            ("sparse_peak", sparse.peak),
        )
        for name in ("dense_z", "bm25_z", "coverage", "cosine")
    }
    return {**plain, **crossed}


@dataclass(frozen=True)
class _Leg:
    """One leg's scores over all candidates, and how its list is spread."""

    score: Column
    z: Column
    reciprocal: Column
    best: float
    peak: float  # how far the best stands above its list, in standard deviations

    @classmethod
    def of(cls, evidence: Evidence, name: str, *, bounded: bool) -> _Leg:
        """Read a leg; a candidate that it did not find has at most its list's last score (or none, if it was not cut)."""
        scores, ranks = evidence.scores.get(name, {}), evidence.ranks.get(name, {})
        if not scores:
            nothing = np.zeros(evidence.candidates)
            return cls(score=nothing, z=nothing, reciprocal=nothing, best=0.0, peak=0.0)
        values = np.fromiter(scores.values(), dtype=float)
        lowest = 0.0 if bounded and len(values) < FULL else float(values.min())
        score = np.full(evidence.candidates, lowest)
        score[list(scores)] = values
        reciprocal = np.zeros(evidence.candidates)
        reciprocal[list(ranks)] = (RRF_K + 1) / (RRF_K + np.fromiter(ranks.values(), dtype=float))
        spread, mean, best = float(values.std()) + 1e-6, float(values.mean()), float(values.max())
        z = np.clip((score - mean) / spread, -3.0, 6.0)
        return cls(score=score, z=z, reciprocal=reciprocal, best=best, peak=(best - mean) / spread)


def relevance(weights: Weights, evidence: Evidence) -> Column:
    """Return P(relevant) of every candidate."""
    if not evidence.candidates:
        return np.zeros(0)
    seen = signals(evidence)
    score = raw_score(weights, seen)
    best = best_of_question(seen)
    level = weights.offset + sum(factor * best[name] for name, factor in weights.calibration.items())
    return 1.0 / (1.0 + np.exp(-np.clip(weights.slope * score + level, -50, 50)))


def raw_score(weights: Weights, seen: Mapping[str, Column]) -> Column:
    """Return the model's score: it orders the candidates of one question, and says nothing across questions."""
    total: Column = sum(
        ((seen[name] - each.center) / each.scale * each.weight for name, each in weights.signals.items()),
        start=np.zeros(len(next(iter(seen.values())))),
    )
    return total


def best_of_question(seen: Mapping[str, Column]) -> dict[str, float]:
    """Return what a question found at best: the same for all its candidates, so that it moves the level, not the order."""
    return {name: float(seen[name].max()) for name in ("cosine", "coverage", "bm25_idf", "cosine_coverage")}
