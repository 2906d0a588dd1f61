"""The pipeline on Tansu, the broker of machines without Java: a smoke test."""

from __future__ import annotations

from pathlib import Path

from schemas.documents import DocumentChange
from streams.embedded.stack import start
from tests.pipeline import next_version, page, running


async def test_a_page_is_published_found_and_deleted_on_tansu(tmp_path: Path) -> None:
    stack = await start(tmp_path / "servers", broker="tansu")
    try:
        assert stack.endpoints.broker == "tansu"
        async with running(stack, tmp_path) as pipeline:
            (status,) = await pipeline.publish(page("ports", "# Relay ports\n\nThe relay listens on port 8443."))
            assert status.status == "searchable"
            reply = await pipeline.client.ask("which port does the relay use?", tenant="acme")
            assert [passage.doc_id for passage in reply.passages] == ["ports"]
            assert not reply.degraded
            gone = DocumentChange(tenant="acme", source="help", doc_id="ports", version=next_version(), op="delete")
            (status,) = await pipeline.publish(gone)
            assert status.status == "deleted"
            assert (await pipeline.client.ask("which port does the relay use?", tenant="acme")).passages == ()
    finally:
        await stack.stop()
