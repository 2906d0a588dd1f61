"""On real Kafka: one outcome a question by its deadline, with silent legs, without `fuse`, under overload; quotas."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from schemas.documents import DocumentChange
from schemas.replies import QueryReply
from streams import settings as names
from streams.adapters.migrations import migrate
from streams.adapters.qdrant import QdrantVectors
from streams.embedded.stack import EmbeddedError, Stack, start
from streams.errors import StoreUnavailable
from streams.fleet import Fleet
from streams.gateways.client import Client
from streams.settings import Settings
from streams.wire import Record
from tests.conftest import unavailable
from tests.pipeline import next_version, page, records
from topics import catalogue
from topics.admin import apply
from topics.topic import Topic

LATE = 1.0  # seconds after a deadline that are allowed here; 0.25 on a quiet machine
PROFILE = 'name = "three"\nsummary = "three legs"\nlegs = ["dense", "sparse", "fulltext"]\nlegs_budget = 0.8\n'
ASKED: dict[str, Any] = {"tenant": "outcomes", "profile": "three", "cache": False}


@pytest.fixture(scope="module")
async def own_stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """Servers of this module's own: on those of all tests, other processors would answer."""
    try:
        started = await start(tmp_path_factory.mktemp("servers"), broker="kafka")
    except EmbeddedError as error:
        unavailable(str(error))
        raise
    await migrate(started.endpoints.postgres)
    await apply(started.endpoints.kafka)
    yield started
    await started.stop()


@pytest.fixture
def settings(own_stack: Stack, tmp_path: Path) -> Settings:
    at, profiles = own_stack.endpoints, tmp_path / "profiles"
    profiles.mkdir()
    (profiles / "three.toml").write_text(PROFILE)
    return Settings(
        data_dir=tmp_path,
        kafka=at.kafka,
        qdrant=at.qdrant,
        postgres=at.postgres,
        redis=at.redis,
        profiles=profiles,
        session_timeout=6.0,
    )


@asynccontextmanager
async def running(settings: Settings, *processors: str) -> AsyncIterator[Client]:
    """Run some processors in this process, and yield a client."""
    fleet = Fleet(settings, processors)
    try:
        await fleet.start()
        await fleet.ready()
        async with Client(bootstrap=settings.kafka) as client:
            yield client
    finally:
        await fleet.stop()


async def timed(client: Client, text: str, timeout: float, **fields: Any) -> tuple[QueryReply, float]:
    began = time.monotonic()
    reply = await client.ask(text, timeout=timeout, **{**ASKED, **fields})
    return reply, time.monotonic() - began


async def test_with_all_legs_silent_fuse_answers_by_the_deadline(settings: Settings) -> None:
    async with running(settings, "prepare", "fuse") as client:
        for timeout in (5.0, 0.6):  # first the legs' budget ends the wait, then the deadline
            reply, took = await timed(client, "anyone there?", timeout)
            assert took < min(timeout, 0.8) + LATE
            assert (reply.error, reply.passages, reply.degraded) == (None, (), True)
            ran = {leg: (report.status, report.reason) for leg, report in reply.legs.items()}
            silent, off = ("timeout", "no result in time"), ("skipped", "off in profile")
            assert ran == dict.fromkeys(("dense", "sparse", "fulltext"), silent) | dict.fromkeys(("qa", "graph"), off)
            assert reply.reasons == tuple(f"{leg}: no result in time" for leg in ("dense", "fulltext", "sparse"))


async def test_with_a_dead_fuse_the_client_says_so_at_the_deadline_and_the_next_fuse_drops_what_is_over(
    settings: Settings,
) -> None:
    async with running(settings, "prepare") as client:
        replies = await asyncio.gather(*(timed(client, f"question {number}", 0.5) for number in range(5)))
        for reply, took in replies:
            assert reply.error is not None
            assert (reply.error.error_class, reply.error.message) == ("no reply", "no reply came by the deadline")
            assert took < 0.5 + LATE
        assert client.in_flight == 0
    async with running(settings, "prepare", "fuse") as client:
        reply, took = await timed(client, "and now?", 5.0)
        assert (reply.error, took < 0.8 + LATE) == (None, True)


async def joining(fuse: Fleet) -> None:
    """Return when `fuse` has the question and waits for its legs; a leg's result alone is worked on for a moment."""
    async with asyncio.timeout(20):
        looks = 0
        while looks < 3:
            await asyncio.sleep(0.1)
            looks = looks + 1 if fuse.vitals()[0].in_flight else 0


async def test_a_fuse_that_stops_gives_its_questions_the_legs_they_wait_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leg that comes after the signal is in the answer, and no other is said to be missing."""
    assert settings.profiles is not None
    patient = 'name = "patient"\nsummary = "two legs"\nlegs = ["sparse", "fulltext"]\nbudget = 6.0\nlegs_budget = 4.0\n'
    (settings.profiles / "patient.toml").write_text(patient)
    search, begun = QdrantVectors.search_sparse, asyncio.Event()

    async def slowly(*given: Any, **named: Any) -> Any:
        begun.set()
        await asyncio.sleep(2.0)
        return await search(*given, **named)

    monkeypatch.setattr(QdrantVectors, "search_sparse", slowly)
    async with running(settings, "prepare", "retrieve-fulltext", "retrieve-sparse") as client:
        leaving = Fleet(settings, ["fuse"])
        await leaving.start()
        await leaving.ready()
        asked = asyncio.create_task(timed(client, "zebra crossing", 10.0, profile="patient"))
        await begun.wait()
        await joining(leaving)
        await leaving.stop()
        reply, _ = await asked
        ran = {leg: report.status for leg, report in reply.legs.items() if report.status != "skipped"}
        assert (reply.error, reply.degraded, ran) == (None, False, {"fulltext": "empty", "sparse": "empty"})


async def test_a_fuse_that_stops_answers_without_a_leg_that_is_silent(settings: Settings) -> None:
    """However long the profile lets the legs take, the process must end, and its question has an answer."""
    assert settings.profiles is not None
    slow = 'name = "slow"\nsummary = "two legs"\nlegs = ["sparse", "fulltext"]\nbudget = 40.0\nlegs_budget = 30.0\n'
    (settings.profiles / "slow.toml").write_text(slow)
    async with running(settings, "prepare", "retrieve-fulltext") as client:
        leaving = Fleet(settings, ["fuse"])
        await leaving.start()
        await leaving.ready()
        asked = asyncio.create_task(timed(client, "zebra crossing", 40.0, profile="slow"))
        await joining(leaving)
        await leaving.stop()
        reply, took = await asked
        ran = {leg: report.status for leg, report in reply.legs.items() if report.status != "skipped"}
        assert (reply.error, reply.degraded, ran) == (None, True, {"fulltext": "empty", "sparse": "timeout"})
        assert took < 30.0


async def test_empty_timeout_error_and_skipped_are_told_apart(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise StoreUnavailable("the vector index is away")

    async with running(settings, "prepare", "fuse", "retrieve-fulltext", "retrieve-sparse") as client:
        reply, _ = await timed(client, "zebra crossing", 5.0)
        assert {leg: report.status for leg, report in reply.legs.items()} == {
            "fulltext": "empty",
            "sparse": "empty",
            "dense": "timeout",
            "qa": "skipped",
            "graph": "skipped",
        }
        assert reply.reasons == ("dense: no result in time",)
        wordless, _ = await timed(client, "?!", 5.0)
        told = wordless.legs["fulltext"]
        assert (told.status, told.reason) == ("skipped", "no words in the question")
        assert (wordless.error, wordless.passages) == (None, ())
        monkeypatch.setattr(QdrantVectors, "search_sparse", refuse)
        broken, _ = await timed(client, "zebra crossing again", 5.0)
        assert (broken.legs["sparse"].status, broken.legs["fulltext"].status) == ("error", "empty")
        assert broken.reasons == ("dense: no result in time", "sparse: its store is not available")


async def test_what_a_tenant_publishes_over_its_quota_moves_to_the_bulk_lane_as_it_came(settings: Settings) -> None:
    """`chunk` alone, with one token a second: the first document overdraws it for minutes."""

    async def sent(topic: Topic, tenant: str) -> list[Record]:
        found = await records(settings.kafka or "", topic)
        return [each for each in found if f'"tenant":"{tenant}"'.encode() in (each.value or b"")]

    async def until(topic: Topic, tenant: str, number: int) -> list[Record]:
        for _ in range(60):
            if len(found := await sent(topic, tenant)) >= number:
                return found
            await asyncio.sleep(0.1)
        raise AssertionError(f"{topic.name} has {len(found)} of {number}")

    def desk(number: int, tenant: str) -> DocumentChange:
        return page(f"desk-{number}", f"# Desk {number}\n\nDesk {number} is free.", tenant=tenant)

    async with running(dataclasses.replace(settings, tenant_quota=1.0), "chunk") as client:
        await client.publish(desk(0, "much"))
        await until(catalogue.CHUNKS, "much", 1)
        for number in range(1, 21):
            await client.publish(desk(number, "much"))
        await client.publish(desk(0, "little"))
        gone = DocumentChange(tenant="much", source="help", doc_id="desk-0", version=next_version(), op="delete")
        await client.publish(gone)
        moved = await until(catalogue.DOCUMENT_CHANGES_BULK, "much", 20)
        await until(catalogue.CHUNKS, "little", 1)
        await until(catalogue.RECEIPTS, "much", 1)  # the deletion's: it went on at once
        assert len(await sent(catalogue.CHUNKS, "much")) == 1
        assert await sent(catalogue.DOCUMENT_CHANGES_BULK, "little") == []
    came = {(each.key, each.value, *each.headers.items()) for each in await sent(catalogue.DOCUMENT_CHANGES, "much")}
    as_moved = {(each.key, each.value, *each.headers.items()) for each in moved}
    assert (len(as_moved), len(came), as_moved < came) == (20, 22, True)
    assert all(b"traceparent" in str(each.headers).encode() for each in moved)


@asynccontextmanager
async def process(settings: Settings, *processors: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run processors in a process of their own, so that this one's clock stays true under load."""
    assert settings.kafka and settings.qdrant and settings.postgres and settings.redis
    given = {
        names.KAFKA: settings.kafka,
        names.QDRANT: settings.qdrant,
        names.POSTGRES: settings.postgres,
        names.REDIS: settings.redis,
        names.PROFILES: str(settings.profiles),
        names.DATA_DIR: str(settings.data_dir),
        names.SESSION: "6",
    }
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "streams.cli.main", "run", *processors),
        env={**os.environ, **given},
        stderr=asyncio.subprocess.PIPE,
    )
    reading: asyncio.Task[bytes] | None = None
    try:
        assert child.stderr is not None
        async with asyncio.timeout(90):
            while line := await child.stderr.readline():
                if b"running:" in line:
                    break
            else:
                raise AssertionError("it ended before it ran")
        reading = asyncio.create_task(child.stderr.read())  # a full pipe would stop it
        yield child
    finally:
        if child.returncode is None:
            child.terminate()
            await asyncio.wait_for(child.wait(), 15)
        if reading is not None:
            await reading


async def test_five_times_the_load_is_refused_at_once_and_is_over_soon(settings: Settings) -> None:
    timeout, seconds = 4.0, 6.0
    async with process(settings, "all"), Client(bootstrap=settings.kafka, max_in_flight=100_000) as client:
        for number in range(5):
            text = f"# Relay {number}\n\nThe relay number {number} listens on port 844{number}."
            await client.publish(page(f"relay-{number}", text, tenant="outcomes"), wait=True)
        for _ in range(20):
            await timed(client, "which port?", 10.0)

        answered = 0
        until = time.monotonic() + 4.0

        async def one_after_another() -> None:
            nonlocal answered
            while time.monotonic() < until:
                reply, _ = await timed(client, "which port does the relay use?", 10.0)
                answered += reply.error is None

        await asyncio.gather(*(one_after_another() for _ in range(8)))
        rate = 5 * answered / 4.0
        asking: list[asyncio.Task[tuple[QueryReply, float]]] = []
        began = time.monotonic()
        while (now := time.monotonic()) < began + seconds:
            while len(asking) < (now - began) * rate:
                text = f"which port does relay {len(asking)} use?"
                asking.append(asyncio.create_task(timed(client, text, timeout)))
            await asyncio.sleep(0.005)
        outcomes = await asyncio.gather(*asking)

        classes = Counter(reply.error.error_class if reply.error else "answered" for reply, _ in outcomes)
        refused = sorted(took for reply, took in outcomes if reply.error and reply.error.error_class == "overloaded")
        worst = max(took for _, took in outcomes)
        recovering = time.monotonic()
        while True:
            reply, took = await timed(client, "which port does the relay use?", timeout)
            if reply.error is None and not reply.degraded and took < 1.0:
                break
            assert time.monotonic() - recovering < 10
        print(
            f"{rate:.0f} questions/s for {seconds:g} s: {dict(classes)}, worst {worst:.2f} s of {timeout:g} s, refused "
            f"after {refused[len(refused) // 2] if refused else 0:.2f} s (median), "
            f"recovered {time.monotonic() - recovering:.1f} s after the last outcome"
        )
        assert worst < timeout + LATE
        assert client.in_flight == 0
        assert refused
        assert classes["answered"] > 0
        # At most a quarter of its time before `prepare`, a second before the legs, and their way to `fuse`.
        assert refused[len(refused) // 2] < 0.75 * timeout
        # Who is not answered is told so before its deadline; silence (none on a quiet machine) is the exception.
        assert classes["no reply"] <= 0.2 * len(outcomes)
