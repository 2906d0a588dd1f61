"""The first scenarios of the matrix: crashes, rebalances, zombies, stores that break, slow legs, poison, disorder."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import redis.asyncio
from aiokafka import AIOKafkaProducer

from schemas import codec
from tests.faults.load import Page
from tests.faults.processes import GROUPS
from tests.faults.stores import PLANTED
from tests.faults.system import SECRETS, SESSION, TAKEOVER, System
from topics.catalogue import CONSUMED, DOCUMENT_CHANGES, document_key


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One row of the matrix."""

    number: int
    title: str
    run: Callable[[System, random.Random, bool], Awaitable[None]]
    takeover_bound: float | None = None
    warm_up: float = 3.0  # seconds of load before it
    seconds: float = 200.0  # at most


VECTORS = frozenset({"dense", "sparse"})
TEXTS = frozenset({"fulltext", "qa", "graph"})


async def crashes(system: System, rng: random.Random, cut: bool) -> None:
    """1: kill -9 each process in turn, three times; then all at once."""
    for _ in range(1 if cut else 3):
        order = list(system.processes.values())
        rng.shuffle(order)
        coming: list[asyncio.Task[float]] = []
        for process in order:
            coming.append(asyncio.create_task(system.crash(process)))
            await asyncio.sleep(2.0)
        await asyncio.gather(*coming)
        await asyncio.sleep(1.0)
    async with system.fault("all killed", legs=VECTORS | TEXTS, answers=True, settle=8.0):
        await asyncio.gather(*(process.kill() for process in system.processes.values()))
        for process in system.processes.values():
            process.start()
        await asyncio.gather(*(process.ready() for process in system.processes.values()))
    await asyncio.sleep(3.0)


async def storm(system: System, rng: random.Random, cut: bool) -> None:
    """3: a second worker of every writer joins and leaves, every 3 s."""
    members = tuple(
        name for group in ("chunk", "embed", "index-text", "index-vectors", "publish-version") for name in GROUPS[group]
    )
    worst: dict[str, float] = {}
    watching = asyncio.create_task(_states(system, worst))
    try:
        for number in range(3 if cut else 10):
            second = system.process(f"second-{number % 2}", members)
            system.extra.append(second)
            async with system.fault("a worker joins", settle=3.0):
                second.start()
                await second.ready()
            await asyncio.sleep(max(0.5, rng.uniform(0.5, 3.0)))
            async with system.fault("a worker leaves", settle=3.0):
                if rng.random() < 0.3:
                    await second.kill()
                else:
                    await second.terminate()
    finally:
        watching.cancel()
    system.own += [f"{name} was rebalancing for {seconds:.0f} s" for name, seconds in worst.items() if seconds > 60]


async def _states(system: System, worst: dict[str, float]) -> None:
    """Note for how long each group was rebalancing without a break."""
    from streams.cli import lag
    from streams.errors import RankstreamError

    since: dict[str, float] = {}
    while True:
        try:
            measured = await lag.measure(system.kafka)
        except RankstreamError:
            await asyncio.sleep(1.0)
            continue
        for each in measured.lags:
            if "Rebalance" in each.state:
                begun = since.setdefault(each.processor, time.monotonic())
                worst[each.processor] = max(worst.get(each.processor, 0.0), time.monotonic() - begun)
            else:
                since.pop(each.processor, None)
        await asyncio.sleep(1.0)


async def zombie(system: System, rng: random.Random, cut: bool) -> None:
    """4: writers stop for two sessions while another worker takes over, and come back with what they had in hand."""
    assert system.load is not None
    names = ("chunk", "index-vectors") if cut else ("chunk", "index-text", "index-vectors", "publish-version")
    for name in names:
        process = system.processes[name]
        spare = system.process(f"spare-{name}", process.processors)
        system.extra.append(spare)
        spare.start()
        await spare.ready()
        await asyncio.sleep(1.0)
        async with system.fault(f"{name} stopped", settle=3.0):
            # What it has in hand is edited again while it sleeps.
            held = [page for page in system.load.pages if page.name in system.load.waiting]
            process.signal(signal.SIGSTOP)
            begun = time.time()
            try:
                await asyncio.sleep(SESSION + 1.0)
                for page in held[:10]:
                    system.load.go(system.load.edit(page))
                await asyncio.sleep(max(0.0, begun + 2 * SESSION - time.time()))
            finally:
                process.signal(signal.SIGCONT)
        await asyncio.sleep(2.0)
        await spare.terminate()


async def stores_break(system: System, rng: random.Random, cut: bool) -> None:
    """6: each store's connections are reset, then it is a black hole, then it is back; Redis is emptied."""
    seconds = 3.0 if cut else 6.0
    broken = {"qdrant": VECTORS, "postgres": TEXTS, "redis": frozenset()}
    for name, legs in broken.items():
        proxy = system.proxies[name]
        for mode in ("reset", "black hole"):
            # Without Postgres nothing can be checked against what is live: no answer rather than a wrong one.
            async with system.fault(
                f"{name}: {mode}",
                legs=legs,
                answers=name == "postgres",
                certain=() if name == "postgres" else legs,
                settle=8.0,
            ):
                proxy.set(mode)  # type: ignore[arg-type]
                try:
                    await asyncio.sleep(seconds)
                finally:
                    proxy.set("pass")
            await asyncio.sleep(3.0)
    async with system.fault("redis: FLUSHALL"):
        valkey = redis.asyncio.from_url(system.stack.endpoints.redis, password=SECRETS["redis"])
        await valkey.flushall()
        await valkey.aclose()
    await asyncio.sleep(3.0)


async def slow_leg(system: System, rng: random.Random, cut: bool) -> None:
    """7: the vector store answers after 5 s; then after 300 ms, more or less."""
    assert system.load is not None
    proxy = system.proxies["qdrant"]
    begun = time.time()
    try:
        async with system.fault("qdrant: 5 s slow", legs=VECTORS, certain=VECTORS, settle=8.0):
            proxy.set("latency", delay=5.0)
            await asyncio.sleep(6.0 if cut else 12.0)
            proxy.set("pass")
            ended = time.time()
        await asyncio.sleep(8.0)
        async with system.fault("qdrant: 300 ms slow", settle=5.0):
            proxy.set("latency", delay=0.3, jitter=0.2)
            await asyncio.sleep(5.0 if cut else 12.0)
    finally:
        proxy.set("pass")
    asked = {each.id: each for each in system.ledger.asked(system.load.tenant)}
    # The budget of the legs is 3 s: the reply comes then, not when the leg does.
    for outcome in system.load.outcomes:
        question = asked[outcome.id]
        inside = begun + 0.5 < question.at and outcome.at < ended
        if inside and outcome.error is None and outcome.at - question.at > 3.0 + 0.75 + outcome.stall:
            system.own.append(f"{outcome.id}: answered after {outcome.at - question.at:.1f} s, its legs have 3 s")


POISON: dict[str, bytes | None] = {
    "no value": None,
    "empty": b"",
    "not UTF-8": b'{"name":"DocumentChange","tenant":"\xff\xfe","doc_id":"x","version":1}',
    "UTF-16": '{"name":"DocumentChange"}'.encode("utf-16"),
    "cut short": b'{"name":"DocumentChange","tenant":"acme","doc_id":',
    "not JSON": b"<xml>no</xml>",
    "compressed": bytes.fromhex("1f8b08000000000000030300000000000000000000"),
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "NaN": b'{"name":"DocumentChange","tenant":"acme","doc_id":"x","version":NaN}',
    "huge number": b'{"name":"DocumentChange","tenant":"acme","doc_id":"x","version":1' + b"0" * 400 + b"}",
    "wrong type": b'{"name":"DocumentChange","tenant":"acme","doc_id":"x","version":"one"}',
    "other message": b'{"name":"Receipt","schema_version":1}',
    "newer schema": b'{"name":"DocumentChange","schema_version":99,"tenant":"acme","doc_id":"x","version":1}',
    "NUL in a name": b'{"name":"DocumentChange","tenant":"ac\\u0000me","doc_id":"x","version":1}',
    "lone surrogate": b'{"name":"DocumentChange","tenant":"\\ud800","doc_id":"x","version":1}',
    "a list": b"[1,2,3]",
}


async def poison(system: System, rng: random.Random, cut: bool) -> None:
    """8: what cannot be read, of every class, on every topic; what stands behind it is not held up."""
    load = system.load
    assert load is not None
    producer = AIOKafkaProducer(bootstrap_servers=system.kafka, acks="all")
    await producer.start()
    readers = {"prepared": 5}  # every leg has its group
    worst = 0.0
    headers = [(PLANTED, b"1")]
    try:
        for topic in CONSUMED:
            async with system.fault(f"poison on {topic.name}"):
                for value in POISON.values():
                    await producer.send_and_wait(
                        topic.name, value, key=b"poison", headers=headers, partition=rng.randrange(topic.partitions)
                    )
                    system.planted += readers.get(topic.name, 1)
        for number, value in enumerate(POISON.values()):
            if cut and number % 4:
                continue
            page = Page(f"behind{'abcdefghijklmnop'[number]}", load.rng)
            change = page.next(load.tenant)
            key = document_key(change.tenant, change.source, change.doc_id)
            partition = number % DOCUMENT_CHANGES.partitions
            async with system.fault("poison before a page"):
                await producer.send(DOCUMENT_CHANGES.name, value, key=key, headers=headers, partition=partition)
                system.planted += 1
                load.note(change)
                begun = time.monotonic()
                await producer.send_and_wait(DOCUMENT_CHANGES.name, codec.encode(change), key=key, partition=partition)
                system.ledger.delivered(load.tenant, change.doc_id, change.version)
                while change.doc_id in load.waiting and time.monotonic() < begun + 20:
                    await asyncio.sleep(0.02)
            worst = max(worst, time.monotonic() - begun)
    finally:
        await producer.stop()
    print(f"    a page behind poison was searchable after {worst:.2f} s at worst")
    if worst > 2.0 + sum(halt for _, halt in load.stalls[-50:]):
        system.own.append(f"a page behind poison was searchable after {worst:.1f} s (timed; bound 2 s)")


async def disorder(system: System, rng: random.Random, cut: bool) -> None:
    """10: events arrive one to five times and shuffled, with deletions and re-creations."""
    load = system.load
    assert load is not None
    pages = [Page(f"shuffled{a}{b}", load.rng) for a in "abcd" for b in ("xyz" if cut else "rstuvxyz")]
    events = []
    for page in pages:
        for number in range(6):
            change = page.next(load.tenant, delete=number in (2, rng.choice((4, 5))))
            load.note(change)
            events += [change] * rng.randint(1, 5)
    rng.shuffle(events)
    producer = AIOKafkaProducer(bootstrap_servers=system.kafka, acks="all", linger_ms=5)
    await producer.start()
    try:
        async with system.fault(f"{len(events)} shuffled events"):
            for change in events:
                key = document_key(change.tenant, change.source, change.doc_id)
                await producer.send(DOCUMENT_CHANGES.name, codec.encode(change), key=key)
                await asyncio.sleep(0.005)
            await producer.flush()
        for change in events:
            system.ledger.delivered(load.tenant, change.doc_id, change.version)
    finally:
        await producer.stop()
    await asyncio.sleep(3.0)


ALL: tuple[Scenario, ...] = (
    Scenario(number=1, title="kill -9 each in turn, then all at once", run=crashes, takeover_bound=TAKEOVER),
    Scenario(number=3, title="rebalance storm", run=storm),
    Scenario(number=4, title="SIGSTOP two sessions, SIGCONT", run=zombie),
    Scenario(number=6, title="stores: reset, black hole, FLUSHALL", run=stores_break),
    Scenario(number=7, title="one leg 5 s slow, then 300 ms", run=slow_leg),
    Scenario(number=8, title="poison of every class", run=poison),
    Scenario(number=10, title="duplicated and shuffled events", run=disorder),
)
