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

from schemas.replies import LegScore

Column = NDArray[np.float64]  # a number a candidate

UNKNOWN_IDF = 5.0  # of every term, where nobody counted them
RANK_K = 60  # of the rank signals, as in reciprocal rank fusion

# What each leg contributes to; the others need no leg but the candidates' texts.
LEG_SIGNALS: Mapping[str, frozenset[str]] = {
    "dense": frozenset(
        {"cosine", "cosine_gap", "dense_z", "dense_rank", "cosine_coverage", "z_z"}
        | {f"{name}_{of}" for name in ("dense_z", "cosine") for of in ("terms", "dense_peak", "sparse_peak")}
        | {"bm25_z_dense_peak", "coverage_dense_peak"}
    ),
    "sparse": frozenset(
        {"bm25_share", "bm25_z", "bm25_idf", "sparse_rank", "z_z"}
        | {f"bm25_z_{of}" for of in ("terms", "dense_peak", "sparse_peak")}
        | {"dense_z_sparse_peak", "cosine_sparse_peak", "coverage_sparse_peak"}
    ),
}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the legs say of a question's candidates; a candidate that a leg did not find is absent from it."""

    candidates: int
    lists: Mapping[str, Mapping[int, LegScore]]  # by list that ran: candidate to place
    terms: Sequence[Sequence[int]]  # by candidate: which of the question's terms it has
    idf: Sequence[float]  # by term
    asked: int = 100  # candidates a leg: a list this long was cut, and what it lacks may have up to its last score


class Signal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one signal counts: (value - center) / scale × weight."""

    center: float
    scale: float
    weight: float


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fitted model; `calibration` weighs what the question found at best."""

    signals: dict[str, Signal]
    slope: float
    offset: float
    calibration: dict[str, float]


class Weights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The models of one embedder, by the legs that took part: a leg that is silent has another model, not zeros."""

    embedder: str
    fitted_on: tuple[str, ...]
    models: dict[str, Model]  # "dense+sparse", "dense", "sparse", "" (neither)


def inverse_document_frequency(frequencies: Sequence[int], counted: int, terms: int) -> list[float]:
    """Return the IDF of each term as BM25 has it, or a usual one where nobody counted."""
    if len(frequencies) != terms or not counted:
        return [UNKNOWN_IDF] * terms
    return [math.log(1 + (max(counted, seen) - seen + 0.5) / (seen + 0.5)) for seen in frequencies]


def signals(evidence: Evidence) -> dict[str, Column]:
    """Return what the model may look at, by name, a value a candidate; what an absent leg would say is zero."""
    dense = _Leg.of(evidence, "dense", bounded=False)
    sparse = _Leg.of(evidence, "sparse", bounded=True)
    total = sum(evidence.idf) or 1.0
    covered = coverage(evidence)
    plain = {
        "cosine": dense.score,
        "cosine_gap": dense.score - dense.best,
        "dense_z": dense.z,
        "dense_rank": dense.reciprocal,
        "bm25_share": sparse.score / (sparse.best or 1.0),
        "bm25_z": sparse.z,
        "bm25_idf": sparse.score / total,
        "sparse_rank": sparse.reciprocal,
        "coverage": covered,
        "cosine_coverage": dense.score * covered,
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
        """Read a leg; what it did not find has its list's last score, or none where the list was not cut."""
        places = evidence.lists.get(name, {})
        if not places:
            nothing = np.zeros(evidence.candidates)
            return cls(score=nothing, z=nothing, reciprocal=nothing, best=0.0, peak=0.0)
        found = list(places)
        values = np.array([each.score for each in places.values()], dtype=float)
        lowest = 0.0 if bounded and len(values) < evidence.asked else float(values.min())
        score = np.full(evidence.candidates, lowest)
        score[found] = values
        reciprocal = np.zeros(evidence.candidates)
        reciprocal[found] = [(RANK_K + 1) / (RANK_K + each.rank) for each in places.values()]
        spread, mean, best = float(values.std()) + 1e-6, float(values.mean()), float(values.max())
        z = np.clip((score - mean) / spread, -3.0, 6.0)
        return cls(score=score, z=z, reciprocal=reciprocal, best=best, peak=(best - mean) / spread)


def coverage(evidence: Evidence) -> Column:
    """Return the share of the question's terms that each candidate has, weighed by IDF; from 0 to 1."""
    total = sum(evidence.idf) or 1.0
    weight = evidence.idf.__getitem__
    return np.array([sum(map(weight, found)) / total for found in evidence.terms], dtype=float)


def relevance(model: Model, seen: Mapping[str, Column]) -> Column:
    """Return P(relevant) of every candidate, from what `signals` says of it."""
    best = best_of_question(seen)
    level = model.offset + sum(factor * best[name] for name, factor in model.calibration.items())
    return 1.0 / (1.0 + np.exp(-np.clip(model.slope * raw_score(model, seen) + level, -50, 50)))


def legs_of(evidence: Evidence) -> str:
    """Return which model fits: named by those of the two scoring legs that took part."""
    return "+".join(leg for leg in ("dense", "sparse") if leg in evidence.lists)


def raw_score(model: Model, seen: Mapping[str, Column]) -> Column:
    """Return the model's score: it orders the candidates of one question, and says nothing across questions."""
    weighed = [(seen[name] - each.center) / each.scale * each.weight for name, each in model.signals.items()]
    total: Column = np.sum(weighed, axis=0, dtype=float)
    return total


def best_of_question(seen: Mapping[str, Column]) -> dict[str, float]:
    """Return what a question found at best: the same for all its candidates, so it moves the level, not the order."""
    return {name: float(seen[name].max()) for name in ("cosine", "coverage", "bm25_idf", "cosine_coverage")}
