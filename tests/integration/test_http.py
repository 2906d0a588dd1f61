"""The gateway before hostile and unlucky clients: a broker, a server that answers as told, and raw sockets."""

from __future__ import annotations

import asyncio
import gc
import json
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.queries import QueryRequest
from streams.adapters.memory_documents import MemoryDocuments
from streams.adapters.memory_keys import MemoryKeys
from streams.adapters.memory_state import State
from streams.domain.generation import Generation
from streams.gateways import keys
from streams.gateways.client import Client
from streams.gateways.http import app, bodies, bulk, connection
from streams.gateways.http.listener import Listener, listen
from streams.settings import Settings
from tests import brokers
from tests.integration.answering import Server, no_receipt, reply_to, silence
from topics.connection import KafkaConnection

MIB = 1024 * 1024


class OneGeneration:
    """The Generations port with one that is live."""

    async def live(self) -> Generation:
        return Generation(id="g1", model="m", dimension=1, average_length=1.0)

    async def active(self) -> tuple[Generation, ...]:
        return (await self.live(),)


@dataclass(kw_only=True)
class Front:
    """A gateway whose stores are in memory."""

    url: str
    client: Client
    key: str

    @property
    def http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, headers={"Authorization": f"Bearer {self.key}"}, timeout=60)

    async def raw(self, head: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect and send a request line and headers of one's own, with the key."""
        place = httpx.URL(self.url)
        reader, writer = await asyncio.open_connection(place.host, place.port)
        writer.write(f"{head}\r\nHost: x\r\nAuthorization: Bearer {self.key}\r\n".replace("\n\r\n", "\r\n").encode())
        return reader, writer


@asynccontextmanager
async def fronting(kafka: str, tenant: str) -> AsyncIterator[Front]:
    store = MemoryKeys()
    key = await keys.create(store, tenant=tenant, roles=["read", "write"])
    async with Client(bootstrap=kafka, max_in_flight=1024) as client:
        deps = app.Deps(
            settings=Settings(data_dir=Path(), kafka=KafkaConnection(bootstrap=kafka), http_rate=0.0),
            client=client,
            keys=keys.Keys(store),
            documents=MemoryDocuments(State()),
            generations=OneGeneration(),
            unready=lambda: (),
        )
        listener = Listener(app.build(deps), listen(("127.0.0.1", 0)))
        try:
            yield Front(url=listener.url, client=client, key=key)
        finally:
            await listener.stop()


@pytest.fixture
async def front(server: Server, broker: str) -> AsyncIterator[Front]:
    async with fronting(broker, server.tenant) as running:
        yield running


def under_way(name: str) -> int:
    return sum(name in repr(task.get_coro()) for task in asyncio.all_tasks())


async def until(check: Any, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


async def test_each_revision_is_an_event_as_it_comes_and_the_last_one_ends_the_stream(
    server: Server, front: Front
) -> None:
    later = asyncio.Event()

    async def twice(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
        await server.reply(headers, reply_to(request, revision=1, final=False))
        await later.wait()
        await server.reply(headers, reply_to(request, revision=2, final=True))

    server.answer = twice
    async with front.http as http, http.stream("POST", "/v1/query", json={"text": "x", "progressive": True}) as stream:
        lines = stream.aiter_lines()
        first = [await anext(lines) for _ in range(4)]
        assert first[:2] == ["event: revision", "id: 1"]
        assert json.loads(first[2].removeprefix("data: "))["final"] is False
        later.set()
        rest = [line async for line in lines]
    assert rest[:2] == ["event: revision", "id: 2"]
    assert json.loads(rest[2].removeprefix("data: "))["final"] is True
    assert front.client.in_flight == 0


async def test_one_reply_is_all_that_a_question_gets_that_does_not_ask_for_revisions(
    server: Server, front: Front
) -> None:
    async def twice(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
        await server.reply(headers, reply_to(request, revision=1, final=False))
        await server.reply(headers, reply_to(request, revision=2, final=True))

    server.answer = twice
    async with front.http as http:
        assert (await http.post("/v1/query", json={"text": "x"})).json()["revision"] == 2


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("revisions", [0, 1])
async def test_a_client_that_leaves_frees_its_question_at_once(
    server: Server, front: Front, progressive: bool, revisions: int
) -> None:
    async def unfinished(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
        for number in range(revisions):
            await server.reply(headers, reply_to(request, revision=number + 1, final=False))

    server.answer = unfinished
    reader, writer = await front.raw("POST /v1/query HTTP/1.1")
    body = json.dumps({"text": "x", "timeout": 30, "progressive": progressive})
    writer.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
    await until(lambda: front.client.in_flight == 1)
    if progressive and revisions:
        await reader.readuntil(b"data: ")
    writer.close()
    await until(lambda: front.client.in_flight == 0, 2.0)


async def test_a_question_without_a_reply_is_a_problem_by_its_deadline(server: Server, front: Front) -> None:
    server.answer = silence
    async with front.http as http:
        began = time.monotonic()
        reply = await http.post("/v1/query", json={"text": "x", "timeout": 0.3})
        assert time.monotonic() - began < 2.0
    assert reply.status_code == 504
    assert reply.json()["query_id"]


async def test_nobody_chooses_the_id_of_a_question_and_the_trace_goes_on(server: Server, front: Front) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    async with front.http as http:
        for header in (trace, wrong := f"00-{'0' * 32}-00f067aa0ba902b7-01", "nonsense"):
            await http.post("/v1/query", json={"text": "x"}, headers={"traceparent": header})
    assert len({question.query_id for question, _ in server.asked}) == 3
    sent = [headers["traceparent"].decode() for _, headers in server.asked]
    assert sent[0] == trace
    assert not {wrong, "nonsense"} & set(sent)


async def test_a_body_that_says_it_is_too_large_is_refused_before_any_of_it_is_sent(front: Front) -> None:
    for path, limit in (("/v1/query", bodies.QUESTION), ("/v1/documents/a/b", bodies.DOCUMENT)):
        method = "POST" if path == "/v1/query" else "PUT"
        reader, writer = await front.raw(f"{method} {path} HTTP/1.1")
        writer.write(f"Content-Length: {limit + 1}\r\nExpect: 100-continue\r\n\r\n".encode())
        said = await reader.readuntil(b"\r\n")
        assert b" 413 " in said
        writer.close()


@pytest.mark.parametrize("framing", ["declared", "chunked", "false"])
async def test_twenty_megabytes_are_refused_and_never_held(front: Front, framing: str) -> None:
    async with front.http as http:
        await http.put("/v1/documents/a/b", json={"content": "warm"})
    reader, writer = await front.raw("PUT /v1/documents/a/b HTTP/1.1")
    total = 20 * MIB
    writer.write(f"Content-Length: {total}\r\n\r\n".encode() if framing == "declared" else b"")
    if framing == "chunked":
        writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
    elif framing == "false":
        writer.write(b"Content-Length: 10\r\n\r\n")
    gc.collect()
    tracemalloc.start()
    piece = b"x" * 65_536
    try:
        for _ in range(total // len(piece)):
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if framing == "chunked" else piece)
            await writer.drain()
    except OSError:
        pass  # it has closed
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    if framing == "false":
        # Ten bytes are the body; what follows is no request, and ends the connection.
        with suppress(ConnectionResetError):
            assert b" 400 " in await asyncio.wait_for(reader.read(), 5)
    else:
        assert b" 413 " in await asyncio.wait_for(reader.readuntil(b"\r\n"), 5)
    assert most < (2 if framing != "chunked" else 40) * MIB
    writer.close()
    async with front.http as http:
        assert (await http.get("/livez")).status_code == 200


async def test_a_stranger_is_refused_without_his_body(front: Front) -> None:
    front.key = "wrong"
    reader, writer = await front.raw("PUT /v1/documents/a/b HTTP/1.1")
    writer.write(b"Content-Length: 1000000\r\n\r\nx")
    said = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 2)).lower()
    assert b" 401 " in said
    assert b"connection: close" in said
    assert (await asyncio.wait_for(reader.read(), app.LINGER + 2)).startswith(b"{")  # and the connection ends
    writer.close()


async def test_a_client_that_stops_in_its_body_is_told_and_let_go(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "IDLE", 0.3)
    monkeypatch.setattr(app, "LINGER", 0.2)
    for path in ("PUT /v1/documents/a/b", "POST /v1/query"):
        reader, writer = await front.raw(f"{path} HTTP/1.1")
        writer.write(b'Content-Length: 100\r\n\r\n{"te')
        said = await asyncio.wait_for(reader.read(), 3)
        assert b" 408 " in said.split(b"\r\n")[0]
        assert b"application/problem+json" in said
        writer.close()
    reader, writer = await front.raw("POST /v1/documents HTTP/1.1")
    writer.write(b'Content-Length: 1000\r\n\r\n{"doc_id": "a"}\n{"doc')
    said = await asyncio.wait_for(reader.read(), 3)
    assert b'"status":"published"' in said
    assert b'"status":408' in said
    writer.close()


async def test_a_client_that_trickles_its_body_is_let_go_too(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "WHOLE", 0.5)
    monkeypatch.setattr(app, "LINGER", 0.2)
    reader, writer = await front.raw("POST /v1/query HTTP/1.1")
    writer.write(b"Content-Length: 1000\r\n\r\n")
    began = time.monotonic()
    reading = asyncio.create_task(reader.read())
    while not reading.done() and time.monotonic() - began < 5:
        writer.write(b" ")
        await asyncio.sleep(0.05)
    assert b" 408 " in await reading
    writer.close()


async def test_a_client_that_never_ends_its_headers_is_let_go(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEADERS", 0.3)
    place = httpx.URL(front.url)
    for first in (b"", b"GET /livez HTTP/1.1\r\nHost: x\r\nX-A: "):
        reader, writer = await asyncio.open_connection(place.host, place.port)
        writer.write(first)
        began = time.monotonic()
        reading = asyncio.create_task(reader.read())
        while not reading.done() and time.monotonic() - began < 5:
            writer.write(b"a" if first else b"")
            await asyncio.sleep(0.05)
        [said] = await asyncio.wait_for(asyncio.gather(reading, return_exceptions=True), 1)
        assert not said or isinstance(said, ConnectionResetError)
        writer.close()


async def test_headers_without_end_are_refused(front: Front) -> None:
    reader, writer = await front.raw("GET /livez HTTP/1.1")
    writer.write(b"X-A: " + b"a" * 200_000)
    with suppress(ConnectionResetError):  # it does not read on
        assert b" 400 " in (await asyncio.wait_for(reader.read(), 3)).split(b"\r\n")[0]
    assert reader.at_eof() or reader.exception()
    writer.close()


async def test_results_of_a_bulk_request_come_while_it_is_still_sent(server: Server, front: Front) -> None:
    reader, writer = await front.raw("POST /v1/documents?wait=searchable HTTP/1.1")
    writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
    for number in range(3):
        line = b'{"doc_id": "d%d", "version": 1}\n' % number
        writer.write(b"%x\r\n%s\r\n" % (len(line), line))
        said = await asyncio.wait_for(reader.readuntil(b'"status":"searchable"'), 10)
        assert b'"doc_id":"d%d"' % number in said
    writer.write(b"0\r\n\r\n")
    await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 2)
    writer.close()


async def test_a_long_bulk_request_is_taken_line_by_line_and_a_line_without_end_is_refused(
    server: Server, front: Front
) -> None:
    text = "x" * 20_000

    async def sent() -> AsyncIterator[bytes]:
        for number in range(400):
            yield json.dumps({"doc_id": f"d{number}", "version": 1, "content": text}).encode() + b"\n"
        yield b"x" * (bodies.DOCUMENT + 1)

    async with front.http as http:
        reply = await http.post("/v1/documents", content=sent())
    found = [json.loads(line) for line in reply.text.splitlines()]
    assert [each["line"] for each in found] == list(range(1, 402))
    assert found[-1]["problem"]["status"] == 413
    assert [each["problem"] for each in found[:-1] if each.get("status") != "published"][:2] == []
    wanted = {f"d{number}" for number in range(400)}
    await until(lambda: {change.doc_id for change in server.changes} == wanted, 20)


async def test_more_lines_than_a_request_may_have_are_told_and_the_first_ones_stand(
    server: Server, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MOST_LINES", 5)
    async with front.http as http:
        body = b"".join(b'{"doc_id": "d%d"}\n' % number for number in range(9))
        found = [json.loads(line) for line in (await http.post("/v1/documents", content=body)).text.splitlines()]
    assert [each["line"] for each in found] == [1, 2, 3, 4, 5, 6]
    assert found[-1]["problem"]["status"] == 413


async def test_a_client_that_leaves_in_the_middle_of_a_bulk_request_frees_everything(
    server: Server, front: Front
) -> None:
    server.confirm = no_receipt
    _, writer = await front.raw("POST /v1/documents?wait=searchable&timeout=60 HTTP/1.1")
    writer.write(b'Content-Length: 1000\r\n\r\n{"doc_id": "a", "version": 1}\n')
    await until(lambda: len(server.changes) == 1)
    assert under_way("Bulk.publish") == 1
    writer.close()
    await until(lambda: under_way("Bulk.publish") == under_way("Results.") == 0)


async def test_without_a_broker_the_gateway_says_so_and_when_to_come_again(tmp_path: Path) -> None:
    async with brokers.running(tmp_path) as server, fronting(server.url, "acme") as front, front.http as http:
        assert (await http.put("/v1/documents/a/b", json={"content": "x"})).status_code == 202
        await server.child.stop(10)
        began = time.monotonic()
        asked, put, many = await asyncio.gather(
            http.post("/v1/query", json={"text": "x", "timeout": 1}),
            http.put("/v1/documents/a/b", json={"content": "x"}),
            http.post("/v1/documents", content=b'{"doc_id": "a"}\n'),
        )
        assert time.monotonic() - began < 20
        for reply in (asked, put):
            assert (reply.status_code, reply.headers["content-type"]) == (503, "application/problem+json")
            assert int(reply.headers["retry-after"]) >= 1
        assert many.json()["problem"]["status"] == 503
        await until(lambda: not front.client.listening, 10)
