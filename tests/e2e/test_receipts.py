"""Receipts: what the source of a document is told, whatever order its events come in."""

from __future__ import annotations

import random
import re
from collections import defaultdict

import pytest

from schemas import codec
from schemas.documents import DocumentChange, DocumentStatus
from tests.dying import producing
from tests.e2e.operator import receipt, statuses, until
from tests.e2e.test_lifecycle import qdrant_count, texts
from tests.pipeline import Pipeline, page
from topics import catalogue


def harbour(tenant: str, version: int, *, sections: int = 1, doc_id: str = "harbour") -> DocumentChange:
    body = "".join(f"\n\n## Pier {n}\n\nPier {n} of {doc_id} opens at hour {version}." for n in range(1, sections + 1))
    return page(doc_id, f"# Harbour{body}", tenant=tenant, version=version)


def deletion(tenant: str, version: int, doc_id: str = "harbour") -> DocumentChange:
    return DocumentChange(tenant=tenant, source="help", doc_id=doc_id, version=version, op="delete")


async def found(pipeline: Pipeline, tenant: str) -> str:
    return texts(await pipeline.client.ask("when does the pier open?", tenant=tenant, top_k=50, floor=0.0))


def told(of: list[DocumentStatus]) -> list[tuple[int, str, str | None]]:
    return [(each.version, each.status, each.reason) for each in of]


async def test_a_late_version_is_told_which_one_is_accepted_and_changes_nothing(pipeline: Pipeline) -> None:
    tenant = "t-receipt-late"
    received = await pipeline.publish(*(harbour(tenant, version) for version in (5, 3, 4)))
    late = "superseded: version 5 is accepted already"
    assert told(received) == [(5, "searchable", None), (3, "failed", late), (4, "failed", late)]
    assert "hour 5" in await found(pipeline, tenant)


async def test_a_repeated_event_gets_its_receipt_again_and_changes_nothing(pipeline: Pipeline) -> None:
    tenant = "t-receipt-twice"
    change = harbour(tenant, 2, sections=3)
    received = await pipeline.publish(change, change, change)
    assert told(received) == [(2, "searchable", None)] * 3
    assert {status.chunks for status in received} == {received[0].chunks}
    assert await qdrant_count(pipeline, tenant) == received[0].chunks
    received = await pipeline.publish(deletion(tenant, 3), deletion(tenant, 3))
    assert told(received) == [(3, "deleted", None)] * 2
    (late,) = await pipeline.publish(change)
    assert told([late]) == [(2, "failed", "superseded: version 3 is accepted already")]
    assert await found(pipeline, tenant) == ""


async def test_a_document_lives_again_only_above_its_deletion(pipeline: Pipeline) -> None:
    tenant = "t-receipt-again"
    await pipeline.publish(harbour(tenant, 1), deletion(tenant, 5))
    received = await pipeline.publish(harbour(tenant, 4), harbour(tenant, 6))
    assert told(received) == [
        (4, "failed", "superseded: version 5 is accepted already"),
        (6, "searchable", None),
    ]
    assert "hour 6" in await found(pipeline, tenant)
    received = await pipeline.publish(deletion(tenant, 5))
    assert told(received) == [(5, "failed", "superseded: version 6 is accepted already")]
    assert "hour 6" in await found(pipeline, tenant)


async def test_a_deletion_of_what_never_was_is_deleted(pipeline: Pipeline) -> None:
    (status,) = await pipeline.publish(deletion("t-receipt-never", 7))
    assert told([status]) == [(7, "deleted", None)]
    (late,) = await pipeline.publish(harbour("t-receipt-never", 6))
    assert late.status == "failed"
    assert await found(pipeline, "t-receipt-never") == ""


async def test_a_document_that_shrinks_leaves_nothing_of_what_it_was(pipeline: Pipeline) -> None:
    tenant = "t-receipt-shrunk"
    for version, sections in ((1, 40), (2, 3), (3, 1)):
        (status,) = await pipeline.publish(harbour(tenant, version, sections=sections))
        assert (status.status, status.chunks) == ("searchable", sections + 1)  # and the document-level text
        assert await qdrant_count(pipeline, tenant) == sections + 1
        assert set(re.findall(r"hour \d+", await found(pipeline, tenant))) == {f"hour {version}"}
    (status,) = await pipeline.publish(page("harbour", "", tenant=tenant, version=4, title=""))
    assert (status.status, status.chunks) == ("searchable", 0)
    assert await found(pipeline, tenant) == ""
    assert await qdrant_count(pipeline, tenant) == 0


async def test_a_version_that_is_overtaken_on_its_way_is_told_so(pipeline: Pipeline) -> None:
    tenant = "t-receipt-overtaken"
    # One after the other without waiting: most are overtaken before all their writers are done.
    last = 12
    for version in range(1, last + 1):
        await pipeline.client.publish(harbour(tenant, version, sections=20))
    await receipt(pipeline, tenant, last, "searchable")

    async def all_told() -> dict[int, set[str]] | None:
        by: defaultdict[int, set[str]] = defaultdict(set)
        for each in await statuses(pipeline, tenant):
            by[each.version].add(each.status)
            if each.status == "failed":
                assert each.reason is not None
                assert re.fullmatch(r"superseded: version \d+ is (live|accepted) already", each.reason)
        return dict(by) if len(by) == last else None

    by = await until(all_told, doing="a receipt for each version")
    assert all(len(each) == 1 for each in by.values()), "searchable or failed, not both"


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_shuffled_and_repeated_events_end_with_the_highest_version_and_a_receipt_each(
    pipeline: Pipeline, seed: int
) -> None:
    tenant, chance = f"t-receipt-shuffled-{seed}", random.Random(seed)
    documents = [f"harbour-{n}" for n in range(6)]
    last = {doc_id: chance.choice(["upsert", "delete"]) for doc_id in documents}
    events: list[DocumentChange] = []
    for doc_id in documents:
        for version in range(1, 7):
            is_deletion = last[doc_id] == "delete" if version == 6 else chance.random() < 0.3
            change = deletion(tenant, version, doc_id)
            if not is_deletion:
                change = harbour(tenant, version, sections=chance.randint(1, 4), doc_id=doc_id)
            events += [change] * chance.randint(1, 5)
    chance.shuffle(events)
    async with producing(pipeline.settings.kafka or "") as producer:
        for event in events:
            key = catalogue.document_key(tenant, event.source, event.doc_id)
            await producer.send(catalogue.DOCUMENT_CHANGES.name, codec.encode(event), key=key)
        await producer.flush()

    async def all_told() -> dict[str, dict[int, set[str]]] | None:
        by: defaultdict[str, defaultdict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for each in await statuses(pipeline, tenant):
            by[each.doc_id][each.version].add(each.status)
        complete = len(by) == len(documents) and all(
            set(versions) == set(range(1, 7)) and versions[6] & {"searchable", "deleted"} for versions in by.values()
        )
        return {doc_id: dict(versions) for doc_id, versions in by.items()} if complete else None

    by = await until(all_told, doing="a receipt for each version of each document")
    for doc_id in documents:
        assert by[doc_id][6] == {"searchable" if last[doc_id] == "upsert" else "deleted"}
    reply = await pipeline.client.ask("when does the pier open?", tenant=tenant, top_k=100, floor=0.0)
    assert {passage.version for passage in reply.passages} <= {6}
    assert {passage.doc_id for passage in reply.passages} == {each for each in documents if last[each] == "upsert"}
    chunks = {each.doc_id: each.chunks for each in await statuses(pipeline, tenant) if each.version == 6}
    assert await qdrant_count(pipeline, tenant) == sum(chunks.values())
