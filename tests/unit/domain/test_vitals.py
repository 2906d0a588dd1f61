"""What is wrong with a worker, told from what it says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streams.domain.vitals import COORDINATOR, NO_PROGRESS, REBALANCE, Vitals, stuck, unready

WELL = Vitals(processor="embed", joined=True, in_flight=3, oldest=2.0, time_limit=60.0)


def test_a_worker_at_work_is_alive_and_ready() -> None:
    assert (stuck(WELL), unready(WELL)) == ((), ())


@pytest.mark.parametrize(
    ("field", "limit", "says"),
    [
        ("moving", REBALANCE, "rebalancing"),
        ("leaderless", COORDINATOR, "no group coordinator"),
        ("unread", NO_PROGRESS, "none came"),
        ("unbegun", NO_PROGRESS, "none is in work"),
        ("oldest", 6 * 60.0, "in work"),
    ],
)
def test_what_lasts_too_long_needs_a_restart(field: str, limit: float, says: str) -> None:
    assert stuck(replace(WELL, **{field: limit})) == ()
    (problem,) = stuck(replace(WELL, **{field: limit + 1}))
    assert says in problem
    assert f"{limit + 1:.0f} s" in problem
    assert problem in unready(replace(WELL, **{field: limit + 1}))


def test_what_cannot_go_on_needs_a_restart() -> None:
    assert stuck(replace(WELL, failed="no space")) == ("cannot go on: no space",)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"joined": False}, "not yet in its group"),
        ({"stopping": True}, "stopping"),
        ({"moving": 3.0}, "rebalancing"),
        ({"waiting": 7.0}, "waiting for a store or a model for 7 s"),
    ],
)
def test_what_passes_makes_it_unready_and_is_no_reason_to_restart(changes: dict[str, object], says: str) -> None:
    vitals = replace(WELL, **changes)  # type: ignore[arg-type]
    assert stuck(vitals) == ()
    assert unready(vitals) == (says,)


def test_a_store_that_is_away_for_hours_is_no_reason_to_restart() -> None:
    assert stuck(replace(WELL, oldest=None, waiting=10_000.0)) == ()
