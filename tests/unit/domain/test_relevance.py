"""P(relevant), as arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from schemas.replies import LegScore
from streams.adapters import profiles
from streams.adapters.onnx_embedder import MODEL
from streams.domain.relevance import (
    LEG_SIGNALS,
    MEASURED,
    UNKNOWN_IDF,
    Evidence,
    Model,
    Signal,
    Weights,
    confidence,
    coverage,
    derived,
    inverse_document_frequency,
    legs_of,
    relevance,
    signals,
)


def places(scores: dict[int, float]) -> dict[int, LegScore]:
    """Return a leg's list from its scores, best first."""
    return {number: LegScore(rank=rank, score=score) for rank, (number, score) in enumerate(scores.items(), start=1)}


def evidence(**fields: object) -> Evidence:
    given: dict[str, object] = {
        "candidates": 3,
        "lists": {"dense": places({0: 0.8, 1: 0.4}), "sparse": places({1: 6.0, 2: 3.0})},
        "terms": [(0,), (0, 1), ()],
        "lengths": [99, 199, 0],
        "idf": [1.0, 3.0],
    }
    return Evidence(**{**given, **fields})  # type: ignore[arg-type]


def chance(weights: Weights, given: Evidence) -> np.ndarray:
    return relevance(weights.models[legs_of(given)], signals(given))


def test_coverage_weighs_terms_by_how_rare_they_are() -> None:
    assert coverage(evidence()).tolist() == [1 / 4, 4 / 4, 0.0]


def test_idf_is_that_of_bm25_and_a_usual_one_where_nobody_counted() -> None:
    assert inverse_document_frequency([2], 10, 1) == [math.log(1 + (10 - 2 + 0.5) / (2 + 0.5))]
    assert inverse_document_frequency([], 0, 2) == [UNKNOWN_IDF, UNKNOWN_IDF]
    assert inverse_document_frequency([12], 10, 1) == [math.log(1 + 0.5 / 12.5)]


def test_signals_say_what_each_leg_says_of_each_candidate() -> None:
    seen = signals(evidence())
    assert seen["cosine"].tolist() == [0.8, 0.4, 0.4]  # not found: at most the list's last
    assert seen["cosine_gap"].tolist() == pytest.approx([0.0, -0.4, -0.4])
    assert seen["bm25_idf"].tolist() == [0.0, 6 / 4, 3 / 4]  # not found in a list that was not cut: none
    assert seen["bm25_gap"].tolist() == [0.0 - 6 / 4, 0.0, 3 / 4 - 6 / 4]
    assert seen["length"].tolist() == pytest.approx([math.log(100), math.log(200), 0.0])
    assert seen["dense_rank"].tolist() == pytest.approx([61 / 61, 61 / 62, 0.0])
    assert seen["sparse_rank"].tolist() == pytest.approx([0.0, 61 / 61, 61 / 62])
    assert seen["dense_z"].tolist() == pytest.approx([1.0, -1.0, -1.0], abs=1e-4)
    assert seen["coverage_terms"].tolist() == pytest.approx([math.log(3) / 4, math.log(3), 0.0])


def only(name: str, **fields: object) -> Model:
    """A model of one signal, whose best candidate is as likely as not."""
    given = {"signals": {name: Signal(center=0.0, scale=1.0, weight=1.0)}, "slope": 1.0, "offset": 0.0}
    return Model(**{**given, "calibration": {}, **fields})  # type: ignore[arg-type]


def logistic(level: float) -> float:
    return 1 / (1 + math.exp(-level))


def test_a_leg_that_is_silent_has_a_model_of_its_own() -> None:
    weights = Weights(
        embedder="m",
        fitted_on=(),
        models={
            "dense+sparse": only("bm25_idf"),
            "dense": only("cosine"),
            "sparse": only("bm25_idf"),
            "": only("coverage"),
        },
    )
    alone = evidence(lists={"dense": places({0: 0.8, 1: 0.4})})
    assert chance(weights, alone).tolist() == pytest.approx([logistic(x - 0.8) for x in (0.8, 0.4, 0.4)])
    neither = evidence(lists={})
    assert chance(weights, neither).tolist() == pytest.approx([logistic(x - 1.0) for x in (0.25, 1.0, 0.0)])


def test_what_tells_of_an_answer_moves_the_level_and_never_the_order() -> None:
    plain = only("cosine", slope=2.0)
    lifted = only("cosine", slope=2.0, offset=-1.0, calibration={"cosine": 0.7, "bm25_lead": 0.5})
    by_name = {
        name: chance(Weights(embedder="m", fitted_on=(), models={"dense+sparse": model}), evidence())
        for name, model in (("plain", plain), ("lifted", lifted))
    }
    lead = 6 / 4 - (6 / 4 + 3 / 4 + 0) / 10
    assert by_name["lifted"][0] == pytest.approx(logistic(-1.0 + 0.7 * 0.8 + 0.5 * lead))
    assert by_name["lifted"][1] == pytest.approx(logistic(2.0 * (0.4 - 0.8) - 1.0 + 0.7 * 0.8 + 0.5 * lead))
    assert np.argsort(by_name["plain"]).tolist() == np.argsort(by_name["lifted"]).tolist()


def test_what_tells_of_an_answer_is_how_the_best_stands_out() -> None:
    assert confidence(signals(evidence())) == {
        "cosine": 0.8,
        "cosine_coverage": pytest.approx(max(0.8 * 1 / 4, 0.4 * 4 / 4, 0.0)),
        "bm25_lead": pytest.approx(6 / 4 - (6 / 4 + 3 / 4 + 0) / 10),
    }


def test_signals_can_be_worked_out_again_from_those_that_were_measured() -> None:
    seen = signals(evidence())
    again = derived({name: seen[name] for name in MEASURED})
    assert {name: values.tolist() for name, values in again.items()} == {
        name: values.tolist() for name, values in seen.items()
    }


def test_every_signal_of_a_leg_is_zero_where_that_leg_is_absent() -> None:
    for leg, others in (("dense", "sparse"), ("sparse", "dense")):
        full = evidence()
        alone = evidence(lists={others: full.lists[others]})
        seen = signals(alone)
        assert all(not seen[name].any() for name in LEG_SIGNALS[leg]), leg
        assert set(LEG_SIGNALS[leg]) < set(seen)


def test_the_shipped_weights_fit_the_shipped_embedder_and_prefer_what_both_legs_like() -> None:
    weights = profiles.weights()[MODEL]
    assert set(weights.models) == {"dense+sparse", "dense", "sparse", ""}
    both = evidence(
        lists={"dense": places({0: 0.7, 1: 0.3, 2: 0.2}), "sparse": places({0: 9.0, 1: 2.0})},
        terms=[(0, 1), (0,), ()],
    )
    found = chance(weights, both)
    assert found.tolist() == sorted(found, reverse=True)
    assert ((found >= 0) & (found <= 1)).all()
