"""Quotas: what a tenant may use at once, and again after a while."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain import quota
from streams.domain.quota import Quotas


def take(quotas: Quotas, tenant: str, amount: float, now: float) -> bool:
    """Use something, if anything is left."""
    allowed = quotas.allows(tenant, now)
    if allowed:
        quotas.charge(tenant, amount, now)
    return allowed


def test_a_tenant_may_use_its_burst_at_once_and_then_its_rate() -> None:
    quotas = Quotas(rate=10, burst=100)
    assert [take(quotas, "acme", 50, 0.0) for _ in range(3)] == [True, True, False]
    assert not take(quotas, "acme", 50, 0.0)
    assert take(quotas, "acme", 50, 1.0)  # 10 are there, and 40 are owed
    assert not take(quotas, "acme", 1, 5.0)  # 40 seconds' worth less 40: none
    assert take(quotas, "acme", 1, 5.1)


def test_what_was_refused_costs_nothing() -> None:
    quotas = Quotas(rate=1, burst=1)
    assert take(quotas, "acme", 1, 0.0)
    assert [take(quotas, "acme", 1_000, 0.0) for _ in range(5)] == [False] * 5
    assert take(quotas, "acme", 1, 1.0)


def test_a_document_larger_than_the_burst_passes_and_is_paid_for() -> None:
    quotas = Quotas(rate=10, burst=20)
    assert take(quotas, "acme", 1_020, 0.0)
    assert not take(quotas, "acme", 1, 100.0)
    assert take(quotas, "acme", 1, 100.1)


def test_tenants_do_not_pay_for_each_other() -> None:
    quotas = Quotas(rate=1, burst=10)
    assert take(quotas, "acme", 500, 0.0)
    assert take(quotas, "other", 10, 0.0)
    assert not take(quotas, "acme", 1, 0.0)


def test_a_clock_that_goes_back_gives_nothing() -> None:
    quotas = Quotas(rate=1, burst=10)
    assert take(quotas, "acme", 10, 100.0)
    assert not take(quotas, "acme", 1, 50.0)
    assert not take(quotas, "acme", 1, 100.0)
    assert take(quotas, "acme", 1, 101.0)


def test_no_more_tenants_are_remembered_than_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "MOST_TENANTS", 2)
    quotas = Quotas(rate=1, burst=1)
    for tenant in ("a", "b", "a", "c"):
        take(quotas, tenant, 1, 0.0)
    assert not take(quotas, "a", 1, 0.0)
    assert take(quotas, "b", 1, 0.0)  # forgotten


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(1, 30)), max_size=60))
def test_over_any_time_no_more_passes_than_the_burst_the_rate_and_one_document(steps: list[tuple[float, int]]) -> None:
    quotas = Quotas(rate=10, burst=40)
    now, passed = 0.0, 0
    for pause, amount in steps:
        now += pause
        passed += amount * take(quotas, "acme", amount, now)
        assert passed <= 40 + 10 * now + 30 + 1e-6
