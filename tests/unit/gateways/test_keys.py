"""From an Authorization header to a principal."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from streams.adapters.memory_keys import MemoryKeys
from streams.domain.api_keys import ApiKey, Principal
from streams.errors import StoreUnavailable, Unauthenticated
from streams.gateways import keys
from streams.gateways.keys import FRESH, PAUSE, STALE, Keys
from streams.gateways.unknown_keys import AGAIN


class Counted(MemoryKeys):
    """A store that counts its readings and can be away, which it says when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.readings = self.look_ups = self.at_once = self.most_at_once = 0
        self.away = False
        self.let = asyncio.Event()
        self.let.set()

    async def all(self, *, revoked: bool = False) -> Sequence[ApiKey]:
        self.readings += 1
        await self._answer()
        return await super().all(revoked=revoked)

    async def some(self, key_ids: Sequence[str]) -> Sequence[ApiKey]:
        self.look_ups += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self._answer()
        finally:
            self.at_once -= 1
        return await super().some(key_ids)

    async def _answer(self) -> None:
        await self.let.wait()
        if self.away:
            raise StoreUnavailable("away")


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
    assert store.readings == store.look_ups == 0


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


async def test_good_keys_read_the_table_every_two_seconds_and_a_flood_of_wrong_ones_looks_up_all_at_once() -> None:
    store, clock = Counted(), Clock()
    doors = Keys(store, clock=clock)
    key = await keys.create(store, tenant="acme")
    for _ in range(100):
        await doors.authenticate(f"Bearer {key}")
    wrong = [doors.authenticate(f"Bearer rsk_{number:012x}_{'A' * 43}") for number in range(100)]
    refused = await asyncio.gather(*wrong, return_exceptions=True)
    assert {type(error) for error in refused} == {Unauthenticated}
    assert (store.readings, store.look_ups) == (1, 1)
    clock.now = FRESH
    await doors.authenticate(f"Bearer {key}")
    assert store.readings == 2


async def test_wrong_keys_that_come_while_others_are_looked_up_wait_for_one_look_up_more() -> None:
    store, clock = Counted(), Clock()
    doors = Keys(store, clock=clock)
    await doors.authenticate(f"Bearer {await keys.create(store, tenant='acme')}")
    store.let.clear()
    asking = []
    for number in range(10):
        clock.now += 2 * AGAIN
        asking.append(asyncio.create_task(doors.authenticate(f"Bearer rsk_{number:012x}_{'A' * 43}")))
        await _turns()
    store.let.set()
    refused = await asyncio.gather(*asking, return_exceptions=True)
    assert {type(error) for error in refused} == {Unauthenticated}
    assert (store.look_ups, store.most_at_once) == (2, 1)


async def _turns() -> None:
    """Let every task go on as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


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


async def _away_with_ten_callers(now: float) -> tuple[Counted, Clock, Keys, str, list[asyncio.Task[Principal]]]:
    """A database that was heard at 0 and does not say for long that it is away; ten wait since `now`."""
    store, clock = Counted(), Clock()
    doors = Keys(store, clock=clock)
    key = await keys.create(store, tenant="acme")
    await doors.authenticate(f"Bearer {key}")
    store.away, clock.now = True, now
    store.let.clear()
    asking = [asyncio.create_task(doors.authenticate(f"Bearer {key}")) for _ in range(10)]
    await _turns()
    return store, clock, doors, key, asking


async def test_ten_callers_wait_together_for_one_reading_that_fails() -> None:
    store, _, _, _, asking = await _away_with_ten_callers(FRESH)
    store.let.set()
    assert {principal.tenant for principal in await asyncio.gather(*asking)} == {"acme"}
    assert store.readings == 2


async def test_after_a_reading_that_failed_nobody_waits_for_the_next_one_while_the_cache_counts() -> None:
    store, clock, doors, key, asking = await _away_with_ten_callers(FRESH)
    store.let.set()
    await asyncio.gather(*asking)
    store.let.clear()  # whoever waited for the database would now wait without end
    for clock.now, readings in ((FRESH + PAUSE / 2, 2), (FRESH + PAUSE, 3), (STALE, 3)):
        asking = [asyncio.create_task(doors.authenticate(f"Bearer {key}")) for _ in range(10)]
        await _turns()
        assert [task.result().tenant for task in asking] == ["acme"] * 10
        assert store.readings == readings
    store.away = False
    store.let.set()
    await _turns()
    await store.revoke(key.split("_")[1], datetime.now(UTC))
    clock.now = STALE + FRESH
    with pytest.raises(Unauthenticated):
        await doors.authenticate(f"Bearer {key}")


async def test_once_the_cache_is_too_old_ten_callers_are_refused_after_one_reading_and_then_at_once() -> None:
    store, clock, doors, key, asking = await _away_with_ten_callers(STALE + 1)
    store.let.set()
    for _ in range(2):
        failed = await asyncio.gather(*asking, return_exceptions=True)
        assert [type(error) for error in failed] == [StoreUnavailable] * 10
        assert store.readings == 2
        store.let.clear()
        asking = [asyncio.create_task(doors.authenticate(f"Bearer {key}")) for _ in range(10)]
        await _turns()
        assert all(task.done() for task in asking)
    await asyncio.gather(*asking, return_exceptions=True)
    store.away, clock.now = False, STALE + 1 + PAUSE
    store.let.set()
    assert (await doors.authenticate(f"Bearer {key}")).tenant == "acme"


async def test_a_key_that_is_not_known_is_not_called_wrong_while_the_database_is_away_and_costs_it_little() -> None:
    store, clock, doors, _, asking = await _away_with_ten_callers(FRESH)
    store.let.set()
    await asyncio.gather(*asking)
    new = await keys.create(store, tenant="acme")
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await doors.authenticate(f"Bearer {new}")
    assert store.look_ups == 1
    store.away, clock.now = False, FRESH + PAUSE
    assert (await doors.authenticate(f"Bearer {new}")).tenant == "acme"


async def test_who_leaves_ends_no_reading_that_others_wait_for() -> None:
    store, clock = Counted(), Clock()
    doors = Keys(store, clock=clock)
    key = await keys.create(store, tenant="acme")
    store.let.clear()
    first, second = (asyncio.create_task(doors.authenticate(f"Bearer {key}")) for _ in range(2))
    await _turns()
    first.cancel()
    store.let.set()
    assert (await second).tenant == "acme"
