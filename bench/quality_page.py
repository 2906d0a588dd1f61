"""Writes QUALITY.md from measured questions: a row a set, a column a profile, with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from streams.quality import significance
from streams.quality.results import QueryResult

Results = Mapping[str, Sequence[QueryResult]]  # by profile

LEGS = ("dense", "bm25")
OURS, FIXED = "general", "rrf"

_BEGIN = """# Quality

Labelled sets through the whole pipeline, a tenant each; documents ranked by their best passage, no floor. The weights
of P(relevant) that `general` uses on a set are fitted to the *other* sets alone. `dense` and `bm25` are one leg alone,
`rrf` is both by reciprocal rank fusion with k = 60; `knowledge-base` returns 15 passages at most and has no reranker
here, and `support` finds 25 candidates a leg at most, by its own rules.
"""
_PAIRED = """Differences of nDCG@10 with 95 % bootstrap intervals and the p of a sign-flip permutation test. AUROC: how
well the top score tells a question from the same one with its relevant passages taken away."""


def page(measured: Mapping[str, Results], unanswered: Mapping[str, float], profiles: Sequence[str], how: str) -> str:
    """Return the page; `unanswered` is the AUROC by set, `how` the command that made it."""
    return "\n".join(_lines(measured, unanswered, profiles, how)) + "\n"


def _lines(
    measured: Mapping[str, Results], unanswered: Mapping[str, float], profiles: Sequence[str], how: str
) -> Iterator[str]:
    yield _BEGIN
    yield f"```\n{how}\n```"
    yield ""
    yield "## nDCG@10, with 95 % bootstrap intervals"
    yield ""
    yield from _table(("set (questions)", *profiles), _scores(measured, profiles))
    yield ""
    yield "## `general` against the best single leg and against rank fusion, in pairs"
    yield ""
    yield _PAIRED
    yield ""
    header = ("set", "best leg", "general − best leg", "p", "general − rrf", "p", "Hit@5 won : lost to rrf", "AUROC")
    yield from _table(header, _paired(measured, unanswered))


def _table(header: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|---|{'---:|' * (len(header) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _scores(measured: Mapping[str, Results], profiles: Sequence[str]) -> Iterator[Sequence[str]]:
    for name, results in measured.items():
        cells = []
        for profile in profiles:
            values = _ndcg(results[profile])
            low, high = significance.bootstrap_interval(values)
            cells.append(f"{fmean(values):.3f} [{low:.3f}, {high:.3f}]")
        yield (f"{name} ({len(results[OURS])})", *cells)
    means = [fmean(fmean(_ndcg(results[profile])) for results in measured.values()) for profile in profiles]
    yield ("mean", *(f"{mean:.3f}" for mean in means))


def _paired(measured: Mapping[str, Results], unanswered: Mapping[str, float]) -> Iterator[Sequence[str]]:
    gains: dict[str, list[float]] = {"leg": [], FIXED: []}
    for name, results in measured.items():
        best = max(LEGS, key=lambda leg: fmean(_ndcg(results[leg])))
        to_leg, to_fixed = (_differences(results[OURS], results[other]) for other in (best, FIXED))
        gains["leg"].append(fmean(to_leg))
        gains[FIXED].append(fmean(to_fixed))
        hits = [mine.metrics.hit_5 - other.metrics.hit_5 for mine, other in _pairs(results[OURS], results[FIXED])]
        won, lost = sum(hit > 0 for hit in hits), sum(hit < 0 for hit in hits)
        yield (
            name,
            best,
            *_difference(to_leg),
            *_difference(to_fixed),
            f"{won} : {lost} (p {significance.mcnemar(won, lost):.3f})",
            f"{unanswered[name]:.3f}",
        )
    mean = [f"{fmean(gains[of]):+.3f}" for of in ("leg", FIXED)]
    yield ("mean", "", mean[0], "", mean[1], "", "", f"{fmean(unanswered.values()):.3f}")


def _difference(values: Sequence[float]) -> tuple[str, str]:
    low, high = significance.bootstrap_interval(values)
    return f"{fmean(values):+.3f} [{low:+.3f}, {high:+.3f}]", f"{significance.sign_flip(values):.4f}"


def _ndcg(results: Sequence[QueryResult]) -> list[float]:
    return [result.metrics.ndcg_10 for result in results]


def _pairs(ours: Sequence[QueryResult], theirs: Sequence[QueryResult]) -> Iterator[tuple[QueryResult, QueryResult]]:
    others = {result.query_id: result for result in theirs}
    return ((mine, others[mine.query_id]) for mine in ours)


def _differences(ours: Sequence[QueryResult], theirs: Sequence[QueryResult]) -> list[float]:
    return [mine.metrics.ndcg_10 - other.metrics.ndcg_10 for mine, other in _pairs(ours, theirs)]
