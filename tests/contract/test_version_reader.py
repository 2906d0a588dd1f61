"""How versions stand: what of the log has still to be brought into a generation, and what is to be said of one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from schemas.documents import DocumentChange
from tests.contract.building import candidate, change, cut, deletion, receipt, scope
from tests.contract.stores import Stores

KEY = change(1).key


@pytest.fixture
async def both(stores: Stores) -> Stores:
    """A live generation, and one that is built."""
    live = await stores.generations.ensure(model="memory-hash", dimension=64, average_length=5.0)
    await stores.start(dataclasses.replace(live, id="g2"))
    return stores


async def accept(stores: Stores, of: DocumentChange, *, replayed: bool) -> Any:
    return await stores.versions.accept(dataclasses.replace(candidate(of, generation="g2"), replayed=replayed))


async def unreplayed(stores: Stores, version: int) -> bool:
    reader: Any = stores.versions
    answer: bool = await reader.unreplayed(KEY, version, "g2")
    return answer


async def test_what_a_generation_never_saw_is_brought_unless_something_later_is_live(both: Stores) -> None:
    assert await unreplayed(both, 1)
    await both.put(change(1, "one"))
    assert await unreplayed(both, 1)
    await both.accept(change(2, "two"))
    assert await unreplayed(both, 1)  # a pending version may fail yet
    await both.put(change(2, "two"))
    assert (await unreplayed(both, 1), await unreplayed(both, 2)) == (False, True)


async def test_what_was_deleted_since_is_not_brought(both: Stores) -> None:
    await both.put(change(1, "one"))
    await both.accept(deletion(2))
    assert (await unreplayed(both, 1), await unreplayed(both, 2)) == (False, True)


async def test_what_came_from_the_log_is_brought_again_until_it_is_live(both: Stores) -> None:
    page = change(1, "one")
    admission = await accept(both, page, replayed=True)
    assert admission.live is False
    assert await unreplayed(both, 1)
    for writer in ("text", "vectors"):
        await both.versions.complete(receipt(page, writer, generation="g2"))
    assert not await unreplayed(both, 1)
    assert (await accept(both, page, replayed=True)).live is True


async def test_what_came_as_a_change_is_seen_to_by_whoever_accepted_it(both: Stores) -> None:
    await accept(both, change(2, "one"), replayed=False)
    assert (await unreplayed(both, 1), await unreplayed(both, 2), await unreplayed(both, 3)) == (False, False, True)


async def test_a_version_stands_as_it_ended_and_nothing_is_said_before(both: Stores) -> None:
    reader: Any = both.versions
    page = change(1, "one")
    assert await reader.standing(KEY, 1, "g1") is None
    await both.accept(page)
    assert await reader.standing(KEY, 1, "g1") is None
    await both.put(page)
    said = await reader.standing(KEY, 1, "g1")
    assert (said.status, said.generation, said.version, said.chunks) == ("searchable", "g1", 1, len(cut(page)))
    second = change(2, "two")
    await both.accept(second)
    await both.publish(receipt(second, "vectors", error="too long"))
    said = await reader.standing(KEY, 2, "g1")
    assert (said.status, said.reason) == ("failed", "too long")
    await both.put(deletion(3))
    assert (await reader.standing(KEY, 3, "g1")).status == "deleted"
    assert await reader.standing(KEY, 1, "g1") is None


async def test_vectors_are_read_back_by_model_as_they_were_written(both: Stores) -> None:
    page = change(1, "one | two")
    await both.put(page)
    reader: Any = both.vectors
    ids = [chunk.id for chunk in cut(page)]
    absent = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    found = await reader.read("g1", [*ids, absent], ["memory-hash"])
    assert sorted(found) == sorted(ids)
    for chunk in cut(page):
        row = found[chunk.id]["memory-hash"]
        assert row.shape == (64,)
        assert float(row @ row) == pytest.approx(1.0, abs=2e-3)
        hits = await both.vectors.search_dense(scope(), row.tolist(), (), 9)
        assert {hit.chunk_id for hit in hits[:2]} == {each.id for each in cut(page) if each.body == chunk.body}
