"""Sums of what was recorded: buckets as OpenTelemetry has them, and no more points than labels have values."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streams.telemetry.aggregates import Aggregates
from streams.telemetry.instruments import BATCH_SIZE, DEAD_LETTERS


@given(st.lists(st.floats(0, 200)))
def test_every_value_is_in_the_bucket_of_the_first_bound_that_it_does_not_exceed(values: list[float]) -> None:
    aggregates = Aggregates()
    for value in values:
        aggregates.record(BATCH_SIZE, value, {"kind": "queries"})
    for point in aggregates.points().get(BATCH_SIZE, ()):
        assert (point.count, sum(point.buckets)) == (len(values), len(values))
        assert (point.least, point.most) == (min(values), max(values))
        for place, bound in enumerate(BATCH_SIZE.bounds):
            assert sum(point.buckets[: place + 1]) == sum(value <= bound for value in values)


def test_values_that_are_not_listed_share_one_point() -> None:
    aggregates = Aggregates()
    for number in range(100):
        aggregates.record(DEAD_LETTERS, 1, {"topic": f"topic-of-{number}", "error_class": "decode"})
    aggregates.record(DEAD_LETTERS, 2, {"topic": "queries", "error_class": "decode"})
    found = {point.labels["topic"]: point.sum for point in aggregates.points()[DEAD_LETTERS]}
    assert found == {"other": 100, "queries": 2}


def test_what_is_returned_does_not_change_any_more() -> None:
    aggregates = Aggregates()
    aggregates.record(BATCH_SIZE, 3, {"kind": "pairs"})
    [point] = aggregates.points()[BATCH_SIZE]
    aggregates.record(BATCH_SIZE, 3, {"kind": "pairs"})
    assert (point.count, point.buckets[2]) == (1, 1)
