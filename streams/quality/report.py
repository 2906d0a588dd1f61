"""What a run came to, in numbers and as plain text."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streams.quality import metrics, significance
from streams.quality.compare import Comparison, Difference
from streams.quality.results import QueryResult

NAMED = 20  # questions won or lost by name; the rest are counted


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A run in numbers."""

    questions: int
    means: Mapping[str, float]  # by the names of `metrics.NAMES`
    median_ms: float
    p95_ms: float
    zero_results: int  # replies without a passage, errors included
    degraded: int
    errors: int
    reasons: Mapping[str, int]  # of degraded and error replies


def summary(results: Sequence[QueryResult]) -> Summary:
    """Sum up a run of at least one question."""
    times = [result.ms for result in results]
    reasons = Counter(reason for result in results for reason in result.reasons)
    reasons.update(result.error for result in results if result.error is not None)
    return Summary(
        questions=len(results),
        means={
            name: statistics.fmean(metrics.value(result.metrics, name) for result in results) for name in metrics.NAMES
        },
        median_ms=float(np.quantile(times, 0.5)),
        p95_ms=float(np.quantile(times, 0.95)),
        zero_results=sum(not result.passages for result in results),
        degraded=sum(result.degraded for result in results),
        errors=sum(result.error is not None for result in results),
        reasons=reasons,
    )


def table(found: Summary) -> str:
    """Write the metrics, the latency and the shares."""
    lines = [f"{name:<13}{_figure(found.means[name])}" for name in metrics.NAMES]
    lines += [
        f"{'latency':<13}median {found.median_ms:.0f} ms, p95 {found.p95_ms:.0f} ms",
        f"{'zero results':<13}{_share(found.zero_results, found.questions)}",
        f"{'degraded':<13}{_share(found.degraded, found.questions)}",
        f"{'errors':<13}{_share(found.errors, found.questions)}",
    ]
    lines += [f"  {count} × {reason}" for reason, count in Counter(found.reasons).most_common(5)]
    return "\n".join(lines)


def comparison(found: Comparison, name: str) -> str:
    """Write how this run differs from an earlier one, called `name`."""
    return "\n".join(_comparison(found, name))


def _comparison(found: Comparison, name: str) -> Iterator[str]:
    yield f"against {name}: {found.pairs} questions in both{_left_out(found)}"
    head = f"{'metric':<9}{'this':>6}{'that':>7}{'change':>8}{'wins':>6}{'losses':>8}{'p':>9}"
    yield f"{head}  {'95 % interval':<16}  verdict"
    for each in found.differences:
        interval = "" if each.interval is None else f"{_signed(each.interval[0])} to {_signed(each.interval[1])}"
        yield (
            f"{each.metric:<9}{_figure(each.ours):>6}{_figure(each.theirs):>7}{_signed(each.ours - each.theirs):>8}"
            f"{len(each.won):>6}{len(each.lost):>8}{_p(each.p):>9}  {interval:<16}  {each.verdict}"
        )
    if not found.detectable:
        yield f"{found.pairs} questions are too few: not even a win on each of them would be significant"
    elif any(each.verdict == "not detectable" for each in found.differences):
        yield (
            f"not detectable: so few questions differ that no outcome would be significant; it takes "
            f"{significance.fewest_wins(0)} wins without a loss, or {significance.fewest_wins(1)} with one"
        )
    for each in found.differences:
        yield from _by_name(each)


def _by_name(each: Difference) -> Iterator[str]:
    for word, names in (("won", each.won), ("lost", each.lost)):
        if names:
            more = f" … and {len(names) - NAMED} more" if len(names) > NAMED else ""
            yield f"{each.metric} {word}: {' '.join(names[:NAMED])}{more}"


def _left_out(found: Comparison) -> str:
    parts = [
        f"{count} only in {where}" for count, where in ((found.only_ours, "this"), (found.only_theirs, "that")) if count
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _figure(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("+0.", "+.").replace("-0.", "-.")


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else _figure(value)


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({100 * count / of:.1f} %)"
