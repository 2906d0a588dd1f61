"""Fitting: finds what made the labels, counts sets alike, and is calibrated."""

from __future__ import annotations

import numpy as np
import pytest

from streams.domain.relevance import Model, best_of_question, raw_score
from streams.quality.fitting import Labelled, fit

NAMES = ("cosine", "coverage", "noise")


def questions(count: int, *, by: str, seed: int, answered: float = 1.0) -> list[Labelled]:
    """Make questions of 20 candidates, the one that is highest in a signal being right."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        signals = {name: rng.normal(0.0, 1.0, 20) for name in (*NAMES, "bm25_idf", "cosine_coverage")}
        right = rng.random() < answered
        # A question without an answer has nothing that stands out.
        signals[by] = signals[by] + (np.eye(20)[rng.integers(20)] * 3.0 if right else 0.0)
        grades = np.zeros(20)
        grades[np.argmax(signals[by])] = float(right)
        made.append(Labelled(signals=signals, grades=grades))
    return made


def first_is_right(model: Model, of: list[Labelled]) -> float:
    return float(np.mean([each.grades[np.argmax(raw_score(model, each.signals))] > 0 for each in of]))


def chance(model: Model, of: Labelled) -> np.ndarray:
    best = best_of_question(of.signals)
    level = model.offset + sum(factor * best[name] for name, factor in model.calibration.items())
    return 1 / (1 + np.exp(-(model.slope * raw_score(model, of.signals) + level)))


def test_the_signal_that_made_the_labels_is_found_and_noise_gets_no_weight() -> None:
    model = fit([questions(200, by="coverage", seed=1)], NAMES)
    weight = {name: abs(each.weight) for name, each in model.signals.items()}
    assert weight["coverage"] > 10 * max(weight["cosine"], weight["noise"])
    assert first_is_right(model, questions(200, by="coverage", seed=2)) > 0.95


def test_a_large_set_does_not_outvote_a_small_one() -> None:
    large, small = questions(600, by="cosine", seed=3), questions(30, by="coverage", seed=4)
    model = fit([large, small], NAMES)
    assert model.signals["coverage"].weight == pytest.approx(model.signals["cosine"].weight, rel=0.35)


def test_chances_are_calibrated_and_tell_questions_without_an_answer_apart() -> None:
    model = fit([questions(600, by="coverage", seed=5, answered=0.5)], NAMES)
    fresh = questions(600, by="coverage", seed=6, answered=0.5)
    top = np.array([chance(model, each).max() for each in fresh])
    answered = np.array([each.grades.any() for each in fresh])
    assert top[answered].mean() > top[~answered].mean() + 0.3
    assert top.mean() == pytest.approx(answered.mean(), abs=0.1)


def test_it_ends_where_the_labels_can_be_told_apart_perfectly() -> None:
    model = fit([questions(3, by="coverage", seed=7)], NAMES)
    assert all(np.isfinite(each.weight) for each in model.signals.values())
