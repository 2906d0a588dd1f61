"""scale: two `embed` processes against one, with a model that takes a fixed time a text: a sleep, no core is needed."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web

from bench import beside, corpus, system
from bench.figures import Figure, Promise, median
from schemas.documents import DocumentChange
from streams.embedded.processes import HOST, free_port
from streams.errors import RankstreamError
from streams.fleet import Fleet
from streams.gateways.client import Client
from streams.processors import catalogue

NAME, DIMENSION = "fixed-cost", 8
SECONDS = 0.5  # a text, four at once a process: so slow that everything else on the way keeps up on two cores
PAGES = 300  # of one text each: so many that both processes get about the same number by the hash of their keys
ROUNDS = 3  # in turn, so that both meet the same machine
MODELS = """
[embedders.{name}]
kind = "openai"
model = "{name}"
dimension = {dimension}
url = "http://{host}:{port}/v1"
batch = 4
"""
ELSEWHERE = ("embed", "embed-bulk", "replay")  # not in this process


async def measure() -> list[Figure]:
    """Publish the same number of pages to one process and to two, and compare how long the receipts take."""
    took: dict[int, list[float]] = {1: [], 2: []}
    async with _model() as port, system.servers() as given:
        models = given.data_dir / "models.toml"
        models.write_text(MODELS.format(name=NAME, dimension=DIMENSION, host=HOST, port=port))
        settings = dataclasses.replace(given, embedder=NAME, models=models)
        fleet = Fleet(settings, [each.name for each in catalogue.ALL if each.name not in ELSEWHERE])
        try:
            await fleet.start()
            await fleet.ready()
            async with Client(bootstrap=settings.kafka or "", fast_fetch=settings.fast_fetch) as client:
                for turn in range(2 * ROUNDS):
                    count = 1 + turn % 2
                    async with AsyncExitStack() as stack:
                        for number in range(count):
                            await stack.enter_async_context(beside.running(settings, "embed", folder=f"embed-{number}"))
                        await _publish(client, f"warm-{turn}", 8 * count)  # the group has settled
                        took[count].append(await _publish(client, f"round-{turn}", PAGES))
        finally:
            await fleet.stop()
    rates = {count: PAGES / median(seconds) for count, seconds in took.items()}
    note = f"{PAGES} pages, {SECONDS:g} s a text, a sleep; median of {ROUNDS}"
    return [
        *(
            Figure(name=f"{count} `embed` process{'es' * (count > 1)}", value=rate, unit="pages/s", note=note)
            for count, rate in rates.items()
        ),
        Figure(
            name="two processes / one", value=rates[2] / rates[1], unit="×", promise=Promise(bound=1.8, at_least=True)
        ),
    ]


async def _publish(client: Client, source: str, pages: int) -> float:
    """Publish pages of one paragraph and return the seconds until the last receipt."""
    changes: list[DocumentChange] = [
        corpus.page(f"page-{number}", f"Room {number} of {source} is closed.", source=source) for number in range(pages)
    ]
    began = time.perf_counter()
    async for status in client.publish_many(changes, timeout=120, bulk=False):
        if status.status != "searchable":
            raise RankstreamError(f"{status.doc_id}: {status.reason}")
    return time.perf_counter() - began


@asynccontextmanager
async def _model() -> AsyncIterator[int]:
    """Serve the model; yield its port. It works on one request of a connection at a time, as a device would."""

    async def embed(request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        await asyncio.sleep(SECONDS * len(texts))
        rows = [[float(len(text) % (place + 2)) + 1 for place in range(DIMENSION)] for text in texts]
        return web.json_response({"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]})

    app = web.Application()
    app.router.add_post("/v1/embeddings", embed)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, HOST, port).start()
    try:
        yield port
    finally:
        await runner.cleanup()
