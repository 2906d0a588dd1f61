"""A small server for tests of the client: it answers questions and confirms documents as a test tells it to."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiokafka import AIOKafkaProducer

from schemas import codec
from schemas.documents import DocumentChange, DocumentStatus
from schemas.queries import QueryRequest
from schemas.replies import Milliseconds, QueryReply
from streams import wire
from streams.gateways.tail import Tail
from topics.catalogue import DOCUMENT_CHANGES, DOCUMENT_CHANGES_BULK, DOCUMENT_STATUS, QUERIES

Answer = Callable[["Server", QueryRequest, dict[str, bytes]], Awaitable[None]]


class Server:
    """Answers questions and confirms documents, as `answer` and `confirm` say."""

    def __init__(self, kafka: str) -> None:
        self.tenant = f"t-{uuid.uuid4().hex[:8]}"
        self.answer: Answer = at_once
        self.confirm: Callable[[Server, DocumentChange], Awaitable[None]] = searchable
        self.changes: list[DocumentChange] = []
        self.asked: list[tuple[QueryRequest, dict[str, bytes]]] = []
        self._kafka = kafka
        lanes = (DOCUMENT_CHANGES, DOCUMENT_CHANGES_BULK)
        self._tails = (Tail(kafka, QUERIES, self._question), *(Tail(kafka, lane, self._change) for lane in lanes))
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Server:
        self.producer = AIOKafkaProducer(bootstrap_servers=self._kafka)
        await self.producer.start()
        for tail in self._tails:
            await tail.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for tail in self._tails:
            await tail.stop()
        for task in self._tasks:
            task.cancel()
        await self.producer.stop()

    async def reply(self, headers: dict[str, bytes], message: QueryReply) -> None:
        address = wire.reply_address(headers)
        assert address is not None
        sent = list(wire.reply_headers(address).items())
        value = codec.encode(message)
        await self.producer.send_and_wait(address.topic, value, partition=address.partition, headers=sent)

    async def receipt(self, change: DocumentChange, **fields: Any) -> None:
        status = DocumentStatus(
            tenant=change.tenant,
            source=change.source,
            doc_id=change.doc_id,
            version=change.version,
            generation="g1",
            status="deleted" if change.op == "delete" else "searchable",
            chunks=1,
        )
        await self.producer.send_and_wait(
            DOCUMENT_STATUS.name, codec.encode(msgspec.structs.replace(status, **fields)), key=b"k"
        )

    def _question(self, record: Any) -> None:
        request = codec.decode(record.value, QueryRequest)
        if request.tenant == self.tenant:
            self.asked.append((request, dict(record.headers)))
            self._start(self.answer(self, request, dict(record.headers)))

    def _change(self, record: Any) -> None:
        change = codec.decode(record.value, DocumentChange)
        if change.tenant == self.tenant:
            self.changes.append(change)
            self._start(self.confirm(self, change))

    def _start(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def reply_to(request: QueryRequest, **fields: Any) -> QueryReply:
    return QueryReply(
        query_id=request.query_id, milliseconds=Milliseconds(total=1.0), profile=request.profile, **fields
    )


async def at_once(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
    await server.reply(headers, reply_to(request, reasons=(request.text,)))


async def silence(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
    """Say nothing."""


async def searchable(server: Server, change: DocumentChange) -> None:
    await server.receipt(change)


async def no_receipt(server: Server, change: DocumentChange) -> None:
    """Say nothing."""


def change(server: Server, number: int = 1, **fields: Any) -> DocumentChange:
    fields = {"version": 1, "content": f"text {number}", **fields}
    return DocumentChange(tenant=server.tenant, source="help", doc_id=f"doc-{number}", **fields)
