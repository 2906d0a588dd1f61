"""Fits what streams/domain/relevance.py scores with: a listwise linear model, then its calibration. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streams.domain.relevance import MEASURED, Model, Signal, confidence, derived, raw_score

Matrix = NDArray[np.float64]

RIDGE = 1e-3  # L2 penalty on the standardised weights
STEPS = 30
JUDGED = 10  # candidates of a question, best first, that calibration looks at
RELEVANT = 1 / 3  # of the weight of calibration; with it, chances agree best with how often the first is right
UNANSWERED = 1 / 3  # of the weight of calibration: questions whose relevant candidates were taken away


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A question's candidates: their signals by name, and their grades (0: not relevant)."""

    signals: Mapping[str, Matrix]  # each of shape (candidates,)
    grades: Matrix
    places: tuple[str, ...] = ()  # the document or section that each candidate counts as
    gold: Mapping[str, int] = field(default_factory=dict)
    embedder: str | None = None  # that answered


def unanswered(question: Labelled) -> Labelled | None:
    """Return the question as it would be if nothing relevant to it had been there; none where nothing is left."""
    rest = question.grades == 0
    if not rest.any():
        return None
    measured = {name: question.signals[name][rest] for name in MEASURED}
    return Labelled(signals=derived(measured), grades=question.grades[rest])


def fit(sets: Sequence[Sequence[Labelled]], names: Sequence[str]) -> Model:
    """Fit the model of these signals to labelled sets, each of which counts the same."""
    every = np.concatenate([_matrix(question, names) for questions in sets for question in questions])
    center, scale = every.mean(axis=0), every.std(axis=0) + 1e-9
    weight = _listwise(sets, names, center, scale)
    signals = {
        name: Signal(center=float(center[place]), scale=float(scale[place]), weight=float(weight[place]))
        for place, name in enumerate(names)
    }
    return _calibrated(Model(signals=signals, slope=1.0, offset=0.0, calibration={}), sets)


def _matrix(question: Labelled, names: Sequence[str]) -> Matrix:
    return np.stack([question.signals[name] for name in names], axis=1)


def _listwise(sets: Sequence[Sequence[Labelled]], names: Sequence[str], center: Matrix, scale: Matrix) -> Matrix:
    """Minimise the cross entropy between the softmax over a question's candidates and its grades; Newton's method."""
    lists = [
        ((_matrix(question, names) - center) / scale, question.grades / question.grades.sum(), 1 / (len(sets) * count))
        for questions in sets
        for count in (sum(question.grades.sum() > 0 for question in questions),)
        for question in questions
        if question.grades.sum() > 0
    ]

    def loss(weight: Matrix) -> float:
        total = RIDGE / 2 * float(weight @ weight)
        for values, target, share in lists:
            score = values @ weight
            highest = score.max()
            total += share * float(highest + np.log(np.exp(score - highest).sum()) - target @ score)
        return total

    def step(weight: Matrix) -> Matrix:
        gradient, curvature = RIDGE * weight, RIDGE * np.eye(len(names))
        for values, target, share in lists:
            score = values @ weight
            chance = np.exp(score - score.max())
            chance /= chance.sum()
            mean = chance @ values
            gradient += share * (mean - target @ values)
            curvature += share * ((values * chance[:, None]).T @ values - np.outer(mean, mean))
        return np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)

    return _descended(loss, step, len(names))


def _descended(loss: Callable[[Matrix], float], step: Callable[[Matrix], Matrix], size: int) -> Matrix:
    """Minimise a convex loss from zero; a Newton step that goes too far is halved until it gains."""
    weight = np.zeros(size)
    lowest = loss(weight)
    for _ in range(STEPS):
        whole = step(weight)
        for halving in range(20):
            tried = weight - whole / 2**halving
            if (reached := loss(tried)) < lowest:
                weight, lowest = tried, reached
                break
        else:
            break
        if np.abs(whole).max() < 1e-6:
            break
    return weight


def _calibrated(model: Model, sets: Sequence[Sequence[Labelled]]) -> Model:
    """Fit P(relevant) as a logistic function of how far a candidate is below the best, and of what tells of an answer.

    Platt scaling, on the questions as they are and without what is relevant to them. In each set
    a third of the weight is relevant, so that a chance does not depend on how many candidates somebody labelled.
    """
    blocks: list[Matrix] = []
    for questions in sets:
        without = [left for question in questions if (left := unanswered(question)) is not None]
        rows = [
            _judged(model, question, weight / len(lists))
            for lists, weight in ((questions, 1 - UNANSWERED), (without, UNANSWERED))
            for question in lists
        ]
        block = np.concatenate(rows)
        for label, prior in ((1.0, RELEVANT), (0.0, 1 - RELEVANT)):
            of = block[:, -2] == label
            block[of, -1] *= prior / (len(sets) * max(float(block[of, -1].sum()), 1e-9))
        blocks.append(block)
    table = np.concatenate(blocks)
    values, relevant, share = table[:, :-2], table[:, -2], table[:, -1]
    ridge = RIDGE * 0.01

    def loss(factor: Matrix) -> float:
        level = values @ factor
        return float(share @ (np.logaddexp(0, level) - relevant * level)) + ridge / 2 * float(factor @ factor)

    def step(factor: Matrix) -> Matrix:
        chance = 1 / (1 + np.exp(-np.clip(values @ factor, -50, 50)))
        gradient = values.T @ (share * (chance - relevant)) + ridge * factor
        curvature = (values * (share * chance * (1 - chance))[:, None]).T @ values
        found = np.linalg.solve(curvature + ridge * np.eye(len(factor)), gradient)
        return np.asarray(found, dtype=np.float64)

    factor = _descended(loss, step, values.shape[1])
    names = confidence(sets[0][0].signals)
    return Model(
        signals=model.signals,
        slope=float(factor[0]),
        offset=float(factor[1]),
        calibration=dict(zip(names, factor[2:].tolist(), strict=True)),
    )


def _judged(model: Model, question: Labelled, weight: float) -> Matrix:
    """Return a row for each of a question's best candidates: its level, what tells of an answer, label and weight."""
    raw = raw_score(model, question.signals)
    sure = confidence(question.signals)
    best = np.argsort(-raw)[:JUDGED]
    rows = np.empty((len(best), len(sure) + 4))
    rows[:, 0], rows[:, 1] = raw[best] - raw.max(), 1.0
    rows[:, 2:-2] = list(sure.values())
    rows[:, -2] = question.grades[best] > 0
    rows[:, -1] = weight / len(best)
    return rows
