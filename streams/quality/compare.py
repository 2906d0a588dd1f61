"""Two runs on the same questions, compared pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from streams.errors import Invalid
from streams.quality import metrics, significance
from streams.quality.results import QueryResult

COMPARED = ("Hit@1", "Hit@5", "MRR@5", "nDCG@10")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How one metric differs between two runs, over the questions that both have."""

    metric: str
    ours: float  # mean
    theirs: float  # mean
    won: tuple[str, ...]  # questions, the largest gain first
    lost: tuple[str, ...]
    p: float  # McNemar's exact test for Hit@k, else the sign-flip permutation test
    interval: tuple[float, float] | None  # 95 % bootstrap interval of the mean difference; none for Hit@k

    @property
    def verdict(self) -> str:
        differing = len(self.won) + len(self.lost)
        if differing and not significance.is_detectable(differing):
            return "not detectable"
        if self.p < significance.ALPHA:
            return "better" if self.ours > self.theirs else "worse"
        return "no difference shown"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two runs compared; questions that only one of them has are counted and left out."""

    pairs: int
    only_ours: int
    only_theirs: int
    differences: tuple[Difference, ...]

    @property
    def detectable(self) -> bool:
        """Whether the set is large enough to show anything at all."""
        return significance.is_detectable(self.pairs)


def compare(ours: Sequence[QueryResult], theirs: Sequence[QueryResult], *, seed: int = significance.SEED) -> Comparison:
    """Compare two runs of one set; raise Invalid when they share no question, or their gold differs."""
    other = {result.query_id: result for result in theirs}
    pairs = [(result, other[result.query_id]) for result in ours if result.query_id in other]
    if not pairs:
        raise Invalid("it has no question of this set", field="against")
    if moved := [mine.query_id for mine, yours in pairs if mine.gold != yours.gold]:
        raise Invalid(f"the gold of {len(moved)} questions differs, {moved[0]!r} for one", field="against")
    return Comparison(
        pairs=len(pairs),
        only_ours=len(ours) - len(pairs),
        only_theirs=len(theirs) - len(pairs),
        differences=tuple(_difference(name, pairs, seed) for name in COMPARED),
    )


def _difference(name: str, pairs: Sequence[tuple[QueryResult, QueryResult]], seed: int) -> Difference:
    values = [(metrics.value(mine.metrics, name), metrics.value(yours.metrics, name)) for mine, yours in pairs]
    changes = [mine - yours for mine, yours in values]
    named = sorted(((change, mine.query_id) for change, (mine, _) in zip(changes, pairs, strict=True)), reverse=True)
    won = tuple(query_id for change, query_id in named if change > 0)
    lost = tuple(query_id for change, query_id in reversed(named) if change < 0)
    yes_or_no = name in metrics.YES_OR_NO
    return Difference(
        metric=name,
        ours=fmean(mine for mine, _ in values),
        theirs=fmean(yours for _, yours in values),
        won=won,
        lost=lost,
        p=significance.mcnemar(len(won), len(lost)) if yes_or_no else significance.sign_flip(changes, seed=seed),
        interval=None if yes_or_no else significance.bootstrap_interval(changes, seed=seed),
    )
