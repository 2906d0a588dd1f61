"""Kept answers: the twin and Redis alike; and what Redis alone can show: servers that are away, silent or emptied."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis

from streams.adapters import redis_answers
from streams.adapters.memory_answers import MemoryAnswers
from streams.adapters.redis_answers import RedisAnswers, open_answers
from streams.embedded import valkey
from streams.embedded.processes import free_port
from streams.errors import ConfigurationError, Transient
from streams.ports import Answers
from tests.contract.broken_network import Proxy, proxy


@pytest.fixture(params=["memory", "real"])
def answers(request: pytest.FixtureRequest) -> Answers:
    found: Answers = request.getfixturevalue(f"{request.param}_answers")
    return found


@pytest.fixture
def memory_answers() -> MemoryAnswers:
    return MemoryAnswers()


@pytest.fixture
async def real_answers(redis_url: str) -> AsyncIterator[RedisAnswers]:
    async with opened(redis_url) as answers:
        yield answers


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[RedisAnswers]:
    answers = open_answers(url)
    try:
        yield answers
    finally:
        await answers.close()


def new_key() -> str:
    return f"answers:test:{uuid.uuid4().hex}"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a crowded machine take its time."""
    monkeypatch.setattr(redis_answers, "PATIENCE", 1.0)


async def patiently(answers: Answers, key: str) -> bytes | None:
    """Ask until there is an answer: a server may be slow to take its first connection, and is then left alone."""
    deadline = time.monotonic() + 15
    while True:
        try:
            return await answers.get(key)
        except Transient:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


async def test_what_is_kept_is_found_under_its_key_and_no_other(answers: Answers) -> None:
    key, value = new_key(), bytes(range(256)) * 100
    assert await patiently(answers, key) is None
    await answers.put(key, value, 60)
    assert await answers.get(key) == value
    assert await answers.get(new_key()) is None
    await answers.put(key, b"", 60)
    assert await answers.get(key) == b""


async def test_it_is_forgotten_when_its_time_is_over(answers: Answers) -> None:
    short, long = new_key(), new_key()
    await patiently(answers, short)
    await answers.put(short, b"short", 1)
    await answers.put(long, b"long", 60)
    assert await answers.get(short) == b"short"
    await asyncio.sleep(1.1)
    assert (await answers.get(short), await answers.get(long)) == (None, b"long")


async def test_many_at_once_get_their_own(answers: Answers) -> None:
    keys = [new_key() for _ in range(40)]
    await patiently(answers, keys[0])
    await asyncio.gather(*(answers.put(key, key.encode(), 60) for key in keys))
    assert await asyncio.gather(*(answers.get(key) for key in keys)) == [key.encode() for key in keys]


async def test_processes_share_what_is_kept(redis_url: str) -> None:
    key = new_key()
    async with opened(redis_url) as one, opened(redis_url) as other:
        await patiently(one, key)
        await one.put(key, b"shared", 60)
        assert await patiently(other, key) == b"shared"


@pytest.mark.parametrize(
    "url", ["redis://127.0.0.1:1/0", "redis://no-such-host.invalid:6379", "unix:///no/such/socket"]
)
async def test_a_server_that_is_not_there_costs_a_question_little_and_the_next_nothing(url: str) -> None:
    async with opened(url) as answers:
        begun = time.monotonic()
        with pytest.raises(Transient, match=r"^redis"):
            await answers.get("k")
        first = time.monotonic()
        assert first - begun < 1.0
        for _ in range(100):
            with pytest.raises(Transient):
                await answers.get("k")
        assert time.monotonic() - first < 0.5


@pytest.mark.parametrize(
    "url",
    [
        "localhost:6379",
        "http://:secret@localhost",
        "redis://:secret@localhost:port",
        "redis://:secret@localhost/first",
        "redis://:secret@localhost?db=first",
        "redis://:secret@localhost?no_such_option=1",
        "redis://:secret@[::1",
    ],
)
async def test_what_is_no_url_is_named_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^REDIS_URL is no URL") as raised:
        open_answers(url)
    assert "secret" not in str(raised.value)


@asynccontextmanager
async def behind_a_proxy(url: str) -> AsyncIterator[tuple[RedisAnswers, Proxy]]:
    at = urlsplit(url)
    async with proxy(at.port or 6379) as between:
        login, _, _ = at.netloc.rpartition("@")
        place = f"{login}@127.0.0.1:{between.port}" if login else f"127.0.0.1:{between.port}"
        async with opened(at._replace(netloc=place).geturl()) as answers:
            yield answers, between


async def test_a_silent_network_costs_a_moment_and_mixes_nothing_up(redis_url: str) -> None:
    """Replies that come late, when the network is back, belong to nobody."""
    keys = [new_key() for _ in range(30)]
    async with behind_a_proxy(redis_url) as (answers, between):
        for key in keys:
            await patiently(answers, key)
            await answers.put(key, key.encode(), 60)
        for round_ in range(3):
            between.passing.clear()
            begun = time.monotonic()
            found = await asyncio.gather(*(answers.get(key) for key in keys), return_exceptions=True)
            assert {type(each) for each in found} == {Transient}
            assert time.monotonic() - begun < redis_answers.PATIENCE + 0.4
            await asyncio.sleep(0.1 if round_ == 0 else redis_answers.REST)
            between.passing.set()
            for key in keys:
                assert await patiently(answers, key) == key.encode()


async def test_a_caller_that_is_cancelled_leaves_at_once_and_mixes_nothing_up(redis_url: str) -> None:
    async with behind_a_proxy(redis_url) as (answers, between):
        one, other = new_key(), new_key()
        await patiently(answers, one)
        for key in (one, other):
            await answers.put(key, key.encode(), 60)
        between.passing.clear()
        asking = asyncio.create_task(answers.get(one))
        await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        between.passing.set()
        assert [await patiently(answers, key) for key in (other, one, other)] == [
            key.encode() for key in (other, one, other)
        ]


async def test_a_server_that_was_emptied_or_restarted_has_forgotten_and_goes_on(tmp_path: Path) -> None:
    port = free_port()
    server = await valkey.start(tmp_path / "valkey", port=port, log=tmp_path / "log")
    async with opened(server.url) as answers:
        key = new_key()
        await patiently(answers, key)
        await answers.put(key, b"kept", 60)
        async with Redis.from_url(server.url) as client:
            await client.flushall()
        assert await answers.get(key) is None
        await answers.put(key, b"kept", 60)
        assert await answers.get(key) == b"kept"

        await server.child.kill()
        with pytest.raises(Transient):
            await answers.get(key)
        server = await valkey.start(tmp_path / "valkey", port=port, log=tmp_path / "log")
        assert await patiently(answers, key) is None
        await answers.put(key, b"again", 60)
        assert await answers.get(key) == b"again"

        async with Redis.from_url(server.url) as client:
            await client.config_set("maxmemory-policy", "noeviction")
            await client.config_set("maxmemory", "1")
            with pytest.raises(Transient, match=r"OOM|memory"):
                await answers.put(new_key(), b"more", 60)
        assert await answers.get(key) == b"again"  # it refuses to keep, and still gives
    await server.child.stop(5)
