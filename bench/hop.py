"""hop: one record through a worker with a handler that does nothing, on asyncio's loop and on uvloop.

Each side runs in a process of its own, `python -m bench.hop LOOP BOOTSTRAP`, which prints its numbers as JSON.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from bench import system
from bench.figures import Figure, median, percentile
from schemas.documents import DocumentStatus
from streams.app import Worker
from streams.processor import Processor
from streams.settings import Settings
from streams.wire import Outgoing
from topics.catalogue import DOCUMENT_STATUS, RECEIPTS

ROUNDS = 3
WARM_UP = 100
SINGLE = 400  # records one after another
MANY = 4_000  # records at once
LOOPS = ("asyncio", "uvloop")


async def measure() -> list[Figure]:
    """Measure both loops in turn, several times, on one broker."""
    seen: dict[str, dict[str, list[float]]] = {loop: {} for loop in LOOPS}
    async with system.servers() as settings:
        for number in range(ROUNDS):
            for loop in LOOPS if number % 2 == 0 else LOOPS[::-1]:
                for name, value in (await _side(loop, settings)).items():
                    seen[loop].setdefault(name, []).append(value)
    figures = [
        Figure(name=f"{name}, {loop}", value=median(values), unit=_unit(name), note=f"median of {ROUNDS} runs")
        for loop in LOOPS
        for name, values in seen[loop].items()
    ]
    for name in seen["asyncio"]:
        ratio = median([new / old for new, old in zip(seen["uvloop"][name], seen["asyncio"][name], strict=True)])
        figures.append(Figure(name=f"{name}, uvloop / asyncio", value=ratio, unit="×"))
    return figures


def _unit(name: str) -> str:
    return "records/s" if name.startswith("rate") else "ms"


async def _side(loop: str, settings: Settings) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.hop", loop, str(settings.kafka), str(settings.fast_fetch)]
    child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    said, _ = await child.communicate()
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}")
    numbers: dict[str, float] = json.loads(said)
    return numbers


async def _handle(message: DocumentStatus, _: Any) -> Sequence[Outgoing]:
    return [Outgoing(topic=DOCUMENT_STATUS, key=message.doc_id.encode(), message=message)]


async def _measured(bootstrap: str, *, fast_fetch: bool) -> dict[str, float]:
    """Return milliseconds and rates: from a producer to a consumer, and the same with a worker between the two."""
    passes = Processor(
        name=f"bench-{uuid.uuid4().hex[:8]}",
        summary="passes on",
        source=dataclasses.replace(RECEIPTS, carries=(DocumentStatus,)),
        sinks=(DOCUMENT_STATUS,),
        handle=_handle,
        keyed=False,
        latency=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), kafka=bootstrap, session_timeout=6.0, fast_fetch=fast_fetch)
        worker = Worker(passes, None, settings)
        await worker.start()
        try:
            async with asyncio.timeout(60), _ends(bootstrap, fast_fetch=fast_fetch) as ends:
                await worker.assigned.wait()
                plain, through = await ends.singles(DOCUMENT_STATUS.name, RECEIPTS.name)
                plain_rate = await ends.rate(DOCUMENT_STATUS.name)
                through_rate = await ends.rate(RECEIPTS.name)
        finally:
            await worker.stop()
    return {
        "produce → consume, p50": median(plain),
        "produce → consume, p95": percentile(plain, 0.95),
        "produce → worker → consume, p50": median(through),
        "produce → worker → consume, p95": percentile(through, 0.95),
        "a worker adds, p50": median(through) - median(plain),
        "rate of produce → consume": plain_rate,
        "rate of produce → worker → consume": through_rate,
    }


class _Ends:
    """A producer at one end, a consumer at the other."""

    def __init__(self, producer: AIOKafkaProducer, consumer: AIOKafkaConsumer) -> None:
        self._producer = producer
        self._consumer = consumer
        self._run = uuid.uuid4().hex

    async def singles(self, *topics: str) -> list[list[float]]:
        """Return, by topic, the milliseconds of records that are sent one after another, to each topic in turn."""
        took: list[list[float]] = [[] for _ in topics]
        for number in range(WARM_UP + SINGLE):
            for topic, times in zip(topics, took, strict=True):
                value = self._value(topic, number)
                began = time.perf_counter()
                delivery = await self._producer.send(topic, value, key=b"%d" % number)
                while (await self._consumer.getone()).value != value:
                    pass  # of an earlier round
                if number >= WARM_UP:
                    times.append((time.perf_counter() - began) * 1000)
                await delivery
        return took

    async def rate(self, topic: str) -> float:
        """Return the records a second, of many that are sent as fast as they go."""
        wanted = {self._value(f"{topic}-many", number) for number in range(MANY)}
        began = time.perf_counter()
        sending = asyncio.create_task(self._send(topic, list(wanted)))
        left = set(wanted)
        while left:
            for records in (await self._consumer.getmany(timeout_ms=1000)).values():
                left -= {record.value for record in records}
        await sending
        return MANY / (time.perf_counter() - began)

    async def _send(self, topic: str, values: Sequence[bytes]) -> None:
        for number, value in enumerate(values):
            await self._producer.send(topic, value, key=b"%d" % number)

    def _value(self, topic: str, number: int) -> bytes:
        from schemas.codec import encode

        fields = {"tenant": "bench", "source": "hop", "generation": "g1", "status": "searchable"}
        return encode(DocumentStatus(doc_id=f"{self._run}-{topic}-{number}", version=number, **fields))  # type: ignore[arg-type]


@asynccontextmanager
async def _ends(bootstrap: str, *, fast_fetch: bool) -> AsyncIterator[_Ends]:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=0)
    consumer = AIOKafkaConsumer(
        DOCUMENT_STATUS.name,
        bootstrap_servers=bootstrap,
        auto_offset_reset="latest",
        fetch_max_wait_ms=30 if fast_fetch else 500,
    )
    await producer.start()
    await consumer.start()
    await consumer.seek_to_end()
    for partition in consumer.assignment():
        await consumer.position(partition)
    try:
        yield _Ends(producer, consumer)
    finally:
        await consumer.stop()
        await producer.stop()


def main() -> None:
    """Measure one loop and print the numbers."""
    loop, bootstrap, fast_fetch = sys.argv[1:4]
    factory = uvloop.new_event_loop if loop == "uvloop" else None
    with asyncio.Runner(loop_factory=factory) as runner:
        print(json.dumps(runner.run(_measured(bootstrap, fast_fetch=fast_fetch == "True"))))


if __name__ == "__main__":
    main()
