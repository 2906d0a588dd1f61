"""Questions on their way out: their ids, their headers, their validation, and the ones that wait for a reply."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from schemas import codec
from schemas.queries import QueryRequest
from schemas.replies import ErrorInfo, QueryReply, error_reply
from streams import wire
from streams.errors import Invalid
from streams.gateways.wording import invalid
from topics.catalogue import REPLIES


def new_id(now: float) -> str:
    """Return a UUIDv7 (RFC 9562) of a time in seconds since the epoch: ids sort by when they were made."""
    number = (int(now * 1000) & (1 << 48) - 1) << 80 | 0x7 << 76 | 0b10 << 62
    number |= secrets.randbits(12) << 64 | secrets.randbits(62)
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def new_traceparent() -> str:
    """Return a W3C trace context that starts a trace."""
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"


def headers(query_id: str, partition: int, traceparent: str) -> list[tuple[str, bytes]]:
    """Return the record headers of a question: Spring's reply address, and the trace."""
    return [
        (wire.CORRELATION_ID, query_id.encode()),
        (wire.REPLY_TOPIC, REPLIES.name.encode()),
        (wire.REPLY_PARTITION, partition.to_bytes(4, "big")),
        ("traceparent", traceparent.encode("ascii", "replace")),
    ]


NOT_SENT = "not sent: "  # how the message of an error begins after which a question may be asked again


def was_not_sent(reply: QueryReply | None) -> bool:
    """Tell whether a question certainly did not reach the broker, so that nobody will answer it."""
    return reply is not None and reply.error is not None and reply.error.message.startswith(NOT_SENT)


def encoded(fields: dict[str, Any]) -> tuple[QueryRequest, bytes]:
    """Build and check a question, and return it with its bytes; raise Invalid that names the field."""
    try:
        data = msgspec.json.encode({"name": "QueryRequest", "version": 1, **fields})
        return codec.decode(data, QueryRequest), data
    except codec.InvalidMessage as error:
        raise invalid(error, fields) from error
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Invalid(f"cannot be written as JSON: {error}", field=_unwritable(fields)) from error


def _unwritable(fields: dict[str, Any]) -> str | None:
    for name, value in fields.items():
        try:
            msgspec.json.encode(value)
        except (TypeError, ValueError, OverflowError, RecursionError):
            return name
    return None


class Waiting:
    """A question that waits: its revisions in the order in which they came."""

    def __init__(self, query_id: str) -> None:
        self.query_id = query_id
        self.traceparent: str | None = None  # of the last reply that came
        self._replies: deque[QueryReply] = deque()
        self._wake: asyncio.Future[None] | None = None

    def put(self, reply: QueryReply) -> None:
        self._replies.append(reply)
        _set(self._wake)

    async def next(self, until: float) -> QueryReply | None:
        """Return the next revision, or none when the loop's clock reaches `until` first."""
        if not self._replies:
            loop = asyncio.get_running_loop()
            self._wake = loop.create_future()
            timer = loop.call_at(until, _set, self._wake)
            try:
                await self._wake
            finally:
                timer.cancel()
                self._wake = None
        return self._replies.popleft() if self._replies else None


class Pending:
    """The questions that wait, at most `limit`, by correlation id."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: dict[bytes, Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def full(self) -> bool:
        return len(self._waiting) >= self._limit

    @contextmanager
    def open(self, query_id: str) -> Iterator[Waiting]:
        """Let a question wait inside the block; raise Invalid when one with its id waits already."""
        correlation = query_id.encode()
        if correlation in self._waiting:
            raise Invalid("a question with this id is still waiting; give each its own", field="query_id")
        waiting = self._waiting[correlation] = Waiting(query_id)
        try:
            yield waiting
        finally:
            del self._waiting[correlation]

    def deliver(self, record: Any) -> None:
        """Hand a record of the reply topic to its question; late, duplicate and unknown ones are dropped."""
        correlation = next((value for name, value in record.headers if name == wire.CORRELATION_ID), b"")
        waiting = self._waiting.get(correlation)
        if waiting is None:
            return
        try:
            reply = codec.decode(record.value or b"", QueryReply)
            waiting.traceparent = wire.traceparent(record.headers)
        except codec.InvalidMessage as error:
            info = ErrorInfo(error_class="decode", message=f"the reply cannot be read: {error}")
            reply = error_reply(waiting.query_id, info)
        waiting.put(reply)

    def end(self, message: str) -> None:
        """Tell every question that nothing will come."""
        for waiting in self._waiting.values():
            waiting.put(error_reply(waiting.query_id, ErrorInfo(error_class="no reply", message=message)))


def _set(future: asyncio.Future[None] | None) -> None:
    if future is not None and not future.done():
        future.set_result(None)
