"""Whatever the order in which versions, parts and receipts arrive: the stores end as if only the highest had come."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Iterator

from schemas.documents import DocumentChange, Receipt
from streams.domain.versions import Verdict
from tests.contract.building import change, cut, deletion, receipt
from tests.contract.stores import Stores


def versions(doc_id: str, last: str = "upsert") -> list[DocumentChange]:
    """Created, edited, deleted, created again; or with the deletion last."""
    third = deletion(3, doc_id=doc_id)
    fourth = change(4, "a | c | d", doc_id=doc_id, tags=("new",))
    if last == "delete":
        third, fourth = change(3, "a | c | d", doc_id=doc_id), deletion(4, doc_id=doc_id)
    return [change(1, "a | b", doc_id=doc_id), change(2, "b | c", doc_id=doc_id, agents=("bot",)), third, fourth]


async def written(stores: Stores, version: DocumentChange) -> list[Receipt]:
    """Accept and write a version in parts of two chunks; the receipts that are under way then."""
    admission = await stores.accept(version, part_size=2)
    if admission.verdict is Verdict.STALE:
        return []
    chunks = cut(version) if version.op == "upsert" else ()
    receipts = [] if chunks else [receipt(version)]
    for part, piece in enumerate(chunks[start : start + 2] for start in range(0, len(chunks), 2)):
        await stores.write(version, piece, [chunk for chunk in piece if chunk.id not in admission.live_chunks])
        receipts += [receipt(version, "text", part), receipt(version, "vectors", part)]
    return receipts


async def assert_only(stores: Stores, highest: list[DocumentChange]) -> None:
    expected = {chunk.id for version in highest if version.op == "upsert" for chunk in cut(version)}
    assert await stores.vector_ids("g1") == expected
    assert await stores.text_ids() == expected
    for version in highest:
        found = await stores.passages.live_versions("acme", "g1", [("help", version.doc_id)])
        assert found == {("help", version.doc_id): version.version}


def cases() -> Iterator[tuple[str, str, tuple[int, ...]]]:
    for last in ("upsert", "delete"):
        for order in itertools.permutations(range(4)):
            yield f"{last}/{''.join(map(str, order))}", last, order


async def test_every_order_of_arrival_ends_with_the_highest_version(stores: Stores) -> None:
    highest = []
    for doc_id, last, order in cases():
        of = versions(doc_id, last)
        for index in order:
            for each in await written(stores, of[index]):
                await stores.publish(each)
        highest.append(of[3])
    await assert_only(stores, highest)


async def test_every_order_with_repeats_and_shuffled_receipts_ends_with_the_highest_version(stores: Stores) -> None:
    highest = []
    for seed, (doc_id, last, order) in enumerate(cases()):
        chance = random.Random(seed)
        of = versions(doc_id, last)
        waiting: list[Receipt] = []
        for index in [*order, *chance.choices(range(4), k=2)]:
            waiting += await written(stores, of[index])
            chance.shuffle(waiting)
            for _ in range(chance.randrange(len(waiting) + 1)):
                each = waiting.pop()
                await stores.publish(each)
                if chance.random() < 0.2:
                    waiting.insert(0, each)
        for each in waiting:
            await stores.publish(each)
        highest.append(of[3])
    await assert_only(stores, highest)


async def test_versions_that_are_worked_on_at_the_same_time_end_with_the_highest(stores: Stores) -> None:
    async def work(version: DocumentChange, seed: int) -> None:
        chance = random.Random(seed)
        await asyncio.sleep(chance.random() / 50)
        receipts = await written(stores, version)
        chance.shuffle(receipts)
        for each in receipts:
            await asyncio.sleep(chance.random() / 100)
            await stores.publish(each)

    documents = [versions(f"{last}/{seed}", last) for last in ("upsert", "delete") for seed in range(6)]
    await asyncio.gather(
        *(work(version, seed) for seed, of in enumerate(documents) for version in [*of, of[seed % 4], of[3]])
    )
    # What was overtaken while it wrote is collected with the next publication.
    for of in documents:
        for each in await written(stores, of[3]):
            await stores.publish(each)
    await assert_only(stores, [of[3] for of in documents])
