"""The four servers together: started, used, restarted, killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import psycopg
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from qdrant_client import AsyncQdrantClient, models
from redis.asyncio import Redis

from streams.embedded import kafka, processes, stack

ROOT = Path(__file__).resolve().parents[2]
PARENT = """
import asyncio, json, sys
from pathlib import Path
from streams.embedded import stack
async def main():
    running = await stack.start(Path(sys.argv[1]), broker=sys.argv[2])
    print(json.dumps(running.pids()), flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""

Start = Callable[..., Awaitable[stack.Stack]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """stack.start on this test's folder; what is started is stopped at the end."""
    started: list[stack.Stack] = []

    async def begin(**options: object) -> stack.Stack:
        said: list[str] = []
        begun = time.perf_counter()
        running = await stack.start(tmp_path / "data", progress=said.append, **options)  # type: ignore[arg-type]
        print(f"\nstarted {sorted(running.pids())} in {time.perf_counter() - begun:.2f} s {said}")
        started.append(running)
        return running

    yield begin
    for running in started:
        begun = time.perf_counter()
        await running.stop()
        print(f"stopped in {time.perf_counter() - begun:.2f} s")


@pytest.fixture
async def broker(java: None) -> str:
    """Kafka where it can be had."""
    try:
        await kafka.prepare(print)
    except kafka.KafkaUnavailable as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))
    return "kafka"


async def test_the_four_servers_answer_and_a_restart_keeps_what_they_stored(start: Start, broker: str) -> None:
    first = await start(broker=broker)
    assert first.endpoints.broker == "kafka"
    assert sorted(first.pids()) == ["kafka", "postgres", "qdrant", "valkey"]
    await create_topic(first.endpoints.kafka, "letters")
    await produce(first.endpoints.kafka, "letters", b"before")
    assert await consume(first.endpoints.kafka, "letters", 1) == [b"before"]
    assert await select(first.endpoints.postgres, "SELECT 1") == [(1,)]
    await execute(first.endpoints.postgres, "CREATE TABLE kept AS SELECT 7 AS n")
    await ping(first.endpoints.redis)
    await create_collection(first.endpoints.qdrant, "things")
    begun = time.perf_counter()
    await first.stop()
    assert time.perf_counter() - begun < 8

    second = await start(broker=broker)
    assert second.endpoints == first.endpoints
    await produce(second.endpoints.kafka, "letters", b"after")
    assert await consume(second.endpoints.kafka, "letters", 2) == [b"before", b"after"]
    assert await select(second.endpoints.postgres, "SELECT n FROM kept") == [(7,)]
    assert await collections(second.endpoints.qdrant) == ["things"]


async def test_a_server_that_was_killed_comes_back_on_its_port_with_its_data(start: Start, broker: str) -> None:
    running = await start(broker=broker)
    await create_topic(running.endpoints.kafka, "letters")
    await produce(running.endpoints.kafka, "letters", b"kept")
    await execute(running.endpoints.postgres, "CREATE TABLE kept AS SELECT 7 AS n")
    await create_collection(running.endpoints.qdrant, "things")
    for name in running.pids():
        await running.kill(name)
    assert len(running.dead()) == 4
    for name in running.pids():
        begun = time.perf_counter()
        await running.revive(name)
        print(f"{name} was back in {time.perf_counter() - begun:.2f} s")
    assert running.dead() == []
    assert await consume(running.endpoints.kafka, "letters", 1) == [b"kept"]
    assert await select(running.endpoints.postgres, "SELECT n FROM kept") == [(7,)]
    assert await collections(running.endpoints.qdrant) == ["things"]
    await ping(running.endpoints.redis)


async def test_a_killed_postgres_comes_back_while_an_old_session_still_computes(start: Start) -> None:
    if sys.platform != "linux":
        pytest.skip("sessions are found by their working directory, through /proc")
    running = await start(kafka="given:9092", qdrant="http://given", redis="redis://given")
    async with await psycopg.AsyncConnection.connect(running.endpoints.postgres) as connection:
        busy = asyncio.create_task(connection.execute("SELECT count(*) FROM generate_series(1, 1000000000)"))
        await asyncio.sleep(0.3)
        await running.kill("postgres")
        await running.revive("postgres")
        assert await select(running.endpoints.postgres, "SELECT 1") == [(1,)]
        with pytest.raises(psycopg.OperationalError):
            await busy


def close_output(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.parametrize("kind", ["kafka", "tansu"])
def test_killing_the_parent_leaves_no_server_and_the_folder_can_be_used_again(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "kafka":
        request.getfixturevalue("java")
    if sys.platform != "linux":
        pytest.skip("only Linux tells a process that its parent died")
    parent, pids = start_parent(tmp_path / "data", kind)
    assert sorted(pids) == sorted([kind, "postgres", "qdrant", "valkey"])
    parent.kill()
    parent.wait()
    close_output(parent)
    again, pids_again = start_parent(tmp_path / "data", kind)
    assert not [name for name, pid in pids.items() if alive(pid)]
    again.kill()
    again.wait()
    close_output(again)
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in pids_again.values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [name for name, pid in pids_again.items() if alive(pid)]


async def test_without_java_a_memory_broker_takes_records(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    running = await start(broker="auto", qdrant="http://given", postgres="postgresql://given", redis="redis://given")
    assert running.endpoints.broker == "tansu"
    assert running.endpoints.qdrant == "http://given"
    assert list(running.pids()) == ["tansu"]
    await create_topic(running.endpoints.kafka, "letters")
    await produce(running.endpoints.kafka, "letters", b"one")
    assert await consume(running.endpoints.kafka, "letters", 1) == [b"one"]


async def test_a_given_broker_starts_none(start: Start) -> None:
    running = await start(kafka="given:9092", postgres="postgresql://given", qdrant="http://given")
    assert running.endpoints.broker == "external"
    assert list(running.pids()) == ["valkey"]


async def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(stack.EmbeddedError, match=rf"{place} cannot be made"):
            await stack.start(place)


async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(stack.EmbeddedError, match=f"{tmp_path} cannot be written"):
        await stack.start(tmp_path)


async def test_a_folder_in_use_is_refused_with_the_owners_pid(start: Start, tmp_path: Path) -> None:
    only_valkey = {"kafka": "given:9092", "postgres": "postgresql://given", "qdrant": "http://given"}
    assert stack.running(tmp_path / "data") is None
    running = await start(**only_valkey)
    assert stack.running(tmp_path / "data") == running.endpoints
    with pytest.raises(stack.EmbeddedError, match=rf"in use by process {os.getpid()}"):
        await start(**only_valkey)
    await running.stop()
    assert stack.running(tmp_path / "data") is None
    await start(**only_valkey)


async def test_one_server_that_fails_stops_the_others_and_is_named(start: Start, tmp_path: Path) -> None:
    (tmp_path / "data" / "postgres").mkdir(parents=True)
    with pytest.raises(stack.EmbeddedError, match=r"^postgres .*\(log: .*postgres\.log\)$"):
        await start(broker="tansu")
    # The folder is free again, and nothing of the failed start is left.
    (tmp_path / "data" / "postgres").rmdir()
    running = await start(broker="tansu")
    assert len(running.pids()) == 4


async def test_a_server_that_never_is_ready_is_given_up(tmp_path: Path) -> None:
    child = processes.spawn("sleeper", ["sh", "-c", "echo waiting for Godot; sleep 60"], log=tmp_path / "log")

    async def never() -> bool:
        return False

    with pytest.raises(processes.EmbeddedError, match=r"sleeper was not ready within 0 s: waiting for Godot"):
        await child.ready(never, within=0.3)
    await child.stop()
    assert not child.alive


async def test_a_process_that_ignores_the_stop_signal_is_killed(tmp_path: Path) -> None:
    child = processes.spawn("deaf", ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"], log=tmp_path / "log")
    await asyncio.sleep(0.2)
    await child.stop(within=0.3)
    assert child.process.returncode == -signal.SIGKILL


async def test_a_command_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(processes.EmbeddedError, match="absent could not be started"):
        processes.spawn("absent", ["/nonexistent"], log=tmp_path / "log")


def test_a_free_port_is_the_preferred_one_unless_it_is_taken() -> None:
    port = processes.free_port()
    assert processes.free_port(port) != port
    processes.give_port_back(port)
    assert processes.free_port(port) == port


def start_parent(folder: Path, kind: str) -> tuple["subprocess.Popen[str]", dict[str, int]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PARENT, str(folder), kind]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert parent.stdout is not None
    return parent, json.loads(parent.stdout.readline())


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


async def create_topic(servers: str, name: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, num_partitions=1, replication_factor=1)])
    finally:
        await admin.close()


async def produce(servers: str, topic: str, value: bytes) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=servers)
    await producer.start()
    try:
        await producer.send_and_wait(topic, value)
    finally:
        await producer.stop()


async def consume(servers: str, topic: str, count: int) -> list[bytes | None]:
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=servers, auto_offset_reset="earliest", enable_auto_commit=False
    )
    await consumer.start()
    try:
        return [(await asyncio.wait_for(consumer.getone(), 15)).value for _ in range(count)]
    finally:
        await consumer.stop()


async def select(url: str, statement: str) -> list[tuple[object, ...]]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        return await (await connection.execute(statement.encode())).fetchall()


async def execute(url: str, statement: str) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(statement.encode())


async def ping(url: str) -> None:
    client = Redis.from_url(url)
    try:
        assert await client.ping()
    finally:
        await client.aclose()


async def create_collection(url: str, name: str) -> None:
    client = AsyncQdrantClient(url=url, check_compatibility=False)
    try:
        vectors = {"dense": models.VectorParams(size=4, distance=models.Distance.COSINE)}
        await client.create_collection(name, vectors_config=vectors)
    finally:
        await client.close()


async def collections(url: str) -> list[str]:
    client = AsyncQdrantClient(url=url, check_compatibility=False)
    try:
        return [each.name for each in (await client.get_collections()).collections]
    finally:
        await client.close()
