"""The circuit breaker, as arithmetic."""

from __future__ import annotations

from streams.domain.breaker import FIRST_PAUSE, LONGEST_ASKED, LONGEST_PAUSE, THRESHOLD, Breaker


def opened(now: float = 0.0) -> Breaker:
    breaker = Breaker()
    for _ in range(THRESHOLD):
        breaker = breaker.failed(now)
    return breaker


def test_it_stays_closed_below_the_threshold_and_a_success_forgets_the_failures() -> None:
    breaker = Breaker()
    for _ in range(3):
        for _ in range(THRESHOLD - 1):
            breaker = breaker.failed(0.0)
            assert (breaker.state(0.0), breaker.wait(0.0)) == ("closed", 0.0)
        breaker = breaker.succeeded()
    assert breaker == Breaker()


def test_failures_in_a_row_open_it_for_the_first_pause() -> None:
    breaker = opened(100.0)
    assert (breaker.state(100.0), breaker.wait(100.0)) == ("open", FIRST_PAUSE)
    assert breaker.wait(100.0 + FIRST_PAUSE / 2) == FIRST_PAUSE / 2
    assert breaker.state(100.0 + FIRST_PAUSE) == "half-open"


def test_when_half_open_one_call_goes_through_and_no_second_one() -> None:
    breaker = opened().began(FIRST_PAUSE)
    assert breaker.state(FIRST_PAUSE) == "half-open"
    assert breaker.wait(FIRST_PAUSE) > 0
    assert breaker.succeeded().state(FIRST_PAUSE) == "closed"


def test_a_trial_whose_end_nobody_tells_is_followed_by_another() -> None:
    breaker = opened().began(FIRST_PAUSE)
    assert breaker.wait(FIRST_PAUSE + 2 * FIRST_PAUSE) == 0.0


def test_every_failed_trial_doubles_the_pause_up_to_the_longest() -> None:
    breaker, now, pauses = opened(), 0.0, []
    for _ in range(8):
        pauses.append(breaker.wait(now))
        now += breaker.wait(now)
        breaker = breaker.began(now).failed(now)
    assert pauses == [min(LONGEST_PAUSE, FIRST_PAUSE * 2**number) for number in range(8)]


def test_calls_that_were_on_their_way_when_it_opened_do_not_make_the_pause_longer() -> None:
    breaker = opened()
    assert breaker.failed(0.5).failed(0.6) == breaker


def test_an_endpoint_that_asks_to_be_left_alone_is_at_once_and_not_for_ever() -> None:
    assert Breaker().failed(0.0, asked=7.0).wait(0.0) == 7.0
    assert Breaker().failed(0.0, asked=1e9).wait(0.0) == LONGEST_ASKED
    assert opened().failed(1.0, asked=30.0).wait(1.0) == 30.0
    once = Breaker().failed(0.0, asked=7.0).began(7.0)
    assert once.succeeded() == Breaker()
