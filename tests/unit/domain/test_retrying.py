"""When an endpoint is asked again, as arithmetic."""

from __future__ import annotations

import pytest

from streams.domain.retrying import FIRST, LONGEST, asked_for, pause


def test_the_pause_is_any_share_of_an_exponential_one() -> None:
    assert [pause(attempt, 1.0) for attempt in (1, 2, 3)] == [FIRST, 2 * FIRST, 4 * FIRST]
    assert pause(3, 0.0) == 0.0
    assert pause(3, 0.5) == 2 * FIRST
    assert pause(1_000, 1.0) == LONGEST


def test_what_the_endpoint_asks_for_is_waited_in_full_and_spread() -> None:
    assert [pause(1, share, asked=20.0) for share in (0.0, 0.5, 1.0)] == [20.0, 20.5, 21.0]
    assert pause(1, 1.0, asked=0.0) == 0.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 3 ", 3.0),
        ("Thu, 01 Jan 1970 00:16:50 GMT", 10.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("9" * 40, 999_999_999.0),
        ("-5", None),
        ("soon", None),
        ("١٢", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_else_nothing(header: str | None, seconds: float | None) -> None:
    assert asked_for(header, 1_000.0) == seconds
