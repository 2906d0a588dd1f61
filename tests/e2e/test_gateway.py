"""The HTTP gateway on the whole pipeline: every endpoint over real HTTP."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest

from tests.gateway import Front, serving
from tests.pipeline import Pipeline


@pytest.fixture(scope="module")
async def front(pipeline: Pipeline) -> AsyncIterator[Front]:
    async with serving(pipeline.settings) as running:
        yield running


@pytest.fixture
def tenant() -> str:
    return f"t-{uuid.uuid4().hex[:12]}"


async def test_a_document_is_put_found_read_and_deleted(front: Front, tenant: str) -> None:
    async with front.asking(await front.key(tenant)) as http:
        put = await http.put(
            "/v1/documents/help/lockers.md?wait=searchable",
            json={"version": 7, "title": "Lockers", "content": "# Lockers\n\nLocker keys cost five euro."},
        )
        assert (put.status_code, put.json()["status"], put.json()["version"]) == (200, "searchable", 7), put.text
        reply = (await http.post("/v1/query", json={"text": "what does a locker key cost?"})).json()
        assert [passage["doc_id"] for passage in reply["passages"]] == ["lockers.md"]
        got = (await http.get("/v1/documents/help/lockers.md")).json()
        assert (got["version"], got["title"]) == (7, "Lockers")
        assert "five euro" in got["text"]
        gone = await http.delete("/v1/documents/help/lockers.md?wait=searchable", headers={"Document-Version": "8"})
        assert (gone.status_code, gone.json()["status"], gone.json()["version"]) == (200, "deleted", 8)
        assert (await http.get("/v1/documents/help/lockers.md")).status_code == 404
