"""Questions on their way out, and the ones that wait."""

from __future__ import annotations

import asyncio
import time
import uuid
from types import SimpleNamespace
from typing import Any

import pytest

from schemas import codec
from schemas.replies import Milliseconds, QueryReply
from streams import wire
from streams.errors import Invalid
from streams.gateways import questions
from streams.gateways.questions import Pending


def record(query_id: str, value: bytes | None = None, **fields: Any) -> SimpleNamespace:
    reply = QueryReply(query_id=query_id, milliseconds=Milliseconds(total=1.0), **fields)
    value = codec.encode(reply) if value is None else value
    return SimpleNamespace(headers=[(wire.CORRELATION_ID, query_id.encode())], value=value)


def soon(seconds: float = 1.0) -> float:
    return asyncio.get_running_loop().time() + seconds


def test_ids_are_uuids_of_version_7_that_sort_by_time() -> None:
    ids = [questions.new_id(now) for now in (1_000.0, 1_000.001, 1_800_000_000.0)]
    assert ids == sorted(ids)
    assert {uuid.UUID(text).version for text in ids} == {7}
    assert {uuid.UUID(text).variant for text in ids} == {uuid.RFC_4122}
    assert int(ids[1].replace("-", "")[:12], 16) == 1_000_001


def test_the_reply_address_reads_back_as_it_was_written() -> None:
    written = dict(questions.headers("q-1", 7, questions.new_traceparent()))
    address = wire.reply_address(written)
    assert address is not None
    assert (address.topic, address.partition) == ("replies", 7)
    assert wire.reply_headers(address) == {wire.CORRELATION_ID: b"q-1"}
    assert [len(part) for part in written["traceparent"].split(b"-")] == [2, 32, 16, 2]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tenant", "Not A Name"),
        ("tenant", ""),
        ("query_id", "with blank"),
        ("top_k", 0),
        ("top_k", 101),
        ("language", "english"),
        ("text", "x" * 20_001),
        ("text", None),
        ("profile", "a b"),
    ],
)
def test_a_bad_field_is_named(field: str, value: object) -> None:
    fields = {"query_id": "q", "tenant": "t", "text": "x", field: value}
    with pytest.raises(Invalid) as error:
        questions.encoded(fields)
    assert error.value.field == field
    assert "regex" not in error.value.message


def test_what_is_no_json_is_refused_by_field() -> None:
    with pytest.raises(Invalid) as error:
        questions.encoded({"query_id": "q", "tenant": "t", "text": "\ud800"})
    assert error.value.field == "text"
    with pytest.raises(Invalid) as error:
        questions.encoded({"query_id": "q", "tenant": "t", "text": "x", "filters": object()})
    assert error.value.field == "filters"


async def test_a_reply_goes_to_the_question_with_its_correlation_id() -> None:
    pending = Pending(8)
    with pending.open("a") as one, pending.open("b") as other:
        pending.deliver(record("b", reasons=("for b",)))
        assert (await other.next(soon())).reasons == ("for b",)  # type: ignore[union-attr]
        assert await one.next(soon(0.01)) is None


async def test_replies_that_nobody_waits_for_are_dropped() -> None:
    pending = Pending(8)
    pending.deliver(record("unknown"))
    pending.deliver(SimpleNamespace(headers=[], value=b"{}"))
    with pending.open("a"):
        pass
    pending.deliver(record("a"))
    assert len(pending) == 0


async def test_a_reply_that_cannot_be_read_is_an_error_of_its_question() -> None:
    pending = Pending(8)
    with pending.open("a") as waiting:
        pending.deliver(record("a", value=b"\xff"))
        reply = await waiting.next(soon())
    assert reply is not None
    assert reply.error is not None
    assert reply.error.error_class == "decode"


async def test_a_question_leaves_on_every_way_out() -> None:
    pending = Pending(8)
    with pytest.raises(ZeroDivisionError), pending.open("a"):
        raise ZeroDivisionError
    assert len(pending) == 0


async def test_an_id_that_waits_already_is_refused() -> None:
    pending = Pending(8)
    with pending.open("a"):
        with pytest.raises(Invalid) as error, pending.open("a"):
            pass
        assert (error.value.field, len(pending)) == ("query_id", 1)


async def test_as_many_may_wait_as_the_limit_says() -> None:
    pending = Pending(1)
    assert not pending.full
    with pending.open("a"):
        assert pending.full


async def test_waiting_ends_at_its_time() -> None:
    pending = Pending(1)
    with pending.open("a") as waiting:
        before = time.monotonic()
        assert await waiting.next(soon(0.05)) is None
        assert 0.04 <= time.monotonic() - before < 0.2
