"""The blocking client, and a question that is asked again."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest

from schemas.replies import ErrorInfo, QueryReply, error_reply
from streams.errors import ConfigurationError, Invalid, RankstreamError
from streams.gateways import questions
from streams.gateways.client import Client
from streams.gateways.sync_client import SyncClient
from tests.integration.answering import Server, change, silence

T = TypeVar("T")


async def blocking(call: Callable[[], T]) -> T:
    """Run what blocks beside this loop, in which the server answers."""
    return await asyncio.to_thread(call)


async def test_a_program_without_asyncio_asks_and_publishes(server: Server, broker: str) -> None:
    def program() -> tuple[QueryReply, list[QueryReply], str, list[str]]:
        with SyncClient(bootstrap=broker) as client:
            reply = client.ask("money back?", tenant=server.tenant, timeout=5.0)
            revisions = list(client.ask_stream("money back?", tenant=server.tenant))
            receipt = client.publish(change(server, 1), wait=True)
            many = [status.doc_id for status in client.publish_many([change(server, number) for number in (2, 3)])]
            assert client.in_flight == 0
            assert receipt is not None
            return reply, revisions, receipt.status, many

    reply, revisions, status, many = await blocking(program)
    assert (reply.error, reply.reasons) == (None, ("money back?",))
    assert [each.final for each in revisions][-1:] == [True]
    assert status == "searchable"
    assert sorted(many) == ["doc-2", "doc-3"]


async def test_threads_share_a_client_and_each_gets_its_own_answer(server: Server, broker: str) -> None:
    def program() -> list[tuple[str, ...]]:
        with SyncClient(bootstrap=broker) as client, ThreadPoolExecutor(16) as threads:
            return [
                reply.reasons
                for reply in threads.map(lambda n: client.ask(f"question {n}", tenant=server.tenant), range(64))
            ]

    assert await blocking(program) == [(f"question {n}",) for n in range(64)]


async def test_what_is_wrong_is_raised_where_it_was_called_and_no_thread_is_left(server: Server, broker: str) -> None:
    before = threading.active_count()

    def program() -> None:
        with SyncClient(bootstrap=broker) as client:
            with pytest.raises(Invalid, match="tenant"):
                client.ask("a", tenant="Not A Tenant", raise_invalid=True)
            with pytest.raises(Invalid, match="version"):
                client.publish(change(server, version=-1))
            client.start()
        client.stop()
        with pytest.raises(RankstreamError, match="not started"):
            client.ask("a", tenant="acme")
        with pytest.raises(ConfigurationError, match="KAFKA_BOOTSTRAP_SERVERS"), SyncClient(bootstrap="127.0.0.1:9"):
            pass

    await blocking(program)
    for _ in range(50):
        if threading.active_count() <= before + 1:  # the executor's own
            break
        await asyncio.sleep(0.1)
    assert "rankstream client" not in {thread.name for thread in threading.enumerate()}


async def test_a_question_left_in_the_middle_waits_for_nothing(server: Server, broker: str) -> None:
    def program() -> int:
        with SyncClient(bootstrap=broker) as client:
            for _ in client.ask_stream("money back?", tenant=server.tenant):
                break
            return client.in_flight

    assert await blocking(program) == 0


async def test_what_was_not_sent_is_asked_again_with_the_same_id(
    server: Server, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    whole = client.ask_stream

    async def once_refused(text: str, **fields: object):  # type: ignore[no-untyped-def]
        asked.append(str(fields["query_id"]))
        if len(asked) == 1:
            info = ErrorInfo(error_class="no reply", message=f"{questions.NOT_SENT}the broker did not take it")
            yield error_reply(str(fields["query_id"]), info)
            return
        async for reply in whole(text, **fields):  # type: ignore[arg-type]
            yield reply

    monkeypatch.setattr(client, "ask_stream", once_refused)
    reply = await client.ask("money back?", tenant=server.tenant)
    assert (reply.error, reply.reasons) == (None, ("money back?",))
    assert asked == [reply.query_id] * 2
    assert [request.query_id for request, _ in server.asked] == [reply.query_id]


async def test_a_full_client_takes_a_question_once_another_is_answered(server: Server, broker: str) -> None:
    async with Client(bootstrap=broker, max_in_flight=1) as client:
        replies = await asyncio.gather(*(client.ask(f"{n}", tenant=server.tenant, retries=6) for n in range(2)))
    assert [reply.error for reply in replies] == [None, None]


async def test_what_may_have_been_sent_is_not_asked_again(server: Server, client: Client) -> None:
    server.answer = silence
    began = time.monotonic()
    reply = await client.ask("money back?", tenant=server.tenant, timeout=0.5)
    assert reply.error is not None
    assert reply.error.error_class == "no reply"
    assert time.monotonic() - began < 0.5 + 0.5
    assert len(server.asked) == 1
