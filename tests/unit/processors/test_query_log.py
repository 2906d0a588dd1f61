"""log-questions and log-replies."""

from __future__ import annotations

import pytest

from schemas import codec
from schemas.queries import QueryRequest
from schemas.query_log import LoggedQuestion, LoggedReply
from schemas.replies import Milliseconds, QueryReply
from streams import wire
from streams.processor import Processor
from streams.processors.query_log import LOG_QUESTIONS, LOG_REPLIES, Deps
from streams.wire import Outgoing, Record
from topics import catalogue

QUESTION = QueryRequest(query_id="q1", tenant="acme", text="password: hunter2")
REPLY = QueryReply(query_id="q1", milliseconds=Milliseconds(total=3.0))


def record(topic: str, value: bytes | None, **headers: bytes) -> Record:
    return Record(topic=topic, partition=0, offset=7, timestamp=99.5, key=b"q1", value=value, headers=headers)


async def logged(processor: Processor, given: Record, *, on: bool = True) -> list[Outgoing]:
    return list(await processor.handle(processor.reads(given, processor.source), Deps(on=on)))


async def test_a_question_and_its_answer_are_two_records_with_one_key() -> None:
    (question,) = await logged(LOG_QUESTIONS, record("queries", codec.encode(QUESTION)))
    (reply,) = await logged(LOG_REPLIES, record("replies", codec.encode(REPLY), **{wire.TENANT: b"acme"}))
    assert {question.topic, reply.topic} == {catalogue.QUERY_LOG}
    assert question.key == reply.key == b"q1"
    assert isinstance(question.message, LoggedQuestion)
    assert isinstance(reply.message, LoggedReply)
    assert (question.message.tenant, question.message.at, question.message.text) == (
        "acme",
        99.5,
        "password: (password)",
    )
    assert (reply.message.tenant, reply.message.at) == ("acme", 99.5)


@pytest.mark.parametrize("value", [None, b"", b"{", b'{"name": "QueryRequest"}', b"\xff\xfe"])
async def test_what_cannot_be_read_is_left_to_who_answers_for_it(value: bytes | None) -> None:
    assert await logged(LOG_QUESTIONS, record("queries", value)) == []
    assert await logged(LOG_REPLIES, record("replies", value)) == []


async def test_switched_off_nothing_is_logged_then_or_later() -> None:
    assert await logged(LOG_QUESTIONS, record("queries", codec.encode(QUESTION)), on=False) == []
    assert await logged(LOG_REPLIES, record("replies", codec.encode(REPLY)), on=False) == []


def test_the_log_is_kept_for_ninety_days() -> None:
    assert catalogue.QUERY_LOG.config["retention.ms"] == str(90 * 24 * 60 * 60 * 1000)
