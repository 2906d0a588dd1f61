"""The runner: nothing escapes, output before acknowledgement, dead letters with their origin."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from schemas.base import Message
from schemas.documents import Receipt
from streams import wire
from streams.errors import (
    BrokerUnavailable,
    CannotContinue,
    ConfigurationError,
    Invalid,
    ModelUnavailable,
    Overloaded,
    StoreUnavailable,
    Transient,
    Undeliverable,
)
from streams.processor import Failure, Handler, OnFailure, Processor
from streams.runner import ATTEMPTS, Outcome, Runner
from streams.wire import Outgoing, RawOutgoing, Record
from topics import catalogue

MESSAGE = Receipt(tenant="acme", source="help", doc_id="a", version=1, generation="g1", writer="text")
SENT = Outgoing(topic=catalogue.RECEIPTS, key=b"k", message=MESSAGE)


class Broker:
    """Keeps what was produced; refuses when told to."""

    def __init__(self) -> None:
        self.produced: list[RawOutgoing] = []
        self.refuse: Callable[[RawOutgoing], Exception | None] = lambda _: None

    async def produce(self, outgoing: RawOutgoing) -> None:
        if error := self.refuse(outgoing):
            raise error
        self.produced.append(outgoing)


def runner(handle: Handler, broker: Broker, *, now: float = 1_000.0, **fields: Any) -> Runner:
    async def no_pause(_: float) -> None:
        return None

    processor = Processor(
        name="test", summary="", source=catalogue.RECEIPTS, sinks=(catalogue.RECEIPTS,), handle=handle, **fields
    )
    return Runner(processor, None, broker.produce, clock=lambda: now, sleep=no_pause)


async def echo(_: Message, __: Any) -> Sequence[Outgoing]:
    return [SENT]


def raising(*errors: Exception) -> Handler:
    """Return a handler that raises these in turn, then works."""
    left = list(errors)

    async def handle(_: Message, __: Any) -> Sequence[Outgoing]:
        if left:
            raise left.pop(0)
        return [SENT]

    return handle


async def test_outputs_are_delivered_before_the_record_counts_as_done(record: Callable[..., Record]) -> None:
    broker = Broker()
    assert await runner(echo, broker).run(record(MESSAGE)) is Outcome.DONE
    assert [each.topic for each in broker.produced] == ["receipts"]


async def test_the_trace_of_a_record_goes_on_in_what_it_causes(record: Callable[..., Record]) -> None:
    broker = Broker()
    await runner(echo, broker).run(record(MESSAGE, headers={"traceparent": b"00-1-2-01", "other": b"x"}))
    assert broker.produced[0].headers == {"traceparent": b"00-1-2-01"}


@pytest.mark.parametrize(
    ("value", "error_class"),
    [
        (b"\xff\xfe", "decode"),
        (b"{", "decode"),
        (b"[" * 100_000, "validation"),
        (b'{"tenant": NaN}', "decode"),
        (None, "decode"),
        (b'{"name": "Other"}', "validation"),
        (
            b'{"tenant": "ACME", "source": "s", "doc_id": "d", "version": 1, "generation": "g", "writer": "text"}',
            "validation",
        ),
    ],
)
async def test_what_cannot_be_read_is_dead_lettered_at_once_as_it_came(
    record: Callable[..., Record], value: bytes | None, error_class: str
) -> None:
    broker = Broker()
    given = record(value, headers={"own": b"1"})
    assert await runner(echo, broker).run(given) is Outcome.DEAD_LETTERED
    (letter,) = broker.produced
    assert (letter.topic, letter.value, letter.key, letter.partition) == ("receipts.dlq", value, b"k", 3)
    assert letter.headers["own"] == b"1"
    assert letter.headers["rankstream-error-class"].decode() == error_class
    assert letter.headers["rankstream-attempts"] == b"1"
    assert letter.headers["kafka_dlt-original-topic"] == b"t"
    assert letter.headers["kafka_dlt-original-partition"] == b"3"
    assert letter.headers["kafka_dlt-original-offset"] == str(given.offset).encode()
    assert letter.headers["kafka_dlt-original-timestamp"] == b"1000000"
    assert letter.headers["kafka_dlt-original-consumer-group"] == b"rankstream.test"
    assert letter.headers["kafka_dlt-exception-message"]


@pytest.mark.parametrize(
    ("error", "error_class", "attempts"),
    [
        (Invalid("wrong", field="version"), "validation", 1),
        (ValueError("a bug"), "bug", 1),
        (Transient("flaky"), "transient-exhausted", ATTEMPTS),
    ],
)
async def test_a_failure_for_good_is_dead_lettered_under_its_class(
    record: Callable[..., Record], error: Exception, error_class: str, attempts: int
) -> None:
    broker = Broker()
    assert await runner(raising(*[error] * 20), broker).run(record(MESSAGE)) is Outcome.DEAD_LETTERED
    assert broker.produced[0].headers["rankstream-error-class"].decode() == error_class
    assert broker.produced[0].headers["rankstream-attempts"] == str(attempts).encode()


async def test_a_passing_fault_is_tried_again(record: Callable[..., Record]) -> None:
    broker = Broker()
    assert await runner(raising(Transient("once"), Transient("twice")), broker).run(record(MESSAGE)) is Outcome.DONE
    assert len(broker.produced) == 1


@pytest.mark.parametrize("error", [StoreUnavailable, ModelUnavailable])
async def test_a_writer_waits_for_its_store_and_its_model_without_a_limit(
    record: Callable[..., Record], error: type[Exception]
) -> None:
    broker = Broker()
    outage = [error("down")] * (ATTEMPTS * 20)
    assert await runner(raising(*outage), broker).run(record(MESSAGE)) is Outcome.DONE


async def test_a_handler_that_never_returns_is_ended(record: Callable[..., Record]) -> None:
    async def hang(_: Message, __: Any) -> Sequence[Outgoing]:
        await asyncio.Event().wait()
        return ()

    broker = Broker()
    assert await runner(hang, broker, time_limit=0.05).run(record(MESSAGE)) is Outcome.DEAD_LETTERED
    assert broker.produced[0].headers["rankstream-error-class"] == b"timeout"


async def test_expired_work_is_dropped_and_counted(record: Callable[..., Record]) -> None:
    broker = Broker()
    late = runner(echo, broker, now=2_000.0, deadline=lambda _: 1_999.0)
    assert await late.run(record(MESSAGE)) is Outcome.EXPIRED
    assert (broker.produced, late.outcomes) == ([], {Outcome.EXPIRED: 1})


async def test_a_question_that_fails_is_answered_and_not_retried(record: Callable[..., Record]) -> None:
    def failed(failure: Failure, _: Any) -> Sequence[Outgoing]:
        assert failure.attempts == 1
        return [SENT]

    broker = Broker()
    asked = runner(raising(Transient("flaky")), broker, failed=failed, on_failure=OnFailure.ANSWER)
    assert await asked.run(record(MESSAGE)) is Outcome.ANSWERED
    assert [each.topic for each in broker.produced] == ["receipts"]


async def test_a_question_that_cannot_be_answered_is_dead_lettered(record: Callable[..., Record]) -> None:
    broker = Broker()
    asked = runner(echo, broker, failed=lambda *_: (), on_failure=OnFailure.ANSWER)
    assert await asked.run(record(b"\xff")) is Outcome.DEAD_LETTERED
    assert broker.produced[0].topic == "receipts.dlq"


async def test_an_output_that_the_broker_refuses_for_its_size_is_dead_lettered(record: Callable[..., Record]) -> None:
    broker = Broker()
    broker.refuse = lambda outgoing: Undeliverable("too large") if outgoing.topic == "receipts" else None
    assert await runner(echo, broker).run(record(MESSAGE)) is Outcome.DEAD_LETTERED


async def test_without_a_dead_letter_the_process_must_stop(record: Callable[..., Record]) -> None:
    broker = Broker()
    broker.refuse = lambda _: RuntimeError("broker down")
    with pytest.raises(CannotContinue, match="broker down"):
        await runner(raising(ValueError("a bug")), broker).run(record(MESSAGE))


def refusing(topic: str, times: int) -> Callable[[RawOutgoing], Exception | None]:
    """Return a broker's refusal of the first so many records to a topic."""
    left = [times]

    def refuse(outgoing: RawOutgoing) -> Exception | None:
        if outgoing.topic == topic and left[0]:
            left[0] -= 1
            return BrokerUnavailable("no answer")
        return None

    return refuse


@pytest.mark.parametrize(("now", "outcome"), [(1_001.9, Outcome.DONE), (1_002.1, Outcome.ANSWERED)])
async def test_a_record_that_waited_longer_than_it_may_is_refused_and_counted(
    record: Callable[..., Record], now: float, outcome: Outcome
) -> None:
    failures: list[Failure] = []

    def failed(failure: Failure, _: Any) -> Sequence[Outgoing]:
        failures.append(failure)
        return [SENT]

    def patience(message: Any, sent: float) -> float:
        assert sent == 1_000.0
        return 2.0

    broker = Broker()
    asked = runner(echo, broker, failed=failed, on_failure=OnFailure.ANSWER, patience=patience, now=now)
    assert await asked.run(record(MESSAGE)) is outcome
    assert (asked.outcomes, asked.overloaded) == ({outcome: 1}, len(failures))
    assert len(failures) == (outcome is Outcome.ANSWERED)
    assert all(isinstance(failure.error, Overloaded) for failure in failures)


async def test_a_broker_that_is_away_is_waited_for_and_the_handler_does_not_run_again(
    record: Callable[..., Record],
) -> None:
    calls: list[Message] = []

    async def count(message: Message, _: Any) -> Sequence[Outgoing]:
        calls.append(message)
        return [SENT]

    broker = Broker()
    broker.refuse = refusing("receipts", ATTEMPTS * 4)
    assert await runner(count, broker).run(record(MESSAGE)) is Outcome.DONE
    assert ([each.topic for each in broker.produced], len(calls)) == (["receipts"], 1)


async def test_a_wrong_setting_stops_the_process_and_dead_letters_nothing(record: Callable[..., Record]) -> None:
    broker = Broker()
    with pytest.raises(CannotContinue, match="QDRANT_API_KEY"):
        await runner(raising(ConfigurationError("QDRANT_API_KEY: refused")), broker).run(record(MESSAGE))
    assert broker.produced == []


async def test_an_answer_that_cannot_be_delivered_leaves_a_dead_letter_and_stops_nothing(
    record: Callable[..., Record],
) -> None:
    broker = Broker()
    broker.refuse = lambda outgoing: Undeliverable("no such partition") if outgoing.topic == "receipts" else None
    asked = runner(raising(Transient("flaky")), broker, failed=lambda *_: [SENT], on_failure=OnFailure.ANSWER)
    assert await asked.run(record(MESSAGE)) is Outcome.DEAD_LETTERED
    assert [each.topic for each in broker.produced] == ["receipts.dlq"]


async def test_a_record_with_neither_key_nor_value_is_passed(record: Callable[..., Record]) -> None:
    """The producer takes no such record; a dead letter that cannot be produced would stop the stage for good."""
    broker = Broker()
    assert await runner(echo, broker).run(record(None, key=None)) is Outcome.DEAD_LETTERED
    (letter,) = broker.produced
    assert (letter.key, letter.value) == (None, b"")


async def test_what_died_the_same_way_before_it_was_redriven_is_parked(record: Callable[..., Record]) -> None:
    for died, parked in (
        (b"rankstream.test=bug", True),
        (b"rankstream.test=timeout", False),
        (b"rankstream.other=bug", False),
    ):
        broker = Broker()
        given = record(MESSAGE, headers={"rankstream-died": died, "rankstream-redrives": b"1"})
        await runner(raising(ZeroDivisionError("x")), broker).run(given)
        (letter,) = broker.produced
        assert ("rankstream-parked" in letter.headers) is parked
        assert (letter.headers["rankstream-died"], letter.headers["rankstream-redrives"]) == (died, b"1")


async def test_a_dead_letter_has_each_header_that_came(record: Callable[..., Record]) -> None:
    broker = Broker()
    came = (
        ("own", b"1"),
        ("own", None),
        ("empty", b""),
        ("null", None),
        ("own", b"2"),
        ("kafka_dlt-original-topic", None),
    )
    last, kept = wire.all_headers(came)
    given = dataclasses.replace(record(MESSAGE, headers=dict(last)), came=kept)
    await runner(raising(ZeroDivisionError("x")), broker).run(given)
    (letter,) = broker.produced
    assert letter.pairs[:5] == came[:5]
    names = [name for name, _ in letter.pairs[5:]]
    assert dict(letter.pairs)["kafka_dlt-original-topic"] == b"t"
    assert len(names) == len(set(names)) == 9, "ours, each once"
