"""gateway: what HTTP adds to a question, and what two hundred clients that listen to revisions take of memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiokafka import AIOKafkaProducer

from bench import beside, corpus, processes, system
from bench.figures import Figure, Promise, median, percentile
from schemas import codec
from schemas.queries import QueryRequest
from schemas.replies import LegScore, Milliseconds, Passage, QueryReply
from streams import settings as names
from streams import wire
from streams.errors import ConfigurationError, RankstreamError
from streams.gateways.client import Client
from streams.gateways.tail import Tail
from streams.settings import Settings
from topics.catalogue import QUERIES

PASSAGES = 5
WARM_UP = 30
QUESTIONS = 300
LISTENING = 200  # clients
SETTLE = 10.0  # seconds, until every client has asked several times
STEADY = 30.0  # seconds
BETWEEN = 1.0  # seconds from the first revision to the last
MIB = 1024**2


async def measure() -> list[Figure]:
    """Ask each question on both ways, the order changing; then let many listen to revisions."""
    async with system.servers() as found:
        async with _answering(found, revisions=1), _gateway(found) as (http, pid), _client(found) as client:
            figures = await _adds(client, http, pid)
        async with _answering(found, revisions=2), _gateway(found) as (http, pid):
            return figures + await _listening(http, pid)


async def _adds(client: Client, http: aiohttp.ClientSession, pid: int) -> list[Figure]:
    """Compare; the answer comes at once, since a search would add to both ways the same time, and its noise."""

    async def over_kafka(text: str) -> QueryReply:
        return await client.ask(text, tenant=corpus.TENANT)

    async def over_http(text: str) -> QueryReply:
        async with http.post("/v1/query", json={"text": text}) as response:
            return codec.decode(await response.read(), QueryReply)

    ways = {"Kafka client": over_kafka, "HTTP": over_http}
    took: dict[str, list[float]] = {name: [] for name in ways}
    asked = corpus.questions()
    computed = 0.0
    for number in range(WARM_UP + QUESTIONS):
        text = next(asked)
        if number == WARM_UP:
            computed = _computed(pid)
        for name in list(ways)[:: 1 if number % 2 else -1]:
            began = time.perf_counter()
            reply = await ways[name](text)
            if len(reply.passages) != PASSAGES:
                raise RankstreamError(f"{name}: {reply.error}")
            if number >= WARM_UP:
                took[name].append((time.perf_counter() - began) * 1000)
    computed = (_computed(pid) - computed) / QUESTIONS * 1000
    differences = [http - kafka for kafka, http in zip(*took.values(), strict=True)]
    return [
        *(
            Figure(name=f"{name}, p50", value=median(values), unit="ms", note=f"p95 {percentile(values, 0.95):.1f} ms")
            for name, values in took.items()
        ),
        Figure(
            name="HTTP adds, p50",
            value=median(differences),
            unit="ms",
            promise=Promise(bound=3),
            note=f"of {QUESTIONS} pairs; {percentile(differences, 0.25):.1f} ms in the best quarter",
        ),
        Figure(name="the gateway computes, a question", value=computed, unit="ms", note="its Kafka client with it"),
    ]


async def _listening(http: aiohttp.ClientSession, pid: int) -> list[Figure]:
    streams = 0

    async def listen() -> None:
        nonlocal streams
        while True:
            async with http.post("/v1/query", json={"text": "x", "progressive": True, "timeout": 30}) as response:
                body = await response.read()
                if response.status != 200 or body.count(b"event: revision") != 2:
                    raise RankstreamError(body.decode())
            streams += 1

    listeners = [asyncio.create_task(listen()) for _ in range(LISTENING)]
    try:
        await asyncio.sleep(SETTLE)
        before = _memory(pid)
        counted, began = streams, time.perf_counter()
        await asyncio.sleep(STEADY)
        after, rate = _memory(pid), (streams - counted) / (time.perf_counter() - began)
    finally:
        for task in listeners:
            task.cancel()
        ended = await asyncio.gather(*listeners, return_exceptions=True)
    if broken := [error for error in ended if not isinstance(error, asyncio.CancelledError)]:
        raise RankstreamError(f"{len(broken)} listeners broke: {broken[0]}")
    return [
        Figure(
            name=f"{LISTENING} listeners, memory (RSS)", value=after / MIB, unit="MiB", note="the gateway's process"
        ),
        Figure(
            name=f"{LISTENING} listeners, growth",
            value=(after - before) / MIB,
            unit="MiB",
            promise=Promise(bound=5),
            note=f"over {STEADY:.0f} s",
        ),
        Figure(name=f"{LISTENING} listeners, streams", value=rate, unit="1/s", note=f"each {BETWEEN:g} s or longer"),
    ]


def _client(found: Settings) -> Client:
    return Client(bootstrap=found.kafka, fast_fetch=found.fast_fetch)


def _computed(pid: int) -> float:
    return sum(usage.seconds for usage in processes.family(pid))


def _memory(pid: int) -> int:
    return sum(usage.rss for usage in processes.family(pid))


@asynccontextmanager
async def _gateway(found: Settings) -> AsyncIterator[tuple[aiohttp.ClientSession, int]]:
    """Run a gateway in a process of its own; yield a session with a key, and its process."""
    async with beside.gateway(found, **{names.HTTP_RATE: "0"}) as at:
        limits = aiohttp.TCPConnector(limit=0)
        headers = {"Authorization": f"Bearer {at.key}"}
        async with aiohttp.ClientSession(f"http://{at.address}", headers=headers, connector=limits) as session:
            yield session, at.pid


@asynccontextmanager
async def _answering(found: Settings, *, revisions: int) -> AsyncIterator[None]:
    """Answer every question at once, with passages as a search would, and with further revisions a while apart."""
    producer = AIOKafkaProducer(bootstrap_servers=str(found.kafka))
    tasks: set[asyncio.Task[None]] = set()

    async def answer(record: Any) -> None:
        request = codec.decode(record.value, QueryRequest)
        address = wire.reply_address(dict(record.headers))
        assert address is not None
        for revision in range(1, revisions + 1):
            if revision > 1:
                await asyncio.sleep(BETWEEN)
            reply = QueryReply(
                query_id=request.query_id,
                profile=request.profile,
                milliseconds=Milliseconds(total=1.0),
                revision=revision,
                final=revision == revisions,
                passages=tuple(_passage(rank) for rank in range(1, PASSAGES + 1)),
            )
            headers = list(wire.reply_headers(address).items())
            await producer.send(address.topic, codec.encode(reply), partition=address.partition, headers=headers)

    def take(record: Any) -> None:
        task = asyncio.create_task(answer(record))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    tail = Tail(found.kafka or "", QUERIES, take, fast_fetch=found.fast_fetch)
    await producer.start()
    try:
        for left in reversed(range(5)):
            try:
                await tail.start()
                break
            except ConfigurationError:  # partitions that were made just now may have no leader yet
                if not left:
                    raise
        yield
    finally:
        await tail.stop()
        for task in tasks:
            task.cancel()
        await producer.stop()


def _passage(rank: int) -> Passage:
    return Passage(
        rank=rank,
        passage_id=str(rank),
        source="help",
        doc_id=f"d{rank}",
        version=1,
        kind="document",
        title="A page",
        heading_path=("A page", "A section"),
        uri="",
        trust="internal",
        text="Some words of a passage. " * 40,
        score=1 / rank,
        fused=0.03,
        legs={"dense": LegScore(rank=rank, score=0.8), "sparse": LegScore(rank=rank, score=7.0)},
        evidence=(str(rank),),
    )
