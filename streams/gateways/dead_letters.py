"""Reading the dead letter topics, sending letters back to where they came from, and marking what became of them.

A mark is a record on the partition of its letter, written after it: it is kept for as long as the letter is. Between a
re-driven record and its mark a crash may come, so a record may go back twice; every effect may be repeated.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from schemas.dead_letters import Settled
from streams.domain import letters
from streams.domain.letter_choice import Choice
from streams.domain.letters import Letter, Mark, Place
from streams.errors import Invalid, RankstreamError, Transient
from streams.gateways.broker import open_producer
from streams.gateways.scan import Spans, is_read, reading, scan
from topics.catalogue import CONSUMED
from topics.connection import Kafka
from topics.topic import Topic

LINGER = 5  # milliseconds
AT_ONCE = 200  # records sent back before their marks; so many may go back again after a crash


@dataclass(frozen=True, kw_only=True)
class Found:
    """The letters, each once, by their place; `complete`: the topics were read to their ends."""

    letters: tuple[Letter, ...]
    complete: bool


@dataclass(frozen=True, kw_only=True)
class Body:
    """What a dead letter carries beside what its headers say about it."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, kw_only=True)
class Redriven:
    """What became of one record: it is back on its topic, or why not."""

    letters: tuple[Letter, ...]
    error: RankstreamError | None = None


async def read(
    kafka: Kafka, topics: Sequence[Topic] = CONSUMED, *, seconds: float, choice: Choice | None = None
) -> Found:
    """Read the dead letters of these topics, or of the partitions that a choice names, and what became of them.

    Stops after `seconds`: what is found then may be a part, and letters may look open whose marks were not read.
    Raises ConfigurationError when the broker cannot be reached, Transient when it stops to answer.
    """
    until = time.monotonic() + seconds
    by_name = {topic.dead_letters.name: topic.name for topic in topics}
    found: list[Letter | Mark] = []
    async with reading(kafka) as consumer:
        spans = await _spans(consumer, by_name, choice)
        async for records in scan(consumer, spans, until, to_end=True):
            found += [
                letters.read(
                    _place(record),
                    by_name[record.topic],
                    timestamp=record.timestamp,
                    value=record.value,
                    headers=record.headers,
                )
                for record in records
            ]
        complete = await is_read(consumer, spans, to_end=True)
    settled = letters.settled(found)
    return Found(letters=tuple(each for each in settled if choice is None or choice.matches(each)), complete=complete)


async def body(kafka: Kafka, letter: Letter, *, seconds: float) -> Body | None:
    """Return what a letter carries; none when it is not there any more."""
    place = TopicPartition(letter.place.topic, letter.place.partition)
    spans = {place: (letter.place.offset, letter.place.offset + 1)}
    async with reading(kafka) as consumer:
        async for records in scan(consumer, spans, time.monotonic() + seconds):
            for record in records:
                if record.offset == letter.place.offset:
                    return Body(key=record.key, value=record.value, headers=tuple(record.headers))
    return None


async def redrive(
    kafka: Kafka, chosen: Sequence[Letter], *, seconds: float, on_done: Callable[[Redriven], None] = lambda _: None
) -> list[Redriven]:
    """Send records back to the topics and partitions that they came from, in their order, and mark their letters.

    A record that died at several stages goes back once. Each is marked once its delivery is confirmed. `seconds`: in
    all; what was not sent by then says so.
    """
    by_origin: dict[tuple[Place, int], list[Letter]] = {}
    for letter in chosen:
        by_origin.setdefault((letter.origin, letter.written_ms), []).append(letter)
    wanted = {of[0].place: tuple(of) for of in by_origin.values()}
    done: list[Redriven] = []
    until = time.monotonic() + seconds
    async with reading(kafka) as consumer, _producer(kafka) as producer:
        async for records in scan(consumer, _spans_of(wanted), until):
            going = [(record, of) for record in records if (of := wanted.pop(_place(record), None)) is not None]
            for first in range(0, len(going), AT_ONCE):
                sent = [(of, await _send_back(producer, record, of)) for record, of in going[first : first + AT_ONCE]]
                for each in await asyncio.gather(*(_confirmed(producer, of, delivery) for of, delivery in sent)):
                    done.append(each)
                    on_done(each)
    late = Transient("it was not read in time, or is not there any more")
    for of in wanted.values():
        done.append(Redriven(letters=of, error=late))
        on_done(done[-1])
    return done


async def discard(kafka: Kafka, chosen: Sequence[Letter]) -> None:
    """Mark letters as done with; raises Transient when a mark cannot be delivered."""
    async with _producer(kafka) as producer:
        try:
            await asyncio.gather(*[await _mark(producer, letter, "discarded") for letter in chosen])
        except (KafkaError, OSError) as error:
            raise Transient(f"the broker did not take it: {_said(error)}") from error


async def _send_back(producer: AIOKafkaProducer, record: Any, of: Sequence[Letter]) -> Any:
    """Hand a record to the producer; returns its delivery, or what kept it from being sent."""
    origin = of[0].origin
    try:
        partitions = await producer.partitions_for(origin.topic)
        return await producer.send(
            origin.topic,
            b"" if record.key is None and record.value is None else record.value,  # the producer wants one of them
            key=record.key,
            # Where it lay: the other records of its document are there. A topic that was made smaller goes by the key.
            partition=origin.partition if origin.partition in partitions else None,
            headers=letters.redriven_headers(record.headers, of),
        )
    except (KafkaError, OSError) as error:
        return error


async def _confirmed(producer: AIOKafkaProducer, of: tuple[Letter, ...], delivery: Any) -> Redriven:
    try:
        if isinstance(delivery, Exception):
            raise delivery
        await delivery
        await asyncio.gather(*[await _mark(producer, letter, "redriven") for letter in of])
    except MessageSizeTooLargeError:
        return Redriven(letters=of, error=Invalid(f"{of[0].size} bytes are too many for {of[0].origin.topic}"))
    except (KafkaError, OSError) as error:
        return Redriven(letters=of, error=Transient(f"the broker did not take it: {_said(error)}"))
    return Redriven(letters=of)


async def _mark(producer: AIOKafkaProducer, letter: Letter, what: Settled) -> asyncio.Future[Any]:
    headers = letters.mark_headers(letter, what)
    place = letter.place
    sent: asyncio.Future[Any] = await producer.send(
        place.topic, None, key=str(place).encode(), partition=place.partition, headers=headers
    )
    return sent


def _said(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _place(record: Any) -> Place:
    return Place(topic=record.topic, partition=record.partition, offset=record.offset)


@asynccontextmanager
async def _producer(kafka: Kafka) -> AsyncIterator[AIOKafkaProducer]:
    producer = await open_producer(kafka, linger_ms=LINGER)
    try:
        yield producer
    finally:
        await producer.stop()


async def _spans(consumer: AIOKafkaConsumer, by_name: Mapping[str, str], choice: Choice | None) -> Spans:
    """Return what there is to read; of the partitions that a choice names, where it names any."""
    # All topics are listed, since asking Tansu for a name creates it.
    cluster = await consumer._client.fetch_all_metadata()
    named = choice.addresses if choice is not None else ()
    # A letter lies on the partition that its record came from.
    partitions = [
        TopicPartition(name, number)
        for name, topic in by_name.items()
        for number in sorted(cluster.partitions_for_topic(name) or ())
        if not named or any(at.topic in (name, topic) and at.partition in (None, number) for at in named)
    ]
    if not partitions:
        return {}
    begins, ends = await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)
    return {each: (begins[each], ends[each]) for each in partitions if begins[each] < ends[each]}


def _spans_of(places: Mapping[Place, object]) -> Spans:
    found: dict[TopicPartition, tuple[int, int]] = {}
    for place in places:
        at = TopicPartition(place.topic, place.partition)
        first, last = found.get(at, (place.offset, place.offset + 1))
        found[at] = (min(first, place.offset), max(last, place.offset + 1))
    return found
