"""The cache of answers on the real stores, without Kafka: quick, shared, ended by any change, and never missed."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from schemas.documents import DocumentChange
from schemas.queries import Filters, QueryRequest
from schemas.replies import QueryReply
from streams.embedded.stack import EmbeddedError, start
from streams.errors import ConfigurationError
from streams.gateways.questions import new_id
from streams.quality.in_process import InProcess
from streams.settings import Settings
from tests.conftest import unavailable
from tests.contract.broken_network import proxy
from tests.pipeline import next_version, page

TEXT = "Where is lunch served?"


@pytest.fixture(scope="module")
async def settings(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Settings]:
    """The stores alone."""
    folder = tmp_path_factory.mktemp("stores")
    environment = os.environ.get
    try:
        stack = await start(
            folder,
            kafka="not-started:0",
            qdrant=environment("QDRANT_URL"),
            postgres=environment("DATABASE_URL"),
            redis=environment("REDIS_URL"),
        )
    except EmbeddedError as error:
        unavailable(str(error))
        raise
    at = stack.endpoints
    yield Settings(data_dir=folder, qdrant=at.qdrant, postgres=at.postgres, redis=at.redis)
    await stack.stop()


@pytest.fixture(scope="module")
async def one(settings: Settings) -> AsyncIterator[InProcess]:
    async with await InProcess.open(settings) as opened:
        yield opened


@pytest.fixture(scope="module")
async def other(settings: Settings) -> AsyncIterator[InProcess]:
    """What another process would be: it shares the servers and nothing else."""
    async with await InProcess.open(settings) as opened:
        yield opened


@pytest.fixture
async def tenant(one: InProcess) -> str:
    """A tenant with two pages."""
    name = f"t-{uuid.uuid4().hex[:8]}"
    await one.ingest(page("canteen", "# Canteen\n\nLunch is served in building A.", tenant=name))
    await one.ingest(page("parking", "# Parking\n\nThe car park opens at six.", tenant=name))
    return name


def question(tenant: str, **fields: Any) -> QueryRequest:
    return QueryRequest(**{"query_id": new_id(time.time()), "tenant": tenant, "text": TEXT, **fields})


async def until_kept(pipeline: InProcess, tenant: str, **fields: Any) -> QueryReply:
    """Ask until the answer comes from the cache: it is kept beside the work, and a slow moment turns the cache off."""
    deadline = time.monotonic() + 15
    while True:
        reply = await pipeline.ask(question(tenant, **fields))
        assert reply.error is None
        if reply.cache == "hit":
            return reply
        assert time.monotonic() < deadline, reply.cache
        await asyncio.sleep(0.05)


async def searched(pipeline: InProcess, tenant: str, **fields: Any) -> QueryReply:
    """Ask once; the answer must not come from the cache."""
    reply = await pipeline.ask(question(tenant, **fields))
    assert reply.error is None
    assert reply.cache != "hit"
    return reply


async def test_the_second_answer_is_the_first_one_without_the_work(one: InProcess, tenant: str) -> None:
    first = await searched(one, tenant)
    await until_kept(one, tenant)
    asked = question(tenant)
    sent = await one.observe(asked)
    assert [each.topic.name for each in sent] == ["queries", "replies"]
    second = sent[-1].message
    assert isinstance(second, QueryReply)
    assert (second.query_id, second.cache) == (asked.query_id, "hit")
    assert second.passages == first.passages != ()
    assert (second.models, second.generation, second.profile) == (first.models, first.generation, first.profile)


async def test_processes_share_it_and_a_change_anywhere_ends_it_everywhere(
    one: InProcess, other: InProcess, tenant: str
) -> None:
    await until_kept(one, tenant)
    assert "building A" in (await until_kept(other, tenant)).passages[0].text
    await other.ingest(page("canteen", "# Canteen\n\nLunch is served in building D.", tenant=tenant))
    for pipeline in (one, other):
        assert "building D" in (await pipeline.ask(question(tenant))).passages[0].text
    await one.ingest(page("summer", "# Summer\n\nFrom July on lunch is served from eleven.", tenant=tenant))
    assert "summer" in {passage.doc_id for passage in (await searched(other, tenant)).passages}


async def test_a_deleted_page_is_gone_at_once(one: InProcess, other: InProcess, tenant: str) -> None:
    for name in ("canteen", "parking"):
        await until_kept(one, tenant)
        deletion = DocumentChange(tenant=tenant, source="help", doc_id=name, version=next_version(), op="delete")
        await other.ingest(deletion)
        assert name not in {passage.doc_id for passage in (await searched(one, tenant)).passages}
    assert (await until_kept(one, tenant)).passages == ()


async def test_nobody_gets_the_answer_of_another_question(one: InProcess, tenant: str) -> None:
    await until_kept(one, tenant)
    stranger = f"t-{uuid.uuid4().hex[:8]}"
    assert (await searched(one, stranger)).passages == ()
    for fields in (
        {"agent": "desk"},
        {"top_k": 1},
        {"filters": Filters(sources=("other",))},
        {"language": "de"},
        {"text": "Where is lunch served"},
        {"cache": False},
        {"explain": True},
    ):
        await searched(one, tenant, **fields)
    assert (await one.ask(question(tenant, explain=True))).cache == "off"


async def test_questions_and_changes_side_by_side_never_bring_back_an_old_answer(
    one: InProcess, other: InProcess, tenant: str
) -> None:
    """Each answer is at least as new as the last receipt before it was asked for."""
    published = 0
    seen: list[str] = []
    done = False

    async def watch(pipeline: InProcess) -> None:
        while not done:
            before = published
            reply = await pipeline.ask(question(tenant, text="How many seats has the hall?"))
            assert reply.error is None
            texts = [passage.text for passage in reply.passages if passage.doc_id == "hall"]
            number = max((int(text.split("has ")[1].split()[0]) for text in texts), default=0)
            assert number >= before, (number, before, reply.cache)
            seen.append(reply.cache)
            await asyncio.sleep(0)

    watching = [asyncio.create_task(watch(pipeline)) for pipeline in (one, other, one, other)]
    try:
        for number in range(1, 16):
            await one.ingest(page("hall", f"# Hall\n\nThe hall has {number} seats.", tenant=tenant))
            published = number
            await asyncio.sleep(0.1)
    finally:
        done = True
        await asyncio.gather(*watching)
    assert {"hit", "miss"} <= set(seen)


async def test_without_redis_questions_are_searched(settings: Settings, one: InProcess, tenant: str) -> None:
    await until_kept(one, tenant)
    for url in (None, "redis://127.0.0.1:1/0"):
        async with await InProcess.open(replace(settings, redis=url)) as without:
            replies = [await without.ask(question(tenant)) for _ in range(3)]
        assert {reply.cache for reply in replies} == {"off"}
        assert replies[0].passages == replies[1].passages == replies[2].passages != ()
    with pytest.raises(ConfigurationError, match="REDIS_URL"):
        await InProcess.open(replace(settings, redis="localhost:6379"))


async def test_a_silent_redis_costs_little_and_is_used_again_when_it_speaks(
    settings: Settings, one: InProcess, tenant: str
) -> None:
    at = urlsplit(settings.redis or "")
    async with proxy(at.port or 6379) as between:
        place = at._replace(netloc=at.netloc.replace(f":{at.port}", f":{between.port}")).geturl()
        async with await InProcess.open(replace(settings, redis=place)) as behind:
            await until_kept(behind, tenant)
            between.passing.clear()
            took = []
            for _ in range(20):
                begun = time.perf_counter()
                reply = await searched(behind, tenant)
                took.append(time.perf_counter() - begun)
                assert (reply.cache, reply.degraded, reply.error) == ("off", False, None)
            assert statistics.median(took) < 0.5
            between.passing.set()
            await until_kept(behind, tenant)
