"""Scenarios of operation: 0 nothing, 2 rolling restart, 5 broker away, 13 overload, 14 hanging handlers, 15 soak."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter

import msgspec
from aiokafka import AIOKafkaProducer

from schemas import codec
from schemas.documents import DocumentChange
from tests.faults.evidence import LEGS
from tests.faults.inputs import POISON
from tests.faults.load import Page
from tests.faults.processes import ANSWERING, FLAGGED
from tests.faults.stores import PLANTED
from tests.faults.system import System
from topics.catalogue import DOCUMENT_CHANGES, document_key

EXIT = 10.0  # seconds in which a process ends after SIGTERM
HANGING_EXIT = 15.0  # seconds, whatever hangs in it


def plain(change: DocumentChange) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Return a change as an old sender writes it: no name, no schema version, no field that has its default."""
    fields = {name: value for name, value in msgspec.to_builtins(change).items() if value not in ("", [], {}, None)}
    fields.pop("name", None)
    fields.pop("schema_version", None)
    return json.dumps(fields).encode(), []


def newer(change: DocumentChange) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Return a change as a newer sender may write it: with a field that is not known yet."""
    return json.dumps({**msgspec.json.decode(codec.encode(change)), "colour": {"of": "tomorrow"}}).encode(), []


def event(change: DocumentChange) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Return a change as a CloudEvent in binary mode."""
    headers = {"ce_specversion": "1.0", "ce_type": "dev.rankstream.document.upsert", "ce_source": "faults"}
    headers |= {"ce_id": f"{change.doc_id}-{change.version}", "content-type": "application/json"}
    return codec.encode(change), [(name, value.encode()) for name, value in headers.items()]


async def nothing(_: System, __: random.Random, cut: bool) -> None:
    """0: the load alone; what it takes here is what faults are compared with."""
    await asyncio.sleep(10.0 if cut else 30.0)


async def rolling(system: System, rng: random.Random, cut: bool) -> None:
    """2: every process is replaced by a new one, which starts first; messages of old and new senders meanwhile."""
    sending = asyncio.create_task(_mixed(system))
    try:
        names = list(system.processes)
        for place in range(0, len(names), 2):
            await asyncio.gather(*(_replaced(system, name) for name in names[place : place + 2]))
        await asyncio.sleep(2.0)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def _replaced(system: System, name: str) -> None:
    old = system.processes[name]
    new = system.process(name, old.processors)
    system.extra.append(old)
    # Every question is answered all the same; a leg's result may come to the other `fuse` than the one that waits.
    async with system.fault(f"{name} replaced", legs=FLAGGED.get(name, ()), settle=3.0):
        old.expected_away = True  # from here on the new one is watched
        new.start()
        await new.ready()
        system.processes[name] = new
        took = await old.terminate(EXIT)
    print(f"    {name}: ended {took:.1f} s after SIGTERM")


async def _mixed(system: System) -> None:
    load = system.load
    assert load is not None
    pages = [Page(f"mixed{letter}", load.rng) for letter in "abcdefgh"]
    producer = AIOKafkaProducer(bootstrap_servers=system.kafka, acks="all")
    await producer.start()
    try:
        for number in range(2_000):
            page = pages[number % len(pages)]
            change = page.next(load.tenant)
            load.note(change)
            value, headers = (plain, newer, event)[number % 3](change)
            key = document_key(change.tenant, change.source, change.doc_id)
            await producer.send_and_wait(DOCUMENT_CHANGES.name, value, key=key, headers=headers)
            system.ledger.delivered(load.tenant, change.doc_id, change.version)
            await asyncio.sleep(0.5)
    finally:
        await producer.stop()


async def broker_down(system: System, rng: random.Random, cut: bool) -> None:
    """5: the broker is killed, and back after ten seconds."""
    async with system.fault("broker down", legs=LEGS, answers=True, settle=20.0):
        await system.stack.kill("kafka")
        await asyncio.sleep(10.0)
        await system.stack.revive("kafka")
        await asyncio.sleep(10.0)
    # By now everybody has found it again.
    await asyncio.sleep(15.0)


async def overload(system: System, rng: random.Random, cut: bool) -> None:
    """13: five times the load for half a minute."""
    load = system.load
    assert load is not None
    documents, asked = system.rates
    before = len(load.outcomes)
    async with system.fault("5 × the load", legs=LEGS, answers=True, settle=10.0):
        load.start(4 * documents, 4 * asked, watch=False)  # beside what runs
        await asyncio.sleep(10.0 if cut else 30.0)
        await load.calm()
    load.start(documents, asked, watch=False)
    await asyncio.sleep(20.0)
    said = Counter(outcome.error or "answer" for outcome in load.outcomes[before:])
    print(f"    outcomes: {dict(said)}")
    if said["no reply"] > 0 and said["overloaded"] == 0:
        system.own.append(f"{said['no reply']} questions ran into their deadline, none was told `overloaded`")


async def hanging(system: System, rng: random.Random, cut: bool) -> None:
    """14: a handler that never returns, in three ways; SIGTERM ends the process all the same."""
    for how in ("hang", "hang-deaf") if cut else ("hang", "hang-deaf", "hang-loop"):
        process = system.processes["chunk"]
        async with system.fault(f"chunk: {how}", settle=3.0):
            await process.terminate(EXIT)
            process.start(FAULTS_SABOTAGE=how)
            await process.ready()
            await asyncio.sleep(3.0)
            took = await process.terminate(HANGING_EXIT, expected=(0, 1))
            print(f"    {how}: ended {took:.1f} s after SIGTERM with {process.code}")
            process.start()
            await process.ready()
        await asyncio.sleep(1.0)


async def soak(system: System, rng: random.Random, cut: bool) -> None:
    """15: what a seed picks from all of these, one after the other."""
    until = time.monotonic() + (25.0 if cut else 80.0)
    menu = (_soak_crash, _soak_pause, _soak_store, _soak_second, _soak_broker, _soak_poison)
    while time.monotonic() < until:
        await rng.choice(menu)(system, rng)
        await asyncio.sleep(rng.uniform(0.5, 2.0))
    await asyncio.sleep(3.0)


async def _soak_crash(system: System, rng: random.Random) -> None:
    await system.crash(rng.choice(list(system.processes.values())))


async def _soak_pause(system: System, rng: random.Random) -> None:
    process = rng.choice(list(system.processes.values()))
    async with system.away(process, "stopped"):
        process.signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(rng.uniform(1.0, 9.0))
        finally:
            process.signal(signal.SIGCONT)
        await asyncio.sleep(3.0)


async def _soak_store(system: System, rng: random.Random) -> None:
    name, legs = rng.choice([("qdrant", ("dense", "sparse")), ("postgres", LEGS), ("redis", ())])
    mode = rng.choice(["reset", "black hole"])
    async with system.fault(f"{name}: {mode}", legs=legs, answers=name == "postgres", settle=8.0):
        system.proxies[name].set(mode)  # type: ignore[arg-type]
        try:
            await asyncio.sleep(rng.uniform(1.0, 4.0))
        finally:
            system.proxies[name].set("pass")


async def _soak_second(system: System, rng: random.Random) -> None:
    name, process = rng.choice(list(system.processes.items()))
    second = system.process(f"soak-{name}", process.processors)
    system.extra.append(second)
    async with system.fault(f"a second {name}", legs=FLAGGED.get(name, ()), answers=name in ANSWERING, settle=6.0):
        second.start()
        await second.ready()
        await asyncio.sleep(1.0)
        await (second.kill() if rng.random() < 0.5 else second.terminate(EXIT))
        await asyncio.sleep(7.0)  # a session


async def _soak_broker(system: System, rng: random.Random) -> None:
    broker = system.stack.pids()["kafka"]
    async with system.fault("broker stopped", legs=LEGS, answers=True, settle=10.0):
        os.kill(broker, signal.SIGSTOP)
        try:
            await asyncio.sleep(rng.uniform(1.0, 4.0))
        finally:
            os.kill(broker, signal.SIGCONT)


async def _soak_poison(system: System, rng: random.Random) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=system.kafka, acks="all")
    await producer.start()
    try:
        async with system.fault("poison"):
            for value in POISON.values():
                await producer.send_and_wait(DOCUMENT_CHANGES.name, value, key=b"poison", headers=[(PLANTED, b"1")])
                system.planted += 1
    finally:
        await producer.stop()
