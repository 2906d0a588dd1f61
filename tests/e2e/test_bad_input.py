"""Bad input: a clear error that names the field, nothing stops, nothing else is lost."""

from __future__ import annotations

import json
import struct
import uuid

import pytest
from aiokafka import AIOKafkaProducer

from schemas.replies import QueryReply
from tests.pipeline import Pipeline, next_version, page, records
from topics import catalogue
from topics.topic import Topic

ODD_QUESTIONS = {
    "emoji": "\U0001f335\U0001f335",
    "punctuation": "?!... ---",
    "brackets": "()[]{}<>\\/|&",
    "operators": "refund & | ! <-> 'quote\" :* -refund NOT",
    "nul": "lamps\0 in pairs",
    "markup": "a raw <br> in a question",
    "thai": "พนักงานลาพักร้อนได้กี่วัน",
    "long": " ".join(f"word{n}" for n in range(1_500)),
}


async def dead_letters(pipeline: Pipeline, topic: Topic, marker: bytes) -> list[str]:
    """Return the error classes of the dead letters that carry a marker."""
    letters = await records(pipeline.settings.kafka or "", topic.dead_letters)
    return [each.headers["rankstream-error-class"].decode() for each in letters if marker in (each.value or b"")]


async def send(
    pipeline: Pipeline, topic: Topic, value: bytes | None, headers: list[tuple[str, bytes]] | None = None
) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=pipeline.settings.kafka, acks="all", max_request_size=9_000_000)
    await producer.start()
    try:
        await producer.send_and_wait(topic.name, value, key=b"k", headers=headers or [])
    finally:
        await producer.stop()


def event(marker: str, **fields: object) -> bytes:
    given = {"tenant": "t-bad", "source": "help", "doc_id": marker, "version": 1, "content": "x"}
    return json.dumps({name: value for name, value in {**given, **fields}.items() if value is not ...}).encode()


@pytest.mark.parametrize(
    ("make", "error_class"),
    [
        (lambda m: b"{not json " + m, "decode"),
        (lambda m: b'{"tenant": "t-bad", "title": "\xff' + m + b'"}', "decode"),
        (lambda m: event(m.decode(), tenant=...), "validation"),
        (lambda m: event(m.decode(), tenant=""), "validation"),
        (lambda m: event(m.decode(), tenant="ACME"), "validation"),
        (lambda m: event(m.decode(), schema_version=99), "validation"),
        (lambda m: event(m.decode(), version=-1), "validation"),
        (lambda m: event(m.decode(), version="one"), "validation"),
        (lambda m: event(m.decode(), kind="qa", content="an answer without a question"), "validation"),
        (lambda m: event(m.decode(), content="x" * 5_000_000), "validation"),
        (lambda m: b"[" * 50_000 + m, "validation"),
    ],
    ids=[
        "malformed",
        "invalid utf-8",
        "no tenant",
        "empty tenant",
        "strange tenant",
        "unknown schema version",
        "negative version",
        "version is a word",
        "no question",
        "five megabytes",
        "deep nesting",
    ],
)
async def test_a_bad_event_is_dead_lettered_once_under_its_class(
    pipeline: Pipeline, make: object, error_class: str
) -> None:
    marker = uuid.uuid4().hex.encode()
    await send(pipeline, catalogue.DOCUMENT_CHANGES, make(marker))  # type: ignore[operator]
    await pipeline.publish(page(f"after-{marker.decode()}", "# After\n\nStill here.", tenant="t-bad"))
    for _ in range(20):
        if found := await dead_letters(pipeline, catalogue.DOCUMENT_CHANGES, marker):
            break
    assert found == [error_class]


@pytest.mark.parametrize(
    "content",
    ["", " \n\t\r\n\u00a0\u200b\n", "---\ndraft: true\n---\n", "---\n\n***\n"],
    ids=["empty", "blank", "front", "rule"],
)
async def test_a_document_without_text_is_a_normal_event(pipeline: Pipeline, content: str) -> None:
    doc_id = uuid.uuid4().hex
    (status,) = await pipeline.publish(page(doc_id, content, tenant="t-empty", title=""))
    assert (status.status, status.chunks) == ("searchable", 0)


async def test_a_nul_character_poisons_nobody(pipeline: Pipeline) -> None:
    statuses = await pipeline.publish(
        page("dirty", "# Fuses\n\nThe main fuse is rated\0 at 63 ampere.\0\0", tenant="t-nul", title="Fuses\0"),
        page("clean", "# Lamps\n\nReplace lamps in pairs.", tenant="t-nul"),
    )
    assert [status.status for status in statuses] == ["searchable", "searchable"]
    reply = await pipeline.client.ask("rating of the main fuse\0", tenant="t-nul")
    assert "63 ampere" in reply.passages[0].text
    assert all("\0" not in passage.text + passage.title for passage in reply.passages)


@pytest.mark.parametrize("name", ODD_QUESTIONS)
async def test_an_odd_question_is_answered_and_no_leg_breaks(pipeline: Pipeline, name: str) -> None:
    await pipeline.publish(page("lamps", "# Lamps\n\nReplace lamps in pairs.", tenant="t-odd", version=1))
    reply = await pipeline.client.ask(ODD_QUESTIONS[name], tenant="t-odd", timeout=10)
    assert reply.error is None
    assert not reply.degraded, reply.reasons
    if name in ("emoji", "punctuation", "brackets"):
        assert {reply.legs[leg].status for leg in ("sparse", "fulltext")} <= {"empty", "skipped"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": " \u200b\ufeff "}, "text"),
        ({"text": "x" * 50_000}, "text"),
        ({"tenant": ""}, "tenant"),
        ({"tenant": "*"}, "tenant"),
        ({"tenant": "acme' OR '1'='1"}, "tenant"),
        ({"profile": "nonexistent"}, "profile"),
        ({"top_k": 0}, "top_k"),
        ({"version": 7}, "version"),
        ({"generation": "g99"}, "generation"),
    ],
    ids=[
        "empty",
        "invisible",
        "long",
        "no tenant",
        "star",
        "injection",
        "profile",
        "top_k",
        "schema version",
        "generation",
    ],
)
async def test_a_bad_question_gets_an_error_reply_that_names_the_field(
    pipeline: Pipeline, fields: dict[str, object], field: str
) -> None:
    """Sent past the client's own checks, as another language's client would."""
    reply = await raw_question(pipeline, {"text": "anything", "tenant": "t-bad", **fields})
    assert reply.error is not None
    assert (reply.error.error_class, reply.error.field, reply.passages) == ("validation", field, ())
    assert reply.error.message


async def raw_question(pipeline: Pipeline, fields: dict[str, object]) -> QueryReply:
    """Ask with a hand-made record and read the reply from the partition that it names."""
    import asyncio

    from aiokafka import AIOKafkaConsumer, TopicPartition

    from schemas import codec

    query_id = uuid.uuid4().hex
    partition = TopicPartition(catalogue.REPLIES.name, 63)
    consumer = AIOKafkaConsumer(bootstrap_servers=pipeline.settings.kafka)
    await consumer.start()
    try:
        consumer.assign([partition])
        await consumer.seek_to_end(partition)
        await consumer.position(partition)
        headers = [
            ("kafka_replyTopic", catalogue.REPLIES.name.encode()),
            ("kafka_replyPartition", struct.pack(">i", 63)),
            ("kafka_correlationId", query_id.encode()),
        ]
        await send(pipeline, catalogue.QUERIES, json.dumps({"query_id": query_id, **fields}).encode(), headers)
        while True:
            record = await asyncio.wait_for(consumer.getone(), 10)
            if dict(record.headers)["kafka_correlationId"] == query_id.encode():
                return codec.decode(record.value, QueryReply)
    finally:
        await consumer.stop()


async def test_a_reply_goes_to_no_topic_but_ours(pipeline: Pipeline) -> None:
    marker = uuid.uuid4().hex
    body = json.dumps({"query_id": marker, "tenant": "t-bad", "text": "anything"}).encode()
    await send(pipeline, catalogue.QUERIES, body, [("kafka_replyTopic", b"documents")])
    await pipeline.client.ask("anything", tenant="t-bad")
    for _ in range(20):
        if found := await dead_letters(pipeline, catalogue.QUERIES, marker.encode()):
            break
    assert found == ["validation"]


async def test_versions_are_not_lost_beside_bad_ones(pipeline: Pipeline) -> None:
    """Good and bad events of one partition, interleaved: each good one gets its receipt."""
    for number in range(5):
        await send(pipeline, catalogue.DOCUMENT_CHANGES, b"\xff\xfe bad")
        (status,) = await pipeline.publish(
            page(f"good-{number}", f"# Good {number}\n\nText.", tenant="t-mixed", version=next_version())
        )
        assert status.status == "searchable"
