"""From an Authorization header to a principal."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from streams.adapters.memory_keys import MemoryKeys
from streams.domain.api_keys import ApiKey
from streams.errors import StoreUnavailable, Unauthenticated
from streams.gateways import keys
from streams.gateways.keys import FRESH, STALE, Keys


class Counted(MemoryKeys):
    """A store that counts its readings and can be away."""

    def __init__(self) -> None:
        super().__init__()
        self.readings = 0
        self.away = False

    async def all(self, *, revoked: bool = False) -> Sequence[ApiKey]:
        self.readings += 1
        if self.away:
            raise StoreUnavailable("away")
        return await super().all(revoked=revoked)


class Clock:
    """A clock that stands until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_key_stands_for_its_tenant_agents_and_roles() -> None:
    store = MemoryKeys()
    key = await keys.create(store, tenant="acme", agents=["sales"])
    principal = await Keys(store).authenticate(f"bEaReR {key}")
    assert (principal.tenant, principal.agents, principal.roles) == ("acme", ("sales",), {"read"})
    assert principal.key_id == key.split("_")[1]


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer nonsense", "Bearer rsk_0_1"])
async def test_no_key_and_no_such_key_are_refused_without_reading_the_table(header: str | None) -> None:
    store = Counted()
    with pytest.raises(Unauthenticated):
        await Keys(store).authenticate(header)
    assert store.readings == 0


async def test_a_wrong_secret_and_an_unknown_id_are_told_alike() -> None:
    store = MemoryKeys()
    key = await keys.create(store, tenant="acme")
    wrong = key[:-43] + "A" * 43
    unknown = "rsk_000000000000_" + key[-43:]
    said = []
    for each in (wrong, unknown):
        with pytest.raises(Unauthenticated) as raised:
            await Keys(store).authenticate(f"Bearer {each}")
        said.append(str(raised.value))
    assert said[0] == said[1]


async def test_a_good_key_reads_the_table_every_two_seconds_and_a_flood_of_wrong_ones_twenty_times_a_second() -> None:
    store = Counted()
    doors = Keys(store)
    key = await keys.create(store, tenant="acme")
    for _ in range(100):
        await doors.authenticate(f"Bearer {key}")
    assert store.readings == 1
    wrong = [doors.authenticate(f"Bearer rsk_{number:012x}_{'A' * 43}") for number in range(100)]
    refused = await asyncio.gather(*wrong, return_exceptions=True)
    assert {type(error) for error in refused} == {Unauthenticated}
    assert store.readings <= 3


async def test_a_new_key_opens_from_the_moment_in_which_it_was_made() -> None:
    doors = Keys(store := MemoryKeys())
    for tenant in ("acme", "umbrella"):
        key = await keys.create(store, tenant=tenant)
        assert (await doors.authenticate(f"Bearer {key}")).tenant == tenant


async def test_a_revocation_and_a_new_key_hold_once_the_table_is_read_again() -> None:
    store, clock = Counted(), Clock()
    doors = Keys(store, clock=clock)
    old = await keys.create(store, tenant="acme")
    await doors.authenticate(f"Bearer {old}")
    await store.revoke(old.split("_")[1], datetime.now(UTC))
    new = await keys.create(store, tenant="acme")
    clock.now = FRESH
    await doors.authenticate(f"Bearer {new}")
    with pytest.raises(Unauthenticated, match="was revoked"):
        await doors.authenticate(f"Bearer {old}")


async def test_while_the_database_is_away_what_was_read_counts_for_a_while_and_then_nothing_does() -> None:
    store, clock = Counted(), Clock()
    doors = Keys(store, clock=clock)
    key = await keys.create(store, tenant="acme")
    await doors.authenticate(f"Bearer {key}")
    store.away = True
    clock.now = STALE
    await doors.authenticate(f"Bearer {key}")
    clock.now = STALE + 1
    with pytest.raises(StoreUnavailable):
        await doors.authenticate(f"Bearer {key}")
