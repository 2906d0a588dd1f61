"""The client against a real broker, with a small server that answers in the test."""

from __future__ import annotations

import asyncio
import time

import msgspec
import pytest

from schemas.documents import DocumentChange
from schemas.queries import Filters, QueryRequest, Turn
from schemas.replies import LegReport, error_reply
from streams.errors import ConfigurationError, Invalid, NoReply
from streams.gateways.client import GRACE, Client
from streams.processors.fuse import OVERLOADED
from streams.processors.replying import UNCHECKED
from tests.integration.answering import Server, change, no_receipt, reply_to, silence
from topics.catalogue import REPLIES


async def test_an_answer_comes_back_to_the_one_who_asked(server: Server, client: Client) -> None:
    reply = await client.ask("money back?", tenant=server.tenant)
    assert (reply.error, reply.reasons, client.in_flight) == (None, ("money back?",), 0)


async def test_a_question_carries_all_its_fields_and_its_reply_address(server: Server, client: Client) -> None:
    before = time.time()
    await client.ask(
        "and monthly?",
        tenant=server.tenant,
        agent="front",
        profile="support",
        top_k=3,
        language="en",
        history=[Turn(role="user", text="yearly?"), {"role": "assistant", "text": "yes"}],
        filters={"sources": ["help"]},
        min_version=[{"source": "help", "doc_id": "a", "version": 2}],
        explain=True,
        generation="g2",
        query_id="q-1",
        timeout=3.0,
        traceparent="00-" + "1" * 32 + "-" + "2" * 16 + "-01",
    )
    request, headers = server.asked[0]
    assert (request.query_id, request.agent, request.profile, request.top_k) == ("q-1", "front", "support", 3)
    assert request.filters == Filters(sources=("help",))
    assert [turn.text for turn in request.history] == ["yearly?", "yes"]
    assert (request.language, request.explain, request.generation) == ("en", True, "g2")
    assert request.min_version[0].version == 2
    assert request.deadline is not None
    assert 3.0 <= request.deadline - before < 3.5
    assert headers["kafka_correlationId"] == b"q-1"
    assert headers["kafka_replyTopic"] == REPLIES.name.encode()
    assert len(headers["kafka_replyPartition"]) == 4
    assert headers["traceparent"].startswith(b"00-1111")


async def test_every_question_of_many_gets_its_own_answer(server: Server, client: Client) -> None:
    replies = await asyncio.gather(*(client.ask(f"question {n}", tenant=server.tenant) for n in range(100)))
    assert [reply.reasons for reply in replies] == [(f"question {n}",) for n in range(100)]
    assert client.in_flight == 0


async def test_clients_on_one_reply_partition_do_not_take_each_others_answers(server: Server, broker: str) -> None:
    async with Client(bootstrap=broker, instance="same") as one, Client(bootstrap=broker, instance="same") as other:
        first, second = await asyncio.gather(
            one.ask("one", tenant=server.tenant), other.ask("other", tenant=server.tenant)
        )
    assert (first.reasons, second.reasons) == (("one",), ("other",))


async def test_without_a_reply_there_is_an_error_by_the_deadline_plus_a_quarter_second(
    server: Server, client: Client
) -> None:
    server.answer = silence
    before = time.monotonic()
    reply = await client.ask("anyone?", tenant=server.tenant, timeout=0.5)
    took = time.monotonic() - before
    assert reply.error is not None
    assert reply.error.error_class == "no reply"
    assert 0.5 + GRACE <= took < 0.5 + 1.0  # 0.25 on a quiet machine
    assert client.in_flight == 0


async def test_late_and_repeated_replies_are_dropped(server: Server, client: Client) -> None:
    async def late_and_twice(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
        if request.text == "late":
            await asyncio.sleep(0.5)
        for _ in range(2):
            await server.reply(headers, reply_to(request, reasons=(request.text,)))

    server.answer = late_and_twice
    assert (await client.ask("late", tenant=server.tenant, timeout=0.2)).error is not None
    await asyncio.sleep(0.3)
    replies = [await client.ask(text, tenant=server.tenant) for text in ("a", "b", "c")]
    assert [reply.reasons for reply in replies] == [("a",), ("b",), ("c",)]


async def test_the_last_revision_is_the_answer_and_a_stream_yields_each(server: Server, client: Client) -> None:
    async def twice(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
        assert request.progressive
        await server.reply(headers, reply_to(request, revision=1, final=False))
        await server.reply(headers, reply_to(request, revision=2, final=True))

    server.answer = twice
    assert (await client.ask("x", tenant=server.tenant)).revision == 2
    seen = [(reply.revision, reply.final) async for reply in client.ask_stream("x", tenant=server.tenant)]
    assert seen == [(1, False), (2, True)]


async def test_the_first_revision_is_the_answer_at_the_deadline_when_the_reranker_is_dead(
    server: Server, client: Client
) -> None:
    async def once(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
        await server.reply(headers, reply_to(request, revision=1, final=False))

    server.answer = once
    before = time.monotonic()
    reply = await client.ask("x", tenant=server.tenant, timeout=0.4)
    assert time.monotonic() - before < 0.4 + 1.0  # 0.25 on a quiet machine
    assert (reply.error, reply.revision, reply.final, reply.degraded) == (None, 1, True, True)
    assert reply.reasons == ("rerank: no reply by the deadline",)
    assert reply.legs["rerank"].status == "timeout"


async def test_an_error_after_a_revision_is_told_at_once_as_what_it_is(server: Server, client: Client) -> None:
    async def fails(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
        await server.reply(headers, reply_to(request, revision=1, final=False))
        await server.reply(headers, error_reply(request.query_id, UNCHECKED, revision=2))

    server.answer = fails
    seen = [reply async for reply in client.ask_stream("x", tenant=server.tenant, timeout=30)]
    assert [(reply.revision, reply.final, reply.error) for reply in seen] == [(1, False, None), (1, True, None)]
    assert seen[-1].legs["rerank"] == LegReport(status="error", reason=UNCHECKED.error_class)


async def test_what_a_second_process_says_of_an_answered_question_is_not_taken(server: Server, client: Client) -> None:
    """After a rebalance the same question may be read again, by a process that refuses it."""

    async def refuses(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
        await server.reply(headers, reply_to(request, revision=1, final=False))
        await server.reply(headers, error_reply(request.query_id, OVERLOADED))
        await server.reply(headers, reply_to(request, revision=2, final=True))

    server.answer = refuses
    reply = await client.ask("x", tenant=server.tenant, timeout=30)
    assert (reply.error, reply.revision, reply.final, reply.degraded) == (None, 2, True, False)


async def test_a_question_that_cannot_be_asked_names_the_field(server: Server, client: Client) -> None:
    reply = await client.ask("x", tenant="No Such Name")
    assert reply.error is not None
    assert (reply.error.error_class, reply.error.field) == ("validation", "tenant")
    with pytest.raises(Invalid) as error:
        await client.ask("x", tenant=server.tenant, top_k=1000, raise_invalid=True)
    assert error.value.field == "top_k"
    assert server.asked == []


async def test_more_questions_than_may_wait_are_refused_at_once(server: Server, broker: str) -> None:
    server.answer = silence
    async with Client(bootstrap=broker, max_in_flight=4) as client:
        waiting = [asyncio.create_task(client.ask("x", tenant=server.tenant, timeout=0.5)) for _ in range(4)]
        await asyncio.sleep(0.05)
        before = time.monotonic()
        reply = await client.ask("x", tenant=server.tenant)
        assert time.monotonic() - before < 1.0
        assert reply.error is not None
        assert reply.error.error_class == "overloaded"
        await asyncio.gather(*waiting)


async def test_a_cancelled_question_leaves_nothing_behind(server: Server, client: Client) -> None:
    server.answer = silence
    task = asyncio.create_task(client.ask("x", tenant=server.tenant))
    await asyncio.sleep(0.1)
    assert client.in_flight == 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert client.in_flight == 0


async def test_stopping_the_client_ends_what_waits(server: Server, client: Client) -> None:
    server.answer = silence
    task = asyncio.create_task(client.ask("x", tenant=server.tenant, timeout=30))
    await asyncio.sleep(0.1)
    await client.stop()
    reply = await asyncio.wait_for(task, 1)
    assert reply.error is not None


async def test_a_receipt_is_of_exactly_the_version_that_was_published(server: Server, client: Client) -> None:
    async def others_first(server: Server, change: DocumentChange) -> None:
        await server.receipt(change, tenant="someone-else")
        await server.receipt(change, source="wiki")
        await server.receipt(change, version=change.version - 1)
        await server.receipt(change, status="failed", reason="no vectors")

    server.confirm = others_first
    status = await client.publish(change(server, version=7), wait=True, timeout=5)
    assert status is not None
    assert (status.version, status.status, status.reason) == (7, "failed", "no vectors")


async def test_a_receipt_of_a_higher_version_ends_the_wait(server: Server, client: Client) -> None:
    async def overtaken(server: Server, change: DocumentChange) -> None:
        await server.receipt(change, version=9)

    server.confirm = overtaken
    status = await client.publish(change(server, version=7), wait=True, timeout=5)
    assert status is not None
    assert status.version == 9


async def test_without_waiting_publish_returns_after_delivery(server: Server, client: Client) -> None:
    assert await client.publish(change(server)) is None


async def test_no_receipt_in_time_is_no_reply(server: Server, client: Client) -> None:
    server.confirm = no_receipt
    with pytest.raises(NoReply, match="help/doc-1 version 1"):
        await client.publish(change(server), wait=True, timeout=0.3)


async def test_what_cannot_be_published_is_refused_here_with_the_field(server: Server, client: Client) -> None:
    with pytest.raises(Invalid, match=r"has 2,000,001 characters; the limit is 2,000,000") as error:
        await client.publish(change(server, content="x" * 2_000_001))
    assert error.value.field == "content"
    with pytest.raises(Invalid) as error:
        await client.publish(change(server, metadata={"a": "x" * 9_000_000}))
    await client.publish(change(server, content="\N{GRINNING FACE}" * 2_000_000))


async def test_many_changes_keep_their_order_and_each_has_an_outcome(server: Server, client: Client) -> None:
    changes = [change(server, n % 50, version=n) for n in range(300)]
    changes[7] = msgspec.structs.replace(changes[7], language="English")
    seen = [status async for status in client.publish_many(changes, timeout=10)]
    assert len(seen) == 300
    assert [status.doc_id for status in seen if status.status == "failed"] == ["doc-7"]
    for n in range(50):
        versions = [change.version for change in server.changes if change.doc_id == f"doc-{n}"]
        assert versions == sorted(versions)


async def test_many_changes_without_a_receipt_end_with_a_reason(server: Server, client: Client) -> None:
    server.confirm = no_receipt
    outcomes = [out async for out in client.deliver_many([change(server, n) for n in range(5)], timeout=0.5)]
    assert [(out.delivered, type(out.error)) for out in outcomes] == [(True, NoReply)] * 5


async def test_a_broker_that_cannot_be_reached_is_named_with_its_setting_within_five_seconds() -> None:
    before = time.monotonic()
    with pytest.raises(ConfigurationError, match=r"127\.0\.0\.1:9; .*KAFKA_BOOTSTRAP_SERVERS"):
        await Client(bootstrap="127.0.0.1:9").start()
    assert time.monotonic() - before < 5
