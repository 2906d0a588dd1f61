"""Reciprocal rank fusion, as arithmetic."""

from __future__ import annotations

import pytest

from streams.domain.fusion import agreement, reciprocal_rank_fusion


def test_a_passage_that_tops_one_list_gets_one_sixty_first() -> None:
    assert reciprocal_rank_fusion({"dense": ["a"]}) == {"a": 1 / 61}


def test_rank_three_in_two_lists_beats_rank_one_in_one() -> None:
    fused = reciprocal_rank_fusion({"dense": ["x", "y", "both"], "sparse": ["z", "w", "both"]})
    assert fused["both"] == pytest.approx(2 / 63)
    assert max(fused, key=lambda each: fused[each]) == "both"


def test_contributions_add_up_over_lists() -> None:
    fused = reciprocal_rank_fusion({"dense": ["a", "b"], "sparse": ["b", "a"], "qa": ["b"]}, k=60)
    assert fused["a"] == pytest.approx((1 / (60 + 1)) + (1 / (60 + 2)))
    assert fused["b"] == pytest.approx((1 / (60 + 2)) + (1 / (60 + 1)) + (1 / (60 + 1)))


def test_no_lists_give_no_scores() -> None:
    assert reciprocal_rank_fusion({}) == {}


def test_rank_eight_of_a_list_of_eight_is_worth_one_sixty_eighth() -> None:
    assert reciprocal_rank_fusion({"dense": "abcdefgh"})["h"] == 1 / 68


def test_ranks_from_zero_and_k_of_two_are_those_of_qdrant() -> None:
    fused = reciprocal_rank_fusion({"dense": ["a", "b"], "sparse": ["b"]}, k=2, first=0)
    assert fused == {"a": 1 / 2, "b": 1 / 3 + 1 / 2}


def test_a_weight_counts_for_its_list_and_goes_with_it() -> None:
    weights = {"dense": 2.0, "sparse": 0.0}
    assert reciprocal_rank_fusion({"dense": ["a"], "sparse": ["b"], "qa": ["b"]}, weights=weights) == {
        "a": 2 / 61,
        "b": 0 / 61 + 1 / 61,
    }
    assert reciprocal_rank_fusion({"qa": ["b"]}, weights=weights) == {"b": 1 / 61}


def test_agreement_is_the_share_of_what_the_first_of_all_lists_would_have() -> None:
    assert agreement(1 / 61 + 1 / 61, ["dense", "sparse"]) == 1.0
    assert agreement(1 / 61, ["dense", "sparse"]) == 1 / 2
    assert agreement(1 / 62 + 1 / 63, ["dense", "sparse"]) == pytest.approx((1 / 62 + 1 / 63) / (2 / 61))
    assert agreement(1 / 61, ["dense", "sparse"], weights={"sparse": 3.0}) == 1 / 4
    assert agreement(0.0, []) == 0.0
