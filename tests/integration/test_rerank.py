"""Reranking through all processors: without a bus and over Kafka, with a twin of a model, a dead one, and none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.documents import DocumentChange
from schemas.queries import QueryRequest
from schemas.replies import QueryReply
from streams.adapters import rerankers
from streams.adapters.memory_reranker import MemoryReranker
from streams.adapters.migrations import migrate
from streams.bootstrap import Resources
from streams.domain.reranking import Scored
from streams.embedded.stack import EmbeddedError, Stack, start
from streams.fleet import Fleet
from streams.gateways.client import Client
from streams.gateways.questions import new_id
from streams.processors import catalogue as processors
from streams.quality.in_process import InProcess
from streams.settings import Settings
from tests.conftest import unavailable
from tests.pipeline import next_version, page
from topics import catalogue
from topics.admin import apply

QUESTION = "When does the old cable car to the summit run in winter?"
PAGES = {
    "answer": "# Winter\n\nIn winter the old cable car to the summit does run when the wind is low.",
    "cable": "# Cable car\n\nThe cable car was built in 1950. The cable car has two cabins. The cable is steel.",
    "summit": "# Summit\n\nThe summit has a hut. From the summit the sea is seen.",
}


class Twin(MemoryReranker):
    """The twin, which may be slow, and for which something may happen while it works."""

    def __init__(self) -> None:
        super().__init__(at_once=2)
        self.seconds = 0.0  # a passage
        self.meanwhile: Any = None

    async def score(self, question: str, passages: Sequence[str], *, seconds: float) -> Scored:
        if self.meanwhile is not None:
            work, self.meanwhile = self.meanwhile, None
            await work()
        await asyncio.sleep(self.seconds * len(passages))
        return await super().score(question, passages, seconds=seconds)


def settings_of(stack: Stack, folder: Path, **fields: Any) -> Settings:
    at = stack.endpoints
    given = {"kafka": at.kafka, "qdrant": at.qdrant, "postgres": at.postgres, "redis": at.redis, **fields}
    return Settings(data_dir=folder, **given)


@pytest.fixture(scope="module")
def twin() -> Twin:
    return Twin()


@pytest.fixture(scope="module")
async def reranked(stack: Stack, tmp_path_factory: pytest.TempPathFactory, twin: Twin) -> AsyncIterator[InProcess]:
    """All processors without a bus, with the twin for a model; answers under the profile `kept` are kept."""
    settings = settings_of(stack, tmp_path_factory.mktemp("rerank"), reranker="twin")
    await migrate(stack.endpoints.postgres)
    resources = Resources(settings)
    kept = msgspec.structs.replace(resources.profiles["knowledge-base"], name="kept", cache_seconds=60)
    resources.profiles = {**resources.profiles, "kept": kept}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rerankers, "build", lambda *_: twin)
        deps = {processor.name: await resources.deps(processor) for processor in processors.ALL}
    async with InProcess(resources, deps) as opened:
        yield opened


@pytest.fixture
async def tenant(reranked: InProcess, twin: Twin) -> str:
    name = f"r-{next_version()}"
    twin.seconds, twin.meanwhile = 0.0, None
    for doc_id, content in PAGES.items():
        status = await reranked.ingest(page(doc_id, content, tenant=name))
        assert status is not None
        assert status.status == "searchable"
    return name


def question(tenant: str, **fields: Any) -> QueryRequest:
    given = {"query_id": new_id(time.time()), "tenant": tenant, "text": QUESTION, "profile": "knowledge-base", **fields}
    return QueryRequest(**given)


async def test_both_revisions_come_and_the_last_is_in_the_model_s_order(reranked: InProcess, tenant: str) -> None:
    sent = await reranked.observe(question(tenant, progressive=True))
    first, last = [each.message for each in sent if isinstance(each.message, QueryReply)]
    assert [each.topic for each in sent].count(catalogue.FUSED) == 1
    assert (first.revision, first.final, last.revision, last.final) == (1, False, 2, True)
    assert {each.doc_id for each in first.passages} == {each.doc_id for each in last.passages} == set(PAGES)
    values = [each.rerank for each in last.passages]
    assert last.passages[0].doc_id == "answer"
    assert values == sorted((value for value in values if value is not None), reverse=True)
    assert (last.models.reranker, last.legs["rerank"].status, last.degraded) == ("memory-overlap", "ok", False)


async def test_one_outcome_is_the_reranked_one(reranked: InProcess, tenant: str) -> None:
    reply = await reranked.ask(question(tenant))
    assert (reply.revision, reply.final, reply.passages[0].doc_id) == (2, True, "answer")


async def test_a_reranked_answer_is_kept_whole_and_one_that_was_not_done_in_time_is_not(
    reranked: InProcess, tenant: str, twin: Twin
) -> None:
    twin.seconds = 0.5
    late = await reranked.ask(question(tenant, profile="kept", deadline=time.time() + 1.0))
    assert (late.degraded, late.cache) == (True, "miss")
    twin.seconds = 0.0
    for _ in range(20):
        reply = await reranked.ask(question(tenant, profile="kept"))
        if reply.cache == "hit":
            break
        await asyncio.sleep(0.1)
    assert (reply.cache, reply.passages[0].doc_id, reply.degraded) == ("hit", "answer", False)
    assert reply.passages[0].rerank is not None


async def test_a_page_that_is_deleted_while_the_model_works_is_not_shown(
    reranked: InProcess, tenant: str, twin: Twin
) -> None:
    gone = DocumentChange(tenant=tenant, source="help", doc_id="answer", version=next_version(), op="delete")

    async def delete() -> None:
        # In a context of its own: the deletion is no part of the question's work.
        await asyncio.create_task(reranked.ingest(gone))

    twin.meanwhile = delete
    reply = await reranked.ask(question(tenant))
    assert reply.error is None
    assert {each.doc_id for each in reply.passages} == set(PAGES) - {"answer"}


async def test_a_model_that_is_too_slow_leaves_the_fused_order_before_the_deadline(
    reranked: InProcess, tenant: str, twin: Twin
) -> None:
    twin.seconds = 30.0
    deadline = time.time() + 1.0
    reply = await reranked.ask(question(tenant, deadline=deadline))
    assert time.time() < deadline + 0.25
    assert reply.error is None
    assert len(reply.passages) == len(PAGES)
    assert reply.reasons == (f"rerank: 0 of {len(PAGES)} in time",)


@pytest.fixture
async def own_stack(tmp_path: Path) -> AsyncIterator[Stack]:
    """Servers of this test's own: on those of all tests, processors without a reranker may be at work."""
    try:
        started = await start(tmp_path / "servers", broker="kafka")
    except EmbeddedError as error:
        unavailable(str(error))
        raise
    yield started
    await started.stop()


async def test_over_kafka_a_stream_has_both_revisions_and_a_dead_rerank_costs_the_order_alone(
    own_stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rerankers, "build", lambda *_: MemoryReranker())
    settings = settings_of(own_stack, tmp_path, reranker="twin", session_timeout=6.0)
    await migrate(own_stack.endpoints.postgres)
    await apply(own_stack.endpoints.kafka)
    asked = {"tenant": f"r-{next_version()}", "profile": "knowledge-base", "timeout": 10.0}
    others = [processor.name for processor in processors.ALL if processor.name != "rerank"]
    fleet, rerank = Fleet(settings, others), Fleet(settings, ["rerank"])
    async with Client(bootstrap=settings.kafka) as client:
        try:
            await asyncio.gather(fleet.start(), rerank.start())
            await asyncio.gather(fleet.ready(), rerank.ready())
            for doc_id, content in PAGES.items():
                await client.publish(page(doc_id, content, tenant=asked["tenant"]), wait=True)
            revisions = [reply async for reply in client.ask_stream(QUESTION, **asked)]  # type: ignore[arg-type]
            assert [(reply.revision, reply.final) for reply in revisions] == [(1, False), (2, True)]
            assert revisions[-1].passages[0].doc_id == "answer"
            await rerank.stop()
            began = time.monotonic()
            reply = await client.ask(QUESTION, **{**asked, "timeout": 1.5})  # type: ignore[arg-type]
            assert time.monotonic() - began < 1.5 + 1.0  # 0.25 on a quiet machine
            assert (reply.error, reply.revision, reply.final, len(reply.passages)) == (None, 1, True, len(PAGES))
            assert reply.reasons == ("rerank: no reply by the deadline",)
        finally:
            await rerank.stop()
            await fleet.stop()
