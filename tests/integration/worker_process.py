"""A worker process for tests that kill it: copies records from one topic to another, slowly and with random delays."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.documents import Receipt
from streams.app import Worker
from streams.processor import Processor
from streams.settings import Settings
from streams.wire import Outgoing
from topics.topic import Topic


def topic(name: str) -> Topic:
    return Topic(name=name, carries=(Receipt,), key="any", partitions=4)


async def main(kafka: str, folder: str, name: str, source: str, sink: str) -> None:
    async def copy(receipt: Receipt, _: Any) -> Sequence[Outgoing]:
        await asyncio.sleep(random.uniform(0, 0.03))
        return [Outgoing(topic=topic(sink), key=receipt.doc_id.encode(), message=receipt)]

    processor = Processor(name=name, summary="", source=topic(source), sinks=(topic(sink),), handle=copy, in_flight=16)
    worker = Worker(processor, None, Settings(data_dir=Path(folder), kafka=kafka, session_timeout=6.0))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await worker.start()
    await worker.assigned.wait()
    print("ready", flush=True)
    await ended.wait()
    await worker.stop()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
