"""Scenarios in which what comes in is bad: 8 poison, 9 malformed, 10 disorder, 11 repeated questions, 12 sizes."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from schemas import codec
from schemas.documents import DocumentChange
from streams import wire
from streams.gateways import questions
from streams.processors import catalogue
from tests.faults import stores
from tests.faults.evidence import LEGS, Asked
from tests.faults.load import PROFILE, Page
from tests.faults.stores import PLANTED
from tests.faults.system import System
from tests.faults.waiting import until
from topics import admin
from topics.catalogue import CONSUMED, DOCUMENT_CHANGES, QUERIES, REPLIES, document_key
from topics.topic import LARGEST_RECORD

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
    # Each reads in a group of its own; nobody reads the log while no generation is built from it, and the query log
    # passes over what it cannot read.
    telling = [each for each in catalogue.ALL if not each.per_generation and each not in catalogue.LOG]
    readers = Counter(processor.source.name for processor in telling)
    worst = 0.0
    headers = [(PLANTED, b"1")]
    try:
        for topic in (topic for topic in CONSUMED if readers[topic.name]):
            async with system.fault(f"poison on {topic.name}"):
                for value in POISON.values():
                    await producer.send_and_wait(
                        topic.name, value, key=b"poison", headers=headers, partition=rng.randrange(topic.partitions)
                    )
                    system.planted += readers[topic.name]
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
                await until(lambda doc=change.doc_id: doc not in load.waiting, 20.0, pause=0.02)  # type: ignore[misc]
            worst = max(worst, time.monotonic() - begun)
    finally:
        await producer.stop()
    print(f"    a page behind poison was searchable after {worst:.2f} s at worst")
    if worst > 2.0 + sum(halt for _, halt in load.stalls[-50:]):
        system.timed.append(f"a page behind poison was searchable after {worst:.1f} s (bound 2 s)")


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
                await asyncio.sleep(0.5 / system.rates[0])  # order is what this is about, not more than can be done
            await producer.flush()
        for change in events:
            system.ledger.delivered(load.tenant, change.doc_id, change.version)
    finally:
        await producer.stop()
    await asyncio.sleep(3.0)


WRONG = (b"NaN", b"-Infinity", b"1e999", b'"\xff\xfe"', b'"\\u0000"', b"null", b"[]", b"{}", b'"\\ud800"')


def malformed(rng: random.Random) -> bytes:
    """Return bytes that are no message, of a random kind."""
    kind = rng.randrange(7)
    if kind == 0:
        return rng.randbytes(rng.randrange(1, 400))
    if kind == 1:
        return rng.choice([b"[", b'{"a":']) * rng.randrange(1, 20_000)
    name = rng.choice([b"DocumentChange", b"QueryRequest", b"Receipt", b""])
    wrong = rng.choice(WRONG)
    return b'{"name":"' + name + b'","tenant":' + wrong + b',"doc_id":' + wrong + b',"text":' + wrong + b"}"


async def flood(system: System, rng: random.Random, cut: bool) -> None:
    """9: malformed inputs by the thousand, among them some of 5 MB; good questions go on as before."""
    load = system.load
    assert load is not None
    number = 1_000 if cut else 10_000
    pids = {name: process.pid for name, process in system.processes.items()}
    before = _latencies(system, 0.0)
    producer = AIOKafkaProducer(
        bootstrap_servers=system.kafka, acks="all", linger_ms=5, max_request_size=LARGEST_RECORD
    )
    await producer.start()
    begun = time.time()
    address = [
        (wire.CORRELATION_ID, b"nobody"),
        (wire.REPLY_TOPIC, REPLIES.name.encode()),
        (wire.REPLY_PARTITION, (next(iter(_unread(system)))).to_bytes(4, "big")),
    ]
    try:
        async with system.fault(f"{number} malformed inputs", settle=5.0):
            for place in range(number):
                value = malformed(rng)
                if place % (number // 5) == 7:
                    value = b'{"name":"DocumentChange","content":"' + b"\xfe" * 5_000_000
                topic, answered = (DOCUMENT_CHANGES, False) if place % 3 else (QUERIES, rng.random() < 0.5)
                if len(value) > topic.largest_record - 10_000:
                    topic, answered = DOCUMENT_CHANGES, False
                headers = [(PLANTED, b"1"), *(address if answered else [])]
                await producer.send(topic.name, value, key=rng.randbytes(4), headers=headers)
                system.planted += not answered
                if place % 10 == 9:
                    await asyncio.sleep(0.02)
            await producer.flush()
            for _ in range(90):
                if sum((await system.lag()).values()) < 200:
                    break
                await asyncio.sleep(1.0)
    finally:
        await producer.stop()
    during = _latencies(system, begun)
    print(f"    p99 of good questions: {_p99(before):.2f} s before, {_p99(during):.2f} s during")
    if before and during and _p99(during) > 2 * max(_p99(before), 0.25):
        system.timed.append(f"p99 of good questions: {_p99(before):.2f} → {_p99(during):.2f} s")
    for name, process in system.processes.items():
        if process.pid != pids[name]:
            system.own.append(f"{name} was started again")


def _unread(system: System) -> list[int]:
    """Return partitions of the reply topic that no client here reads."""
    return sorted(set(range(REPLIES.partitions)) - system.client._replies.partitions)


def _latencies(system: System, since: float) -> list[float]:
    assert system.load is not None
    asked = {each.id: each.at for each in system.ledger.asked(system.load.tenant)}
    return [each.at - asked[each.id] for each in system.load.outcomes if asked[each.id] >= since]


def _p99(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, round(0.99 * len(values)))] if values else 0.0


async def repeats(system: System, rng: random.Random, cut: bool) -> None:
    """11: questions come several times; a client dies after asking a thousand."""
    load = system.load
    assert load is not None
    number = 200 if cut else 1_000
    producer = AIOKafkaProducer(bootstrap_servers=system.kafka, acks="all")
    await producer.start()
    (own,) = system.client._replies.partitions
    dead = _unread(system)[0]

    async def send(question: Asked, text: str, partition: int) -> None:
        fields = {"query_id": question.id, "tenant": load.tenant, "text": text, "profile": PROFILE}
        _, value = questions.encoded(fields | {"deadline": question.deadline, "cache": False, "progressive": True})
        headers = questions.headers(question.id, partition, questions.new_traceparent())
        await producer.send_and_wait(QUERIES.name, value, key=question.id.encode(), headers=headers)

    async def twice(question: Asked, text: str) -> None:
        for _ in range(2):
            await send(question, text, own)

    try:
        async with system.fault("every question comes three times", settle=5.0):
            for _ in range(10 if cut else 25):
                load.go(load.ask(repeat=twice))
                await asyncio.sleep(0.4)
        before = sum((await stores.ends(system.kafka, REPLIES.name)).values())
        # What is asked in one moment is more than there is time for: it expires.
        async with system.fault(f"{number} questions of a dead client", legs=LEGS, answers=True, settle=8.0):
            for _ in range(number):
                now = time.time()
                question = Asked(id=questions.new_id(now), doc="", at=now, deadline=now + 4.0)
                await send(question, f"What is {load.rng.choice(load.pages).name}?", dead)
            await asyncio.sleep(5.0)
    finally:
        await producer.stop()
    grown = sum((await stores.ends(system.kafka, REPLIES.name)).values()) - before
    print(f"    {number} questions of a dead client: {grown} replies in all meanwhile")
    if differences := await admin.check(system.kafka, [REPLIES]):
        system.own.append(f"the reply topic is not bounded: {differences[0]}")
    if grown > 2 * number + 200:
        system.own.append(f"{grown} replies to {number} questions")


async def unproducible(system: System, rng: random.Random, cut: bool) -> None:
    """12: an output that the broker refuses; then the broker says nothing for 20 s."""
    load = system.load
    assert load is not None
    producer = AIOKafkaProducer(bootstrap_servers=system.kafka, acks="all", max_request_size=LARGEST_RECORD)
    await producer.start()
    system.may_grow.add("chunk")  # the memory of one text of 12 MB is not given back at once
    # U+1D160 has four bytes, and twelve in its composed form: the accepted version does not fit into a record.
    grows = chr(0x1D160) * 1_000_000
    change = DocumentChange(
        tenant=load.tenant, source="faults", doc_id="grows", version=1, title="It grows", content=grows
    )
    try:
        async with system.fault("an output that is too large", settle=5.0):
            load.note(change, planted=True)
            key = document_key(change.tenant, change.source, change.doc_id)
            headers = [(PLANTED, b"1")]
            try:
                await producer.send_and_wait(DOCUMENT_CHANGES.name, codec.encode(change), key=key, headers=headers)
                system.planted += 1
            except KafkaError as error:
                system.own.append(f"the record could not be sent: {error}")
            await asyncio.sleep(3.0)
    finally:
        await producer.stop()
    broker = system.stack.pids()["kafka"]
    async with system.fault("broker stopped", legs=LEGS, answers=True, settle=20.0):
        os.kill(broker, signal.SIGSTOP)
        try:
            await asyncio.sleep(8.0 if cut else 20.0)
        finally:
            os.kill(broker, signal.SIGCONT)
        await asyncio.sleep(10.0)
    await asyncio.sleep(5.0)
