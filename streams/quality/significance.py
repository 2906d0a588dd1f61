"""Is the difference between two runs on the same questions more than luck?

Yes-or-no metrics: the exact test of McNemar. Others: a bootstrap interval and a sign-flip permutation test on the
differences of the pairs (Smucker, Allan and Carterette, "A Comparison of Statistical Significance Tests for Information
Retrieval Evaluation", CIKM 2007). All are two-sided; the same seed gives the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

ALPHA = 0.05
RESAMPLES = 10_000
SEED = 20_020
_BLOCK = 2_000_000  # numbers drawn at once; bounds the memory

Floats = npt.NDArray[np.float64]


def mcnemar(wins: int, losses: int) -> float:
    """Return p of McNemar's exact test: both directions of the pairs that differ are as likely, Binomial(n, 1/2)."""
    differing = wins + losses
    tail = sum(math.comb(differing, count) for count in range(min(wins, losses) + 1))
    p: float = 2 * tail / 2**differing
    return min(1.0, p)


def sign_flip(differences: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> float:
    """Return p of the permutation test that flips the signs of paired differences at random, by their mean.

    Where there are no more sign patterns than `resamples`, every one of them is tried, and p is exact.
    """
    values = np.asarray([each for each in differences if each != 0.0])
    if values.size == 0:
        return 1.0
    observed = abs(values.sum()) * (1 - 1e-9)  # sums of the same numbers in another order differ in the last bit
    if 2**values.size <= resamples:
        patterns = np.arange(2**values.size)[:, None] >> np.arange(values.size) & 1
        return float(np.mean(np.abs((2 * patterns - 1) @ values) >= observed))
    generator = np.random.default_rng(seed)
    extreme = sum(
        int(np.count_nonzero(np.abs((2.0 * generator.integers(0, 2, (rows, values.size)) - 1) @ values) >= observed))
        for rows in _blocks(resamples, values.size)
    )
    return (1 + extreme) / (1 + resamples)  # what was observed is one of the patterns


def bootstrap_interval(
    differences: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED, level: float = 0.95
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean difference; (0, 0) without any pair."""
    values: Floats = np.asarray(differences, dtype=np.float64)
    if values.size == 0:
        return 0.0, 0.0
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [
            values[generator.integers(0, values.size, (rows, values.size))].mean(axis=1)
            for rows in _blocks(resamples, values.size)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def is_detectable(differing: int) -> bool:
    """Tell whether `differing` pairs could be significant at all: even if every one of them went the same way."""
    return mcnemar(differing, 0) < ALPHA


def fewest_wins(losses: int) -> int:
    """Return how many wins make so many losses significant: 6 for none, 8 for one, 10 for two."""
    wins = losses + 1
    while mcnemar(wins, losses) >= ALPHA:
        wins += 1
    return wins


def _blocks(rows: int, columns: int) -> Iterator[int]:
    """Cut `rows` into blocks of at most _BLOCK numbers."""
    step = max(1, _BLOCK // columns)
    for start in range(0, rows, step):
        yield min(step, rows - start)
