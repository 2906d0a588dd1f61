"""What a worker says of its health, on a real broker."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiokafka import AIOKafkaProducer

from schemas import codec
from schemas.documents import Receipt
from streams import watchdog
from streams.app import Worker
from streams.errors import ConfigurationError, StoreUnavailable
from streams.gateways.health import Health
from streams.processor import Processor
from streams.settings import Settings
from streams.wire import Outgoing
from tests.integration.test_delivery import create, until
from tests.integration.worker_process import topic

RECEIPT = Receipt(tenant="acme", source="s", doc_id="d", version=1, generation="g", writer="text")


async def ask(port: int, path: str) -> tuple[int, dict[str, Any]]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as response:
        return response.status, await response.json()


class Subject:
    """A worker whose handler the test commands, and its health."""

    def __init__(self, kafka: str, folder: Path) -> None:
        self.store_is_away = False
        self.done = 0
        self.kafka = kafka
        self.source = f"in-{uuid.uuid4().hex[:8]}"
        self.processor = Processor(
            name=f"h-{self.source}", summary="", source=topic(self.source), sinks=(), handle=self._handle
        )
        self.settings = Settings(data_dir=folder, kafka=kafka, session_timeout=6.0)
        self.workers: list[Worker] = []
        self.health = Health(lambda: [worker.vitals for worker in self.workers], host="127.0.0.1", port=0)

    async def _handle(self, _: Receipt, __: Any) -> Sequence[Outgoing]:
        if self.store_is_away:
            raise StoreUnavailable("postgres: no connection")
        self.done += 1
        return ()

    async def send(self) -> None:
        producer = AIOKafkaProducer(bootstrap_servers=self.kafka, acks="all")
        await producer.start()
        await producer.send_and_wait(self.source, codec.encode(RECEIPT), key=b"d")
        await producer.stop()

    def start(self) -> Worker:
        worker = Worker(self.processor, None, self.settings)
        self.workers.append(worker)
        return worker


async def test_health_follows_a_worker_from_its_start_to_its_stop(
    kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "INTERVAL", 0.2)
    subject = Subject(kafka, tmp_path)
    await create(kafka, subject.source, f"{subject.source}.dlq")
    port = await subject.health.start()
    try:
        assert [(await ask(port, path))[0] for path in ("/livez", "/readyz")] == [200, 503]
        worker = subject.start()
        await worker.start()
        await asyncio.wait_for(worker.assigned.wait(), 40)
        await until(lambda: worker._app.consumer.flow_active and not worker._app.consumer.leaderless)
        await asyncio.sleep(0.5)
        assert (await ask(port, "/readyz"))[0] == 200
        await subject.send()
        await until(lambda: subject.done == 1)

        subject.store_is_away = True
        await subject.send()
        await until(lambda: worker.vitals.waiting is not None)
        assert (await ask(port, "/livez"))[0] == 200
        status, body = await ask(port, "/readyz")
        assert status == 503
        assert "waiting for a store" in body["problems"][subject.processor.name][0]

        subject.store_is_away = False
        await until(lambda: subject.done == 2)
        await asyncio.sleep(0.5)
        assert (await ask(port, "/readyz"))[0] == 200
        await worker.stop()
        assert (await ask(port, "/readyz"))[1]["problems"] == {subject.processor.name: ["stopping"]}
    finally:
        await subject.health.stop()


@pytest.fixture
async def impatient(
    kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Subject, Worker]]:
    """A subject and its worker, not started yet, which gives up after a second without progress."""
    monkeypatch.setattr(watchdog, "INTERVAL", 0.2)
    monkeypatch.setattr("streams.domain.vitals.NO_PROGRESS", 1.0)
    subject = Subject(kafka, tmp_path)
    await create(kafka, subject.source, f"{subject.source}.dlq")
    worker = subject.start()
    yield subject, worker
    await worker.stop()


async def test_a_consumer_that_fell_silent_stops_its_worker(impatient: tuple[Subject, Worker]) -> None:
    subject, worker = impatient
    await worker.start()
    await asyncio.wait_for(worker.assigned.wait(), 40)
    await subject.send()
    await until(lambda: subject.done == 1)
    await asyncio.sleep(2)
    assert not worker.failed.done()  # all is read: silence is no fault
    worker._app.consumer._thread._fetch_records = _silent  # as after a broker's restart
    await asyncio.sleep(2)  # a fetch that is under way takes a second at most
    await subject.send()
    error = await asyncio.wait_for(worker.failed, 20)
    assert "none came for" in str(error)


async def test_records_that_were_handed_over_and_never_reach_their_handler_stop_the_worker(
    impatient: tuple[Subject, Worker],
) -> None:
    subject, worker = impatient
    held = asyncio.Event()
    worker._dispatcher.submit = lambda *_: held.wait()  # as a stream that stopped between the two
    await worker.start()
    try:
        await asyncio.wait_for(worker.assigned.wait(), 40)
        await subject.send()
        error = await asyncio.wait_for(worker.failed, 20)
        assert "none is in work" in str(error)
    finally:
        held.set()


async def _silent(*_: Any, timeout: float = 1.0, **__: Any) -> tuple[int, dict[Any, Any]]:
    await asyncio.sleep(timeout)
    return 0, {}


async def test_an_address_that_is_taken_is_named() -> None:
    first = Health(list, host="127.0.0.1", port=0)
    port = await first.start()
    try:
        with pytest.raises(ConfigurationError, match=f"RANKSTREAM_HEALTH: cannot listen on 127.0.0.1:{port}"):
            await Health(list, host="127.0.0.1", port=port).start()
    finally:
        await first.stop()


@pytest.mark.parametrize("how", ["sleeps", "computes"])
def test_a_process_whose_event_loop_hangs_ends_on_sigterm(how: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.integration.hanging_process", how],
        env={**os.environ, "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"hangs\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 1
            assert process.stderr is not None
            assert b"what was not acknowledged comes again" in process.stderr.read()
        finally:
            process.kill()
