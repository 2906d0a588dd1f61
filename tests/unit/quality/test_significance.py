"""Significance as arithmetic, and as SciPy has it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from streams.quality import significance


@pytest.mark.parametrize(("wins", "losses"), [(6, 0), (8, 1), (10, 2)])
def test_so_many_wins_are_significant(wins: int, losses: int) -> None:
    assert significance.mcnemar(wins, losses) < significance.ALPHA
    assert significance.mcnemar(losses, wins) < significance.ALPHA


@pytest.mark.parametrize(("wins", "losses"), [(5, 0), (7, 1), (9, 2), (3, 3), (0, 0)])
def test_so_many_wins_are_not_significant(wins: int, losses: int) -> None:
    assert significance.mcnemar(wins, losses) >= significance.ALPHA


def test_p_is_twice_the_smaller_tail() -> None:
    assert significance.mcnemar(6, 0) == 2 / 2**6
    assert significance.mcnemar(8, 1) == 2 * (1 + 9) / 2**9
    assert significance.mcnemar(10, 2) == 2 * (1 + 12 + 66) / 2**12 == pytest.approx(0.039, abs=0.0005)
    assert significance.mcnemar(4, 4) == 1.0


def test_mcnemar_is_the_binomial_test_of_scipy() -> None:
    for wins in range(25):
        for losses in range(25):
            if wins + losses:
                theirs = stats.binomtest(wins, wins + losses, 0.5).pvalue
                assert significance.mcnemar(wins, losses) == pytest.approx(theirs, rel=1e-9)


def test_a_large_set_neither_overflows_nor_goes_above_one() -> None:
    assert significance.mcnemar(2_000, 2_001) == pytest.approx(1.0)


def test_a_few_differences_have_an_exact_p() -> None:
    # Of the 2^3 sign patterns, +++ and --- are as extreme as what was seen.
    assert significance.sign_flip([0.5, 0.25, 0.0, 0.125]) == 2 / 2**3


def test_differences_that_cancel_out_have_a_p_of_one() -> None:
    assert significance.sign_flip([0.3, -0.3]) == 1.0
    assert significance.sign_flip([0.0, 0.0]) == 1.0
    assert significance.sign_flip([]) == 1.0


def test_equal_sums_in_another_order_are_as_extreme() -> None:
    # 0.1 + 0.2 - 0.3 is not 0 in floating point, and is 0 here.
    assert significance.sign_flip([0.1, 0.2, -0.3]) == pytest.approx(1.0)


def test_the_sign_flip_test_is_the_permutation_test_of_scipy() -> None:
    generator = np.random.default_rng(3)
    for size, shift in ((8, 0.3), (12, 0.1), (60, 0.05), (400, 0.02)):
        differences = generator.normal(shift, 0.25, size)
        theirs = stats.permutation_test(
            (differences,), np.mean, permutation_type="samples", n_resamples=10_000, rng=np.random.default_rng(4)
        ).pvalue
        # Two samples of 10,000 patterns each; exact on both sides for the small ones.
        assert significance.sign_flip(list(differences)) == pytest.approx(theirs, abs=1e-9 if size < 14 else 0.025)


def test_the_bootstrap_interval_is_the_percentile_one_of_scipy() -> None:
    differences = np.random.default_rng(5).normal(0.02, 0.3, 300)
    theirs = stats.bootstrap(
        (differences,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(6)
    ).confidence_interval
    assert significance.bootstrap_interval(list(differences)) == pytest.approx((theirs.low, theirs.high), abs=0.003)


def test_the_interval_of_equal_differences_is_their_value() -> None:
    assert significance.bootstrap_interval([0.25] * 9) == (0.25, 0.25)
    assert significance.bootstrap_interval([]) == (0.0, 0.0)


def test_the_same_seed_gives_the_same_numbers() -> None:
    differences = list(np.random.default_rng(1).normal(0.1, 1, 50))
    assert significance.sign_flip(differences) == significance.sign_flip(differences)
    assert significance.bootstrap_interval(differences) == significance.bootstrap_interval(differences)
    assert significance.bootstrap_interval(differences) != significance.bootstrap_interval(differences, seed=1)


def test_six_pairs_are_the_least_that_can_show_anything() -> None:
    assert [significance.is_detectable(pairs) for pairs in (0, 5, 6)] == [False, False, True]
    assert [significance.fewest_wins(losses) for losses in (0, 1, 2)] == [6, 8, 10]
