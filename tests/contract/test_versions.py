"""Versions: the guard, what a writer may still write, when a version flips, and what is left afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from streams.domain.versions import Verdict
from tests.contract.building import KEY, change, cut, deletion, receipt
from tests.contract.stores import Stores


async def test_only_a_lower_version_is_stale(stores: Stores) -> None:
    assert (await stores.accept(change(2, "a"))).verdict is Verdict.NEW
    assert (await stores.accept(change(2, "a"))).verdict is Verdict.REPEAT
    assert (await stores.accept(change(2, "b"))).verdict is Verdict.CONFLICT
    stale = await stores.accept(change(1, "a"))
    assert (stale.verdict, stale.accepted_version) == (Verdict.STALE, 2)
    assert (await stores.accept(change(3, "a"))).verdict is Verdict.NEW


async def test_while_a_version_is_logged_no_higher_one_is_accepted_and_then_it_is_not_the_last(stores: Stores) -> None:
    first, second = change(1, "a"), change(2, "b")
    await stores.accept(first)
    async with stores.versions.last(KEY, 1) as last:
        assert last
        accepting = asyncio.create_task(stores.accept(second))
        await asyncio.sleep(0.1)
        assert not accepting.done()
    assert (await accepting).verdict is Verdict.NEW
    for version, wanted in ((1, False), (2, True), (3, False)):
        async with stores.versions.last(KEY, version) as last:
            assert last is wanted


async def test_a_version_is_live_once_both_writers_reported_every_part(stores: Stores) -> None:
    first = change(1, "one | two | three")
    chunks = cut(first)
    await stores.accept(first, part_size=4)  # 6 chunks, 2 parts
    await stores.write(first, chunks)
    assert await stores.publish(receipt(first, "text", 0)) is None
    assert await stores.publish(receipt(first, "vectors", 1)) is None
    assert await stores.publish(receipt(first, "vectors", 1)) is None
    assert await stores.publish(receipt(first, "vectors", 0)) is None
    assert (await stores.seen(first)).live is None
    publication = await stores.publish(receipt(first, "text", 1))
    assert publication is not None
    assert (publication.status.status, publication.status.chunks) == ("searchable", 6)
    assert (await stores.seen(first)).texts == {"one", "two", "three"}


async def test_a_receipt_of_a_live_version_says_so_again(stores: Stores) -> None:
    first = change(1, "one")
    publication = await stores.put(first)
    assert await stores.publish(receipt(first, "text")) == publication
    assert await stores.publish(receipt(first, "vectors", error="late")) == publication


async def test_a_document_without_text_is_published_by_the_receipt_of_chunk(stores: Stores) -> None:
    publication = await stores.put(change(1, ""))
    assert publication is not None
    assert (publication.status.status, publication.status.chunks) == ("searchable", 0)


async def test_the_old_version_is_seen_whole_until_the_new_one_flips(stores: Stores) -> None:
    await stores.put(change(1, "one | two"))
    second = change(2, "two | three")
    await stores.accept(second)
    await stores.write(second, cut(second))
    await stores.publish(receipt(second, "text"))
    assert (await stores.seen(second)).texts == {"one", "two"}
    await stores.publish(receipt(second, "vectors"))
    assert (await stores.seen(second)).texts == {"two", "three"}


async def test_unchanged_chunks_are_shared_and_need_no_embedding(stores: Stores) -> None:
    first, second = change(1, "one | two"), change(2, "two | three")
    assert (await stores.accept(first)).live_chunks == frozenset()
    await stores.put(first)
    admission = await stores.accept(second)
    assert admission.live_chunks == {chunk.id for chunk in cut(second) if chunk.body == "two"}
    await stores.put(second)
    expected = {chunk.id for chunk in cut(second)}
    seen = await stores.seen(second)
    assert (seen.vector_ids, seen.text_ids) == (expected, expected)


async def test_chunks_of_a_pending_version_count_as_unwritten(stores: Stores) -> None:
    await stores.accept(change(1, "one"))
    assert (await stores.accept(change(2, "one"))).live_chunks == frozenset()


async def test_a_flip_spares_what_a_higher_pending_version_has_written(stores: Stores) -> None:
    second, third = change(2, "b"), change(3, "c")
    await stores.put(change(1, "a | c"))
    await stores.accept(second)
    admission = await stores.accept(third)
    assert admission.live_chunks == {chunk.id for chunk in cut(third)}
    await stores.write(third, cut(third), [])  # nothing to embed: version 1 has it
    await stores.put(second)
    assert (await stores.seen(second)).texts == {"b"}
    assert (await stores.seen(second)).vector_ids == {chunk.id for chunk in (*cut(second), *cut(third))}
    await stores.publish(receipt(third, "text"))
    await stores.publish(receipt(third, "vectors"))
    seen = await stores.seen(third)
    assert (seen.live, seen.texts) == (3, {"c"})
    assert seen.vector_ids == seen.text_ids == {chunk.id for chunk in cut(third)}


async def test_a_superseded_version_writes_nothing(stores: Stores) -> None:
    late = change(1, "old")
    await stores.accept(late)
    await stores.put(change(2, "new"))
    assert await stores.texts.write(KEY, 1, "g1", [], kind="document") is False
    async with stores.versions.hold(KEY, 1, "g1") as wanted:
        assert wanted is False
    async with stores.versions.hold(KEY, 2, "g1") as wanted:
        assert wanted is True
    async with stores.versions.hold(KEY, 3, "g1") as wanted:
        assert wanted is False  # never accepted
    assert await stores.publish(receipt(late, "text")) is None
    assert (await stores.seen(late)).live == 2


async def test_a_flip_names_the_pending_versions_that_it_overtook(stores: Stores) -> None:
    await stores.put(change(1, "a"))
    await stores.accept(change(2, "b"))
    await stores.accept(change(3, "c"))
    publication = await stores.put(change(4, "d"))
    assert publication is not None
    assert publication.overtaken == (2, 3)


async def test_a_failed_part_fails_its_version_and_leaves_the_live_one(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    second = change(2, "two")
    await stores.accept(second)
    failed = await stores.publish(receipt(second, "vectors", error="validation: too long"))
    assert failed is not None
    assert (failed.status.status, failed.status.reason) == ("failed", "validation: too long")
    assert (await stores.seen(second)).texts == {"one"}
    states = [(view.version, view.state) for view in await stores.passages.describe(KEY, "g1")]
    assert states == [(2, "failed"), (1, "live")]


async def test_the_success_of_a_failed_part_still_completes_its_version(stores: Stores) -> None:
    first = change(1, "one")
    await stores.accept(first)
    await stores.publish(receipt(first, "vectors", error="timeout"))
    await stores.write(first, cut(first))
    assert await stores.publish(receipt(first, "text")) is None
    publication = await stores.publish(receipt(first, "vectors"))
    assert publication is not None
    assert publication.status.status == "searchable"
    (view,) = await stores.passages.describe(KEY, "g1")
    assert (view.state, view.reason, view.waits) == ("live", None, ())


async def test_an_error_about_a_part_that_was_written_before_changes_nothing(stores: Stores) -> None:
    first = change(1, "one")
    await stores.accept(first)
    await stores.write(first, cut(first))
    await stores.publish(receipt(first, "text"))
    assert await stores.publish(receipt(first, "text", error="of a repeat")) is None
    assert await stores.publish(receipt(first, "vectors")) is not None


async def test_a_repeat_of_a_failed_version_waits_only_for_what_was_missing(stores: Stores) -> None:
    first = change(1, "one")
    await stores.accept(first)
    await stores.write(first, cut(first))
    await stores.publish(receipt(first, "text"))
    await stores.publish(receipt(first, "vectors", error="timeout"))
    assert (await stores.accept(first)).verdict is Verdict.REPEAT
    (view,) = await stores.passages.describe(KEY, "g1")
    assert (view.state, view.waits) == ("pending", ("vectors:0",))
    assert await stores.publish(receipt(first, "vectors")) is not None


async def test_a_repeat_that_is_cut_otherwise_waits_for_all_of_it(stores: Stores) -> None:
    first = change(1, "one | two")
    await stores.accept(first)
    await stores.write(first, cut(first))
    await stores.publish(receipt(first, "text"))
    await stores.accept(first, part_size=2)
    (view,) = await stores.passages.describe(KEY, "g1")
    assert set(view.waits) == {"text:0", "vectors:0", "text:1", "vectors:1"}
    for part in (0, 1):
        await stores.publish(receipt(first, "text", part))
        await stores.publish(receipt(first, "vectors", part))
    seen = await stores.seen(first)
    assert seen.vector_ids == seen.text_ids == {chunk.id for chunk in cut(first)}


async def test_a_deletion_hides_at_once_and_removes_later(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    gone = deletion(2)
    await stores.accept(gone)
    assert (await stores.seen(gone)).texts == set()
    assert (await stores.seen(gone)).vector_ids != set()
    publication = await stores.publish(receipt(gone))
    assert publication is not None
    assert publication.status.status == "deleted"
    seen = await stores.seen(gone)
    assert (seen.live, seen.vector_ids, seen.text_ids) == (2, set(), set())


async def test_a_document_may_come_back_after_its_deletion(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    await stores.put(deletion(2))
    assert (await stores.accept(change(3, "one"))).live_chunks == frozenset()
    await stores.put(change(3, "one"))
    assert (await stores.seen(change(3, "one"))).texts == {"one"}


async def test_a_deletion_counts_in_every_generation(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    await stores.accept(deletion(2), generation="g2")
    assert (await stores.seen(change(1))).texts == set()


async def test_the_epoch_of_a_tenant_moves_with_every_flip_and_every_accepted_deletion(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    await stores.put(change(2, "two"))
    await stores.publish(receipt(change(2, "two"), "text"))
    assert await stores.epoch("acme") == 2
    await stores.put(deletion(3))
    assert await stores.epoch("acme") == 4
    assert await stores.epoch("other") == 0


async def test_new_agents_or_tags_rewrite_the_shared_chunks_and_only_those(stores: Stores) -> None:
    await stores.put(change(1, "one | two", agents=("bot",)))
    third = change(3, "two | three", agents=("bot", "desk"), tags=("new",))
    publication = await stores.put(third)
    assert publication is not None
    assert publication.rewrite == tuple(sorted(chunk.id for chunk in cut(third) if chunk.body == "two"))
    assert (publication.agents, publication.tags) == (("bot", "desk"), ("new",))
    assert await stores.publish(receipt(third, "text")) == publication
    same = await stores.put(change(4, "two", agents=("desk", "bot"), tags=("new",)))
    assert same is not None
    assert same.rewrite == ()


async def test_a_failed_version_gives_the_live_one_its_payload_back(stores: Stores) -> None:
    second, third = change(2, "b"), change(3, "b", agents=("bot",))
    await stores.accept(second)
    await stores.accept(third)
    await stores.write(third, cut(third))  # the same point in the vector index, for `bot` alone
    await stores.put(second)
    failed = await stores.publish(receipt(third, "vectors", error="bug"))
    assert failed is not None
    assert (failed.rewrite, failed.agents) == (tuple(sorted(chunk.id for chunk in cut(second))), ())


async def test_a_collection_that_was_interrupted_starts_again(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    second = change(2, "two")
    await stores.accept(second)
    await stores.write(second, cut(second))
    await stores.versions.complete(receipt(second, "text"))
    await stores.versions.complete(receipt(second, "vectors"))

    async def broken(_: Sequence[str]) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await stores.versions.collect(KEY, "g1", broken)
    await stores.publish(receipt(second, "vectors"))
    seen = await stores.seen(second)
    assert seen.vector_ids == seen.text_ids == {chunk.id for chunk in cut(second)}


async def test_what_a_later_version_wants_again_is_not_collected(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    second, third = change(2, "two"), change(3, "one")
    await stores.accept(second)
    await stores.write(second, cut(second))
    await stores.versions.complete(receipt(second, "text"))
    await stores.versions.complete(receipt(second, "vectors"))  # "one" is garbage now
    await stores.accept(third)
    await stores.write(third, cut(third))
    removed: list[str] = []

    async def remove(ids: Sequence[str]) -> None:
        removed.extend(ids)

    await stores.versions.collect(KEY, "g1", remove)
    assert removed == []
    assert {chunk.id for chunk in cut(third)} <= await stores.text_ids()


async def test_nothing_flips_while_a_writer_holds_the_document(stores: Stores) -> None:
    first = change(1, "one")
    await stores.accept(first)
    await stores.write(first, cut(first))
    await stores.publish(receipt(first, "text"))
    async with stores.versions.hold(KEY, 1, "g1"):
        flip = asyncio.create_task(stores.versions.complete(receipt(first, "vectors")))
        await asyncio.sleep(0.2)
        assert not flip.done()
    assert await flip is not None


async def test_receipts_of_unknown_versions_and_documents_are_ignored(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    assert await stores.publish(receipt(change(9), "text")) is None
    assert await stores.publish(receipt(change(1, doc_id="other"), "text")) is None
    assert await stores.publish(receipt(change(1), "text", generation="g9")) is None
    await stores.versions.collect(change(1, doc_id="other").key, "g1", lambda _: asyncio.sleep(0))


async def test_a_long_history_is_cut(stores: Stores) -> None:
    for version in range(1, 16):
        await stores.put(change(version, f"text {version}"))
    views = await stores.passages.describe(KEY, "g1")
    assert [view.version for view in views][:11] == list(range(15, 4, -1))
    assert len(views) <= 15
