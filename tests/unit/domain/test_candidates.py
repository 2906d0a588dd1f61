"""What legs found, passage by passage."""

from __future__ import annotations

import pytest

from schemas.queries import Hit
from schemas.replies import LegScore
from streams.domain.candidates import by_meaning, gather
from tests.unit.domain.questions import passage, result


def places(**scores: float) -> dict[int, LegScore]:
    """A list from scores by `n<number>`, best first."""
    return {
        int(name[1:]): LegScore(rank=rank, score=score) for rank, (name, score) in enumerate(scores.items(), start=1)
    }


def scores(found: dict[int, LegScore]) -> list[tuple[int, int, float]]:
    return [(number, place.rank, place.score) for number, place in found.items()]


def test_a_nearer_question_lifts_its_pair_half_of_the_way() -> None:
    dense, questions = places(n0=0.8, n1=0.75, n2=0.5), places(n1=0.95, n2=0.45)
    assert scores(by_meaning({"dense": dense, "questions": questions})) == [
        (1, 1, pytest.approx((0.75 + 0.95) / 2)),
        (0, 2, 0.8),
        (2, 3, 0.5),
    ]


def test_a_pair_beyond_the_dense_list_counts_from_its_last_score_on_and_not_at_all_below_it() -> None:
    dense, questions = places(n0=0.8, n1=0.6), places(n2=0.7, n3=0.59)
    assert scores(by_meaning({"dense": dense, "questions": questions})) == [
        (0, 1, 0.8),
        (2, 2, pytest.approx((0.6 + 0.7) / 2)),
        (1, 3, 0.6),
    ]


def test_without_questions_the_dense_list_is_what_it_is() -> None:
    dense = places(n0=0.8)
    assert by_meaning({"dense": dense}) is dense
    assert by_meaning({}) == {}
    assert scores(by_meaning({"questions": places(n3=0.4)})) == [(3, 1, 0.2)]


def test_a_leg_that_ran_without_finding_anything_has_an_empty_list_and_one_that_did_not_run_has_none() -> None:
    found = gather(
        {
            "dense": result("dense", "a"),
            "sparse": result("sparse"),
            "qa": result("qa", status="skipped", reason="no words"),
            "graph": result("graph", status="error"),
        },
        {"a": passage("a")},
    )
    assert set(found.lists) == {"dense", "sparse"}
    assert found.lists["sparse"] == {}


def test_hits_of_an_unlisted_leg_are_no_candidates_and_stale_ones_are_counted() -> None:
    dense = result("dense", "a", questions=(Hit(chunk_id="gone", score=0.5),))
    found = gather({"dense": dense, "graph": result("graph", "b", "lost")}, {"a": passage("a"), "b": passage("b")},
                   unlisted=("graph",))  # fmt: skip
    assert [each.passage_id for each in found.passages] == ["a"]
    assert found.stale == {"dense": 1, "graph": 1}
