"""Reciprocal rank fusion, as arithmetic."""

from __future__ import annotations

import pytest

from streams.domain.fusion import reciprocal_rank_fusion


def test_a_passage_that_tops_one_list_gets_one_sixty_first() -> None:
    assert reciprocal_rank_fusion([["a"]]) == {"a": 1 / 61}


def test_rank_three_in_two_lists_beats_rank_one_in_one() -> None:
    fused = reciprocal_rank_fusion([["x", "y", "both"], ["z", "w", "both"]])
    assert fused["both"] == pytest.approx(2 / 63)
    assert max(fused, key=lambda each: fused[each]) == "both"


def test_contributions_add_up_over_lists() -> None:
    fused = reciprocal_rank_fusion([["a", "b"], ["b", "a"], ["b"]], k=60)
    assert fused["a"] == pytest.approx((1 / (60 + 1)) + (1 / (60 + 2)))
    assert fused["b"] == pytest.approx((1 / (60 + 2)) + (1 / (60 + 1)) + (1 / (60 + 1)))


def test_no_lists_give_no_scores() -> None:
    assert reciprocal_rank_fusion([]) == {}
