"""A record in work as telemetry sees it: its span, its outputs' headers, what is counted; nothing when off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from schemas.base import Message
from schemas.documents import DocumentStatus, Receipt
from streams.errors import Invalid, StoreUnavailable
from streams.processor import OnFailure, Processor
from streams.runner import Outcome, Runner
from streams.telemetry import processing, signals, w3c
from streams.telemetry.calls import traced
from streams.telemetry.instruments import CALL_DURATION, DEAD_LETTERS, FRESHNESS, PROCESS_DURATION, RETRIES
from streams.telemetry.meeting import Meeting
from streams.wire import SINCE, Outgoing, RawOutgoing, Record
from tests.unit.telemetry.backend import kept
from topics import catalogue

RECEIPT = Receipt(tenant="acme", source="help", doc_id="a", version=1, generation="g1", writer="text")
DONE = DocumentStatus(tenant="acme", source="help", doc_id="a", version=1, generation="g1", status="searchable")
ABOVE = w3c.written(7, 7, sampled=True)
HEADERS = {"traceparent": ABOVE.encode()}


@traced("qdrant", "search")
class Store:
    async def search(self, text: str) -> str:
        if text == "away":
            raise StoreUnavailable("qdrant")
        return text


def run_of(handle: Callable[[Any, Any], Any], produced: list[RawOutgoing], **fields: Any) -> Runner:
    async def produce(raw: RawOutgoing) -> None:
        produced.append(raw)

    async def no_pause(_: float) -> None:
        return None

    given: dict[str, Any] = {"name": "publish-version", "source": catalogue.RECEIPTS, "summary": "", "handle": handle}
    processor = Processor(**{**given, "sinks": (catalogue.DOCUMENT_STATUS,), **fields})
    return Runner(processor, None, produce, sleep=no_pause)


async def publishes(_: Message, __: Any) -> Sequence[Outgoing]:
    await Store().search("text")
    return [Outgoing(topic=catalogue.DOCUMENT_STATUS, key=b"k", message=DONE)]


async def test_outputs_go_on_below_the_span_of_their_record(record: Callable[..., Record]) -> None:
    produced: list[RawOutgoing] = []
    with kept() as told:
        assert await run_of(publishes, produced).run(record(RECEIPT, headers=HEADERS)) is Outcome.DONE
    process, search = told.spans
    assert (process.name, process.kind, process.parent) == ("process t", "consumer", ABOVE)
    assert (search.name, search.kind, search.parent) == ("search qdrant", "client", process)
    assert process.ended
    assert search.ended
    assert produced[0].headers["traceparent"] == process.traceparent.encode()
    assert [name for name, _ in process.events] == ["send document-status"]
    assert told.values(PROCESS_DURATION)[0][1]["outcome"] == "done"


async def test_how_fresh_a_version_is_counts_from_its_first_record(record: Callable[..., Record]) -> None:
    produced: list[RawOutgoing] = []
    with kept() as told:
        published = record(RECEIPT)
        since = str(int(published.timestamp * 1000) - 5_000).encode()
        await run_of(publishes, produced).run(record(RECEIPT, headers={**HEADERS, SINCE: since}))
        await run_of(publishes, produced).run(record(RECEIPT, headers={**HEADERS, SINCE: b"9" * 5_000}))
    (old, labels), (new, _) = told.values(FRESHNESS)
    assert labels == {"status": "searchable"}
    assert old - new == pytest.approx(5.0, abs=1.0)
    assert produced[0].headers[SINCE] == since
    assert produced[1].headers[SINCE] == str(int(published.timestamp * 1000)).encode()


async def test_a_record_that_is_a_part_of_another_s_work_is_linked_without_a_span(
    record: Callable[..., Record],
) -> None:
    meeting = Meeting()

    async def handle(message: Receipt, _: Any) -> Sequence[Outgoing]:
        (meeting.link if message.part else meeting.note)(message.key)
        return ()

    with kept() as told:
        runner = run_of(handle, [], joins=lambda message: not message.part)
        await runner.run(record(RECEIPT, headers=HEADERS))
        await runner.run(record(Receipt(**{**_fields(RECEIPT), "part": 1}), headers={"traceparent": b"nonsense"}))
    [span] = told.spans
    assert span.links == [ABOVE]


def _fields(receipt: Receipt) -> dict[str, Any]:
    return {name: getattr(receipt, name) for name in receipt.__struct_fields__ if name != "schema_version"}


async def test_a_dead_letter_is_counted_by_topic_and_class_and_its_span_failed(record: Callable[..., Record]) -> None:
    async def refuses(_: Message, __: Any) -> Sequence[Outgoing]:
        raise Invalid("the text of somebody")

    with kept() as told:
        assert await run_of(refuses, []).run(record(RECEIPT)) is Outcome.DEAD_LETTERED
        undecodable = Record(topic="receipts", partition=0, offset=1, timestamp=0.0, key=b"k", value=b"{")
        assert await run_of(refuses, []).run(undecodable) is Outcome.DEAD_LETTERED
    found = [labels for _, labels in told.values(DEAD_LETTERS)]
    assert found == [
        {"topic": "receipts", "error_class": "validation"},
        {"topic": "receipts", "error_class": "decode"},
    ]
    assert [span.error for span in told.spans] == ["validation", "decode"]
    assert "somebody" not in repr(told.spans)


async def test_retries_are_counted_by_what_was_away_and_calls_by_how_they_ended(record: Callable[..., Record]) -> None:
    words = iter(["away", "away", "here"])

    async def tries(_: Message, __: Any) -> Sequence[Outgoing]:
        await Store().search(next(words))
        return ()

    with kept() as told:
        await run_of(tries, []).run(record(RECEIPT))
    assert [labels["cause"] for _, labels in told.values(RETRIES)] == ["store", "store"]
    assert [labels["outcome"] for _, labels in told.values(CALL_DURATION)] == ["error", "error", "ok"]
    assert [span.error for span in told.spans[1:]] == ["StoreUnavailable", "StoreUnavailable", None]


async def test_what_is_not_sampled_has_no_children_and_says_so_to_what_it_causes(record: Callable[..., Record]) -> None:
    produced: list[RawOutgoing] = []
    with kept(sampled=False) as told:
        await run_of(publishes, produced).run(record(RECEIPT, headers=HEADERS))
    assert len(told.spans) == 1
    assert produced[0].headers["traceparent"].endswith(b"-00")
    assert told.values(CALL_DURATION)


async def test_without_telemetry_headers_go_on_as_they_came_and_nothing_is_made(record: Callable[..., Record]) -> None:
    produced: list[RawOutgoing] = []
    assert processing.begin(run_of(publishes, produced).processor, record(RECEIPT)) is processing.UNWATCHED
    await run_of(publishes, produced).run(record(RECEIPT, headers=HEADERS))
    assert produced[0].headers == HEADERS
    assert signals.CURRENT.get() is None


async def test_nothing_is_left_behind_after_a_record(record: Callable[..., Record]) -> None:
    with kept():
        await run_of(publishes, []).run(record(RECEIPT))
        assert signals.CURRENT.get() is None


async def test_an_answer_that_tells_of_a_failure_is_not_counted_as_a_dead_letter(record: Callable[..., Record]) -> None:
    async def refuses(_: Message, __: Any) -> Sequence[Outgoing]:
        raise Invalid("no")

    def told_so(*_: Any) -> Sequence[Outgoing]:
        return [Outgoing(topic=catalogue.DOCUMENT_STATUS, key=b"k", message=DONE)]

    with kept() as told:
        runner = run_of(refuses, [], failed=told_so, on_failure=OnFailure.ANSWER)
        assert await runner.run(record(RECEIPT)) is Outcome.ANSWERED
    assert told.values(DEAD_LETTERS) == []
    assert told.values(FRESHNESS)
