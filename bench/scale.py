"""scale: two `embed` processes against one, with a model that takes a fixed time a text: a sleep, no core is needed."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from aiohttp import web

from bench import corpus, system
from bench.figures import Figure, Promise, median
from schemas.documents import DocumentChange
from streams import settings as names
from streams.embedded.processes import HOST, free_port
from streams.errors import RankstreamError
from streams.fleet import Fleet
from streams.gateways.client import Client
from streams.processors import catalogue
from streams.settings import Settings

NAME, DIMENSION = "fixed-cost", 8
SECONDS = 0.4  # a text: so slow that everything else on the way keeps up on two cores
PAGES = 200  # of one text each
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
                            await stack.enter_async_context(_process(settings, number))
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
async def _process(settings: Settings, number: int) -> AsyncIterator[None]:
    """Run `rankstream run embed` beside this process."""
    given = {
        names.KAFKA: str(settings.kafka),
        names.QDRANT: settings.qdrant,
        names.POSTGRES: settings.postgres,
        names.REDIS: settings.redis,
        names.MODELS: str(settings.models),
        names.EMBEDDER: NAME,
        names.DATA_DIR: str(settings.data_dir / f"embed-{number}"),
        names.SESSION: f"{settings.session_timeout:g}",
    }
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "streams.cli.main", "run", "embed"),
        cwd=Path(__file__).parents[1],
        env={**os.environ, **{name: value for name, value in given.items() if value}},
        stderr=asyncio.subprocess.PIPE,
    )
    assert child.stderr is not None
    reading: asyncio.Task[bytes] | None = None
    try:
        async with asyncio.timeout(90):
            while b"running:" not in (line := await child.stderr.readline()):
                if not line:
                    raise RankstreamError("`rankstream run embed` ended before it ran")
        reading = asyncio.create_task(child.stderr.read())  # a full pipe would stop it
        yield
    finally:
        if child.returncode is None:
            child.terminate()
        await asyncio.wait_for(child.wait(), 15)
        if reading is not None:
            await reading


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
