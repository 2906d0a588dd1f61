"""Metrics as arithmetic, and as trec_eval has them."""

from __future__ import annotations

import random
from math import log2

import ir_measures
import pytest
from ir_measures import R, Success, nDCG

from streams.quality import metrics

GOLD = {"a": 3, "b": 1, "c": 2, "no": 0}


def test_a_hit_is_anything_relevant_among_the_first_k() -> None:
    assert metrics.hit(["x", "b"], GOLD, 1) == 0.0
    assert metrics.hit(["x", "b"], GOLD, 2) == 1.0


def test_a_grade_of_0_is_no_hit() -> None:
    assert metrics.hit(["no"], GOLD, 5) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_relevant_one() -> None:
    assert metrics.reciprocal_rank(["x", "y", "b", "a"], GOLD, 5) == 1 / 3


def test_a_first_relevant_one_beyond_the_cut_counts_as_zero() -> None:
    assert metrics.reciprocal_rank(["1", "2", "3", "4", "5", "a"], GOLD, 5) == 0.0


def test_recall_is_a_share_of_all_relevant_ones() -> None:
    assert metrics.recall(["a", "x", "no"], GOLD, 10) == 1 / 3


def test_gain_is_linear_and_discounted_by_the_logarithm_of_the_rank() -> None:
    found = 1 / log2(2) + 0 / log2(3) + 3 / log2(4)
    best = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert metrics.ndcg(["b", "x", "a"], GOLD, 10) == pytest.approx(found / best)


def test_the_best_order_has_the_cut_as_well() -> None:
    assert metrics.ndcg(["a", "b"], GOLD, 1) == 1.0


def test_nothing_found_and_nothing_relevant_are_zero() -> None:
    zero = metrics.Metrics(hit_1=0.0, hit_5=0.0, mrr_5=0.0, ndcg_10=0.0, recall_10=0.0)
    assert metrics.measure([], GOLD) == zero
    assert metrics.measure(["a"], {"a": 0}) == zero


def test_a_metric_is_found_by_its_name() -> None:
    measured = metrics.measure(["x", "a"], {"a": 1})
    assert [metrics.value(measured, name) for name in metrics.NAMES] == [0, 1, 1 / 2, 1 / log2(3), 1]


def test_they_are_those_of_trec_eval() -> None:
    dice = random.Random(7)
    ids = [f"d{number}" for number in range(40)]
    gold = {f"q{q}": {each: dice.randint(0, 4) for each in dice.sample(ids, 15)} for q in range(50)}
    rankings = {query: dice.sample(ids, dice.randint(1, 30)) for query in gold}
    wanted = (Success @ 1, Success @ 5, nDCG @ 10, R @ 10)
    runs = {query: {each: 1 / rank for rank, each in enumerate(found, 1)} for query, found in rankings.items()}
    theirs = {(found.query_id, str(found.measure)): found.value for found in ir_measures.iter_calc(wanted, gold, runs)}
    for query, ranking in rankings.items():
        ours = metrics.measure(ranking, gold[query])
        assert [ours.hit_1, ours.hit_5, ours.ndcg_10, ours.recall_10] == pytest.approx(
            [theirs[query, str(measure)] for measure in wanted], abs=1e-12
        )


def test_the_reciprocal_rank_is_that_of_trec_eval_on_the_first_five() -> None:
    dice = random.Random(8)
    ids = [f"d{number}" for number in range(12)]
    gold = {f"q{q}": {each: dice.randint(0, 1) for each in dice.sample(ids, 4)} | {"d0": 1} for q in range(50)}
    rankings = {query: dice.sample(ids, 12) for query in gold}
    runs = {query: {each: 1 / rank for rank, each in enumerate(found[:5], 1)} for query, found in rankings.items()}
    for found in ir_measures.iter_calc([ir_measures.RR], gold, runs):
        assert metrics.reciprocal_rank(rankings[found.query_id], gold[found.query_id], 5) == pytest.approx(found.value)
