"""P(relevant): a small listwise linear model over the legs' own signals, calibrated.

The model of Cao et al., "Learning to Rank: From Pairwise Approach to Listwise Approach" (ICML 2007), with one linear
layer: a softmax over the candidates of a question, fitted to its labels. What it looks at needs no text and no model
call. A candidate's score is turned into a probability by a logistic function of how far it is below the best one and of
what tells that the question has an answer at all (Platt, 1999), so that one number means the same on every leg and for
every question: it orders, and carries a floor.

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

# What each scoring leg contributes to; the others need no leg but the candidates' texts.
LEG_SIGNALS: Mapping[str, frozenset[str]] = {
    "dense": frozenset(
        {"cosine", "cosine_gap", "dense_z", "dense_rank", "cosine_coverage", "z_z"}
        | {f"{name}_{of}" for name in ("dense_z", "cosine") for of in ("terms", "dense_peak", "sparse_peak")}
        | {"bm25_z_dense_peak", "coverage_dense_peak"}
    ),
    "sparse": frozenset(
        {"bm25_idf", "bm25_gap", "bm25_z", "sparse_rank", "z_z"}
        | {f"bm25_z_{of}" for of in ("terms", "dense_peak", "sparse_peak")}
        | {"dense_z_sparse_peak", "cosine_sparse_peak", "coverage_sparse_peak"}
    ),
}
CONSTANT = "terms"  # a signal that all candidates of a question share: it says nothing of their order
LEADERS = 10  # candidates that the lead of the best is measured against


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the legs say of a question's candidates; a candidate that a leg did not find is absent from it."""

    candidates: int
    lists: Mapping[str, Mapping[int, LegScore]]  # by list that ran: candidate to place
    terms: Sequence[Sequence[int]]  # by candidate: which of the question's terms it has
    lengths: Sequence[int]  # by candidate: characters of its text
    idf: Sequence[float]  # by term
    asked: int = 100  # candidates a leg: a list this long was cut, and what it lacks may have up to its last score


class Signal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one signal counts: (value - center) / scale × weight."""

    center: float
    scale: float
    weight: float


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fitted model: how the signals order candidates, and how likely the best of them is relevant."""

    signals: dict[str, Signal]
    slope: float  # how much less likely a candidate is for what it scores below the best
    offset: float
    calibration: dict[str, float]  # by name of `confidence`


class Weights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The models of one embedder, by the legs that took part: a leg that is silent has another model, not zeros."""

    embedder: str
    fitted_on: tuple[str, ...]
    models: dict[str, Model]  # by `MODELS`: the scoring legs that took part


MODELS = ("dense+sparse", "dense", "sparse", "")


def lacking(weights: Weights) -> tuple[str, ...]:
    """Return which models weights do not have, or which of their models look at a signal that there is not."""
    known = derived(dict.fromkeys(MEASURED, np.zeros(1))).keys()
    missing = tuple(f"models: has no {name!r}" for name in MODELS if name not in weights.models)
    unknown = tuple(
        f"models.{name}: {signal} is no signal"
        for name, model in weights.models.items()
        for signal in model.signals
        if signal not in known
    )
    return missing + unknown


def inverse_document_frequency(frequencies: Sequence[int], counted: int, terms: int) -> list[float]:
    """Return the IDF of each term as BM25 has it, or a usual one where nobody counted."""
    if len(frequencies) != terms or not counted:
        return [UNKNOWN_IDF] * terms
    return [math.log(1 + (max(counted, seen) - seen + 0.5) / (seen + 0.5)) for seen in frequencies]


def signals(evidence: Evidence) -> dict[str, Column]:
    """Return what the model may look at, by name, a value a candidate; what an absent leg would say is zero."""
    total = sum(evidence.idf) or 1.0
    cosine, dense_rank = _list(evidence, "dense", bounded=False)
    bm25, sparse_rank = _list(evidence, "sparse", bounded=True)
    return derived(
        {
            "cosine": cosine,
            "dense_rank": dense_rank,
            "bm25_idf": bm25 / total,
            "sparse_rank": sparse_rank,
            "coverage": coverage(evidence),
            "length": np.log1p(np.array(evidence.lengths, dtype=float)),
            CONSTANT: np.full(evidence.candidates, math.log1p(len(evidence.idf))),
        }
    )


MEASURED = ("cosine", "dense_rank", "bm25_idf", "sparse_rank", "coverage", "length", CONSTANT)


def derived(measured: Mapping[str, Column]) -> dict[str, Column]:
    """Return all signals from those that are `MEASURED`: how candidates stand in their lists, and products."""
    cosine, bm25, covered = measured["cosine"], measured["bm25_idf"], measured["coverage"]
    dense, sparse = _Spread.of(cosine, measured["dense_rank"]), _Spread.of(bm25, measured["sparse_rank"])
    plain = {
        **{name: measured[name] for name in MEASURED},
        "cosine_gap": cosine - dense.best,
        "dense_z": dense.z,
        "bm25_gap": bm25 - sparse.best,
        "bm25_z": sparse.z,
        "cosine_coverage": cosine * covered,
        "z_z": dense.z * sparse.z,
    }
    crossed = {
        f"{name}_{question}": plain[name] * value
        for question, value in (
            ("terms", measured[CONSTANT]),
            ("dense_peak", dense.peak),
            ("sparse_peak", sparse.peak),
        )
        for name in ("dense_z", "bm25_z", "coverage", "cosine")
    }
    return {**plain, **crossed}


def _list(evidence: Evidence, name: str, *, bounded: bool) -> tuple[Column, Column]:
    """Return a leg's scores and reciprocal ranks over all candidates.

    What it did not find has its list's last score, or none where the list was not cut, and no rank.
    """
    score, reciprocal = np.zeros(evidence.candidates), np.zeros(evidence.candidates)
    places = evidence.lists.get(name, {})
    if places:
        values = [each.score for each in places.values()]
        if not bounded or len(values) >= evidence.asked:
            score[:] = min(values)
        found = list(places)
        score[found] = values
        reciprocal[found] = [(RANK_K + 1) / (RANK_K + each.rank) for each in places.values()]
    return score, reciprocal


@dataclass(frozen=True)
class _Spread:
    """How the scores of a leg's own candidates are spread."""

    z: Column
    best: float
    peak: float  # how far the best stands above its list, in standard deviations

    @classmethod
    def of(cls, score: Column, reciprocal: Column) -> _Spread:
        """Read a leg's scores; those without a rank it did not find."""
        own = score[reciprocal > 0]
        if not len(own):
            return cls(z=np.zeros(len(score)), best=0.0, peak=0.0)
        spread, mean, best = float(own.std()) + 1e-6, float(own.mean()), float(own.max())
        return cls(z=np.clip((score - mean) / spread, -3.0, 6.0), best=best, peak=(best - mean) / spread)


def coverage(evidence: Evidence) -> Column:
    """Return the share of the question's terms that each candidate has, weighed by IDF; from 0 to 1."""
    total = sum(evidence.idf) or 1.0
    weight = evidence.idf.__getitem__
    return np.array([sum(map(weight, found)) / total for found in evidence.terms], dtype=float)


def relevance(model: Model, seen: Mapping[str, Column]) -> Column:
    """Return P(relevant) of every candidate, from what `signals` says of it."""
    raw = raw_score(model, seen)
    sure = confidence(seen)
    level = model.offset + sum(factor * sure[name] for name, factor in model.calibration.items())
    chance: Column = 1.0 / (1.0 + np.exp(-np.clip(model.slope * (raw - raw.max()) + level, -50, 50)))
    return chance


def legs_of(evidence: Evidence) -> str:
    """Return which model fits: named by those of the two scoring legs that took part."""
    return "+".join(leg for leg in ("dense", "sparse") if leg in evidence.lists)


def raw_score(model: Model, seen: Mapping[str, Column]) -> Column:
    """Return the model's score: it orders the candidates of one question, and says nothing across questions."""
    weighed = [(seen[name] - each.center) / each.scale * each.weight for name, each in model.signals.items()]
    total: Column = np.sum(weighed, axis=0, dtype=float)
    return total


def confidence(seen: Mapping[str, Column]) -> dict[str, float]:
    """Return what tells whether a question has an answer at all: it moves the level of its candidates, not their order.

    cosine, cosine_coverage: the highest there is. bm25_lead: how far the highest stands above the mean of the ten
    highest, those that are not there counting as none. So they hold for a small collection too.
    """
    return {
        "cosine": float(seen["cosine"].max()),
        "cosine_coverage": float(seen["cosine_coverage"].max()),
        "bm25_lead": float(seen["bm25_idf"].max() - np.sort(seen["bm25_idf"])[-LEADERS:].sum() / LEADERS),
    }
