"""Delivery on a real broker: whatever is killed, nothing is lost and no order is broken."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.structs import RecordMetadata

from schemas import codec
from schemas.documents import Receipt
from streams.app import Worker
from streams.processor import Processor
from streams.settings import Settings
from streams.wire import Outgoing
from tests.integration.worker_process import topic

MOST = 20_000  # records fed, if the faults never end
KEYS = 40


async def create(kafka: str, *names: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka)
    await admin.start()
    await admin.create_topics([NewTopic(name, 4, 1) for name in names])
    await admin.close()


async def spawn(kafka: str, folder: Path, group: str, source: str, sink: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.integration.worker_process",
        kafka,
        str(folder),
        group,
        source,
        sink,
        stdout=asyncio.subprocess.PIPE,
    )
    return process


async def ready(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 40) == b"ready\n"


async def until(holds: Callable[[], bool], seconds: float = 40) -> None:
    """Wait until something holds, or time is up."""
    for _ in range(int(seconds * 100)):
        if holds():
            return
        await asyncio.sleep(0.01)


async def read(kafka: str, topic: str, *, enough: int, seconds: float) -> list[Receipt]:
    """Read a topic from its beginning until `enough` different versions were seen, or time is up."""
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=kafka, auto_offset_reset="earliest")
    await consumer.start()
    found: list[Receipt] = []
    different: set[int] = set()
    until = time.monotonic() + seconds
    try:
        while len(different) < enough and time.monotonic() < until:
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    found.append(codec.decode(record.value, Receipt))
                    different.add(found[-1].version)
    finally:
        await consumer.stop()
    return found


async def feed(producer: AIOKafkaProducer, topic: str, over: asyncio.Event) -> list[tuple[int, int]]:
    """Send records until the faults are over, and return the partition and offset of each."""
    sent: list[asyncio.Future[RecordMetadata]] = []
    for number in range(MOST):
        if over.is_set():
            break
        key = f"d{number % KEYS}"
        message = Receipt(tenant="acme", source="s", doc_id=key, version=number, generation="g", writer="text")
        sent.append(await producer.send(topic, codec.encode(message), key=key.encode()))
        await asyncio.sleep(0.004)
    return [(record.partition, record.offset) for record in await asyncio.gather(*sent)]


async def test_nothing_is_lost_when_workers_are_killed(kafka: str, tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    rng = random.Random(seed)
    run = uuid.uuid4().hex[:8]
    source, sink, group = f"in-{run}", f"out-{run}", f"copy-{run}"
    await create(kafka, source, sink, f"{source}.dlq")
    workers = [await spawn(kafka, tmp_path, group, source, sink) for _ in range(2)]
    for worker in workers:
        await ready(worker)

    producer = AIOKafkaProducer(bootstrap_servers=kafka, acks="all")
    await producer.start()

    faults_over = asyncio.Event()
    feeding = asyncio.create_task(feed(producer, source, faults_over))
    try:
        for how in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            await asyncio.sleep(rng.uniform(1.0, 2.0))
            victim = rng.randrange(2)
            assert not feeding.done(), "the fault must meet records in flight"
            workers[victim].send_signal(how)
            assert await asyncio.wait_for(workers[victim].wait(), 12) == (-9 if how == signal.SIGKILL else 0)
            workers[victim] = await spawn(kafka, tmp_path, group, source, sink)
        faults_over.set()
        where = await feeding
        fed = len(where)
        assert fed > 100
        copied = await read(kafka, sink, enough=fed, seconds=60)
    finally:
        feeding.cancel()
        await producer.stop()
        for worker in workers:
            if worker.returncode is None:
                worker.kill()
                await worker.wait()
    times = Counter(receipt.version for receipt in copied)
    missing = sorted(set(range(fed)) - set(times))
    print(f"{fed} records, {len(copied) - len(times)} repeated")
    assert [(number, *where[number]) for number in missing] == []
    first_of_key: dict[str, list[int]] = {}
    seen: set[int] = set()
    for receipt in copied:
        if receipt.version not in seen:
            seen.add(receipt.version)
            first_of_key.setdefault(receipt.doc_id, []).append(receipt.version)
    assert all(versions == sorted(versions) for versions in first_of_key.values())


async def test_records_fetched_before_a_seek_and_delivered_after_it_do_not_hide_others(
    kafka: str, tmp_path: Path
) -> None:
    """Faust seeks and empties its buffers when a rebalance ends, also where the one before it set records flowing."""
    run = uuid.uuid4().hex[:8]
    source, group, count = f"in-{run}", f"seek-{run}", 2_000
    await create(kafka, source, f"{source}.dlq")
    producer = AIOKafkaProducer(bootstrap_servers=kafka, acks="all")
    await producer.start()
    for number in range(count):
        message = Receipt(tenant="acme", source="s", doc_id=str(number), version=1, generation="g", writer="text")
        await producer.send(source, codec.encode(message), key=message.doc_id.encode())
    await producer.stop()

    seen: set[str] = set()

    async def see(receipt: Receipt, _: Any) -> Sequence[Outgoing]:
        await asyncio.sleep(0.002)
        seen.add(receipt.doc_id)
        return ()

    processor = Processor(name=group, summary="", source=topic(source), sinks=(), handle=see, in_flight=4)
    worker = Worker(processor, None, Settings(data_dir=tmp_path, kafka=kafka, session_timeout=6.0))
    await worker.start()
    try:
        await asyncio.wait_for(worker.assigned.wait(), 40)
        for before in range(100, 1_000, 100):
            await until(lambda before=before: len(seen) >= before)
            await worker._app.consumer.perform_seek()
            worker._app.flow_control.resume()
        await until(lambda: len(seen) == count or worker.failed.done())
    finally:
        await worker.stop()
    assert len(seen) == count
