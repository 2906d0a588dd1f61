"""The join of leg results: any order, any loss, any repeat."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streams.domain.join import Join, wait_until
from tests.unit.domain.questions import expected, prepared, result

RECORDS = [expected(), result("dense", "a"), result("sparse"), result("fulltext", "b")]


@given(st.lists(st.integers(0, 3), max_size=12))
def test_a_join_is_complete_exactly_when_the_question_and_all_its_legs_have_come(arrivals: list[int]) -> None:
    join = Join()
    come: set[int] = set()
    for number in arrivals:
        assert join.add(RECORDS[number]) == (number not in come)
        come.add(number)
        assert join.complete == (come == {0, 1, 2, 3})


def test_the_first_result_of_a_leg_counts() -> None:
    join = Join()
    join.add(result("dense", "first"))
    join.add(result("dense", "second"))
    assert join.results["dense"].hits[0].chunk_id == "first"


def test_a_slow_leg_is_waited_for_no_longer_than_its_budget() -> None:
    assert wait_until(expected(), legs_budget=2.0) == 102.0


def test_time_is_kept_back_from_a_near_deadline() -> None:
    near = expected(query=prepared(deadline=101.0))
    assert wait_until(near, legs_budget=2.0) == 101.0 - 0.15
    nearer = expected(query=prepared(deadline=100.2))
    assert abs(wait_until(nearer, legs_budget=2.0) - (100.2 - 0.05)) < 1e-9


def test_a_question_that_expired_on_its_way_is_not_waited_for() -> None:
    assert wait_until(expected(query=prepared(deadline=99.0)), legs_budget=2.0) <= 99.25
