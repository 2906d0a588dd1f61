"""Scenarios in which processes and servers break: 1, 3, 4, 6, 7."""

from __future__ import annotations

import asyncio
import random
import signal
import time

import redis.asyncio

from tests.faults.evidence import LEGS
from tests.faults.processes import GROUPS
from tests.faults.system import SECRETS, SESSION, System

STORM = 110.0  # seconds: on a slow machine a worker takes long to join
VECTORS = frozenset({"dense", "sparse"})


async def crashes(system: System, rng: random.Random, cut: bool) -> None:
    """1: kill -9 each process in turn, three times; then all at once."""
    for _ in range(1 if cut else 3):
        order = list(system.processes.values())
        rng.shuffle(order)
        coming: list[asyncio.Task[float]] = []
        for process in order:
            coming.append(asyncio.create_task(system.crash(process)))
            await asyncio.sleep(4.0)
        await asyncio.gather(*coming)
        await asyncio.sleep(1.0)
    async with system.fault("all killed", legs=LEGS, answers=True, settle=8.0):
        await asyncio.gather(*(process.kill() for process in system.processes.values()))
        for process in system.processes.values():
            process.start()
        await asyncio.gather(*(process.ready() for process in system.processes.values()))
    await asyncio.sleep(3.0)


async def storm(system: System, rng: random.Random, cut: bool) -> None:
    """3: a second worker of every writer joins and leaves, every 3 s."""
    members = tuple(name for group in ("chunk", "embed", "writers", "publish-version") for name in GROUPS[group])
    worst: dict[str, float] = {}
    watching = asyncio.create_task(_states(system, worst))
    try:
        began = time.monotonic()
        for number in range(3 if cut else 10):
            if time.monotonic() - began > STORM:
                break
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
        print(f"    {len(system.extra)} workers came and went")
    system.own += [f"{name} was rebalancing for {seconds:.0f} s" for name, seconds in worst.items() if seconds > 60]


async def _states(system: System, worst: dict[str, float]) -> None:
    """Note for how long each group was rebalancing without a break."""
    from streams.errors import RankstreamError
    from streams.gateways import lag

    since: dict[str, float] = {}
    while True:
        try:
            measured = await lag.measure(system.kafka)
        except RankstreamError:
            await asyncio.sleep(1.0)
            continue
        for each in measured:
            if "Rebalance" in each.state:
                begun = since.setdefault(each.processor, time.monotonic())
                worst[each.processor] = max(worst.get(each.processor, 0.0), time.monotonic() - begun)
            else:
                since.pop(each.processor, None)
        await asyncio.sleep(1.0)


async def zombie(system: System, rng: random.Random, cut: bool) -> None:
    """4: writers stop for two sessions while another worker takes over, and come back with what they had in hand."""
    assert system.load is not None
    names = ("chunk", "writers") if cut else ("chunk", "writers", "publish-version")
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
    broken = {"qdrant": VECTORS, "postgres": LEGS, "redis": frozenset()}
    for name, legs in broken.items():
        proxy = system.proxies[name]
        for mode in ("reset", "black hole"):
            # Without Postgres nothing can be checked against what is live: no answer rather than a wrong one. Which
            # generation is live is asked there too, so that all legs may be left with no time.
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
    # The budget of the legs is 3.5 s: the reply comes then, not when the leg does.
    for outcome in system.load.outcomes:
        question = asked[outcome.id]
        inside = begun + 0.5 < question.at and outcome.at < ended
        if inside and outcome.error is None and outcome.at - question.at > 3.5 + 0.75 + outcome.stall:
            system.timed.append(f"{outcome.id}: answered after {outcome.at - question.at:.1f} s, its legs have 3.5 s")
