"""Fitting: finds what made the labels, counts sets alike, and is calibrated."""

from __future__ import annotations

import numpy as np
import pytest

from streams.domain.relevance import MEASURED, Model, derived, raw_score, relevance
from streams.quality.fitting import Labelled, fit, unanswered

NAMES = ("cosine", "coverage", "length")


def questions(count: int, *, by: str, seed: int, answered: float = 1.0) -> list[Labelled]:
    """Make questions of 20 candidates, the one that is highest in a signal being right."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        measured = {name: rng.normal(0.0, 1.0, 20) for name in MEASURED}
        measured |= {"dense_rank": np.ones(20), "sparse_rank": np.ones(20), "terms": np.ones(20)}
        right = rng.random() < answered
        # A question without an answer has nothing that stands out.
        measured[by] = measured[by] + (np.eye(20)[rng.integers(20)] * 3.0 if right else 0.0)
        grades = np.zeros(20)
        grades[np.argmax(measured[by])] = float(right)
        made.append(Labelled(signals=derived(measured), grades=grades))
    return made


def first_is_right(model: Model, of: list[Labelled]) -> float:
    return float(np.mean([each.grades[np.argmax(raw_score(model, each.signals))] > 0 for each in of]))


def test_the_signal_that_made_the_labels_is_found_and_noise_gets_no_weight() -> None:
    model = fit([questions(200, by="coverage", seed=1)], NAMES)
    weight = {name: abs(each.weight) for name, each in model.signals.items()}
    assert weight["coverage"] > 10 * max(weight["cosine"], weight["length"])
    assert first_is_right(model, questions(200, by="coverage", seed=2)) > 0.95


def test_a_large_set_does_not_outvote_a_small_one() -> None:
    large, small = questions(600, by="cosine", seed=3), questions(30, by="coverage", seed=4)
    model = fit([large, small], NAMES)
    assert model.signals["coverage"].weight == pytest.approx(model.signals["cosine"].weight, rel=0.35)


def test_chances_are_calibrated_and_tell_questions_without_an_answer_apart() -> None:
    model = fit([questions(600, by="cosine", seed=5, answered=0.5)], NAMES)
    fresh = questions(600, by="cosine", seed=6, answered=0.5)
    top = np.array([relevance(model, each.signals).max() for each in fresh])
    answered = np.array([each.grades.any() for each in fresh])
    # The chance that a question with an answer is surer than one without.
    assert np.mean([(top[answered] > each).mean() for each in top[~answered]]) > 0.85
    assert (top[answered] > 0.5).mean() > 0.9


def test_it_ends_where_the_labels_can_be_told_apart_perfectly() -> None:
    model = fit([questions(3, by="coverage", seed=7)], NAMES)
    assert all(np.isfinite(each.weight) for each in model.signals.values())


def test_a_question_without_what_is_relevant_to_it_is_seen_as_the_search_would_see_it() -> None:
    (question,) = questions(1, by="cosine", seed=8)
    left = unanswered(question)
    assert left is not None
    right = int(np.argmax(question.grades))
    others = np.delete(question.signals["cosine"], right)
    assert left.signals["cosine"].tolist() == others.tolist()
    assert left.signals["cosine_gap"].tolist() == pytest.approx((others - others.max()).tolist())
    assert not left.grades.any()
    assert unanswered(Labelled(signals=question.signals, grades=np.ones(20))) is None
