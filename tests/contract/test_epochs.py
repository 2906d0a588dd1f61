"""Epochs: they move with whatever a tenant's questions may see, and belong to that tenant."""

from __future__ import annotations

from tests.contract.building import change, deletion
from tests.contract.stores import Stores


async def test_an_unknown_tenant_has_had_no_change(stores: Stores) -> None:
    assert await stores.epochs.current("acme") == 0


async def test_the_epoch_moves_with_flips_and_accepted_deletions_and_not_before(stores: Stores) -> None:
    await stores.accept(change(1, "one"))
    assert await stores.epochs.current("acme") == 0
    await stores.put(change(1, "one"))
    first = await stores.epochs.current("acme")
    await stores.accept(deletion(2))
    second = await stores.epochs.current("acme")
    await stores.put(deletion(2))
    assert 0 < first < second < await stores.epochs.current("acme")


async def test_a_change_can_be_counted_by_hand_and_concerns_one_tenant(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    await stores.put(change(1, "one", tenant="other"))
    before = await stores.epochs.current("acme"), await stores.epochs.current("other")
    await stores.epochs.bump("acme")
    await stores.epochs.bump("third")
    assert (await stores.epochs.current("acme"), await stores.epochs.current("other")) == (before[0] + 1, before[1])
    assert await stores.epochs.current("third") == 1
