"""Dead letters as the runner writes them, of any error, on a real broker."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from aiokafka import AIOKafkaProducer

from schemas.base import Message
from schemas.dead_letters import ErrorClass
from streams.errors import Invalid, Transient
from streams.processor import Processor
from streams.runner import Outcome, Runner
from streams.wire import RawOutgoing, Record

ERRORS: Mapping[ErrorClass, Exception | None] = {
    "decode": None,  # its bytes are the error
    "validation": Invalid("must be otherwise", field="title"),
    "transient-exhausted": Transient("no answer"),
    "timeout": TimeoutError(),
    "bug": ZeroDivisionError("division by zero"),
}
_offsets = itertools.count(10**9)  # beyond those of any record


@asynccontextmanager
async def producing(kafka: str) -> AsyncIterator[AIOKafkaProducer]:
    producer = AIOKafkaProducer(bootstrap_servers=kafka, acks="all", max_request_size=9_000_000)
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


def record(processor: Processor, value: bytes | None, **fields: Any) -> Record:
    """Return a record as the processor would consume it, at an offset of its own."""
    given = {"partition": 0, "offset": next(_offsets), "timestamp": 1_700_000_000.0, "key": b"k", "headers": {}}
    return Record(topic=processor.source.name, value=value, **{**given, **fields})


async def die(kafka: str, processor: Processor, died: Record, error: Exception | None = None) -> None:
    """Have the runner handle a record that a handler fails on, with an error or because it cannot be read."""

    async def fails(_: Message, __: Any) -> Any:
        assert error is not None, "it could be read"
        raise error

    async def at_once(_: float) -> None:
        await asyncio.sleep(0)

    async with producing(kafka) as producer:

        async def produce(out: RawOutgoing) -> None:
            await producer.send_and_wait(
                out.topic, out.value, key=out.key, partition=out.partition, headers=list(out.pairs)
            )

        runner = Runner(replace(processor, handle=fails), None, produce, sleep=at_once)
        assert await runner.run(died) is Outcome.DEAD_LETTERED
