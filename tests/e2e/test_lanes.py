"""Lanes on the real broker: a first load beside edits and deletions."""

from __future__ import annotations

import asyncio

from schemas import codec
from schemas.documents import Document, DocumentChange
from streams.wire import Record
from tests.pipeline import Pipeline, next_version, page, records
from topics import catalogue
from topics.topic import Topic


async def of_tenant(pipeline: Pipeline, topic: Topic, tenant: str) -> list[Record]:
    found = await records(pipeline.stack.endpoints.kafka, topic)
    return [each for each in found if f'"tenant":"{tenant}"'.encode() in (each.value or b"")]


async def test_an_edit_and_a_deletion_win_over_a_first_load_that_is_still_on_its_way(pipeline: Pipeline) -> None:
    tenant = "t-first-load"
    load = [page(f"note-{n}", f"# Note {n}\n\nRoom {n} is closed.", tenant=tenant) for n in range(40)]
    loading = asyncio.create_task(_loaded(pipeline, load))
    edited = page("note-39", "# Note 39\n\nRoom 39 is open again.", tenant=tenant)
    gone = DocumentChange(tenant=tenant, source="help", doc_id="note-38", version=next_version(), op="delete")
    receipts = await pipeline.publish(edited, gone)
    assert [each.status for each in receipts] == ["searchable", "deleted"]
    told = await loading
    # What was overtaken is told by the version that did it, or that it was superseded.
    assert set(told) == {each.doc_id for each in load}
    reply = await pipeline.client.ask("which rooms are closed or open?", tenant=tenant, top_k=60, floor=0.0)
    texts = {each.doc_id: each.text for each in reply.passages}
    assert "open again" in texts["note-39"]
    assert "note-38" not in texts
    assert "Room 7 is closed" in texts["note-7"]
    assert len(await of_tenant(pipeline, catalogue.DOCUMENT_CHANGES_BULK, tenant)) == 40
    assert {each.doc_id for each in await _logged(pipeline, tenant)} == {each.doc_id for each in load}
    last = {each.doc_id: each.version for each in await _logged(pipeline, tenant)}
    assert (last["note-39"], last["note-38"]) == (edited.version, gone.version)


async def _loaded(pipeline: Pipeline, load: list[DocumentChange]) -> dict[str, str]:
    return {each.doc_id: each.status async for each in pipeline.client.publish_many(load, timeout=60, bulk=True)}


async def _logged(pipeline: Pipeline, tenant: str) -> list[DocumentChange]:
    found = await of_tenant(pipeline, catalogue.DOCUMENTS, tenant)
    return [codec.decode(each.value or b"", Document).change for each in found]
