"""log-questions and log-replies: keep questions and answers for who wants to know later; no question waits for them.

A processor reads one topic, so there are two, and a question and its answer are two records with one query id. They are
not written where the answer is made: that would cost each question the masking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import Message
from schemas.codec import InvalidMessage
from schemas.queries import QueryRequest
from schemas.query_log import LoggedQuestion, LoggedReply
from schemas.replies import QueryReply
from streams import wire
from streams.domain import query_log
from streams.processor import Processor
from streams.wire import Outgoing, Record
from topics import catalogue
from topics.topic import Topic


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What the query log needs. Switched off, it goes on reading: what is asked meanwhile is never logged."""

    on: bool = True


class Seen(Message, frozen=True, kw_only=True):
    """A record with its time and tenant; nothing where it cannot be read, which `prepare` answers for."""

    message: QueryRequest | QueryReply | None
    at: float
    tenant: str = ""


def read(record: Record, topic: Topic) -> Seen:
    """Read a question or a reply."""
    try:
        message = wire.read(record, topic)
    except InvalidMessage:
        return Seen(message=None, at=record.timestamp)
    assert isinstance(message, QueryRequest | QueryReply)
    tenant = record.headers.get(wire.TENANT, b"").decode("utf-8", "replace")
    return Seen(message=message, at=record.timestamp, tenant=tenant)


async def handle(seen: Seen, deps: Deps) -> Sequence[Outgoing]:
    """Return what is kept of a record; repeated, it is the same record again."""
    if not deps.on or seen.message is None:
        return ()
    entry: LoggedQuestion | LoggedReply
    if isinstance(seen.message, QueryRequest):
        entry = query_log.question(seen.message, seen.at)
    else:
        entry = query_log.reply(seen.message, seen.tenant, seen.at)
    return [Outgoing(topic=catalogue.QUERY_LOG, key=entry.query_id.encode(), message=entry)]


LOG_QUESTIONS = Processor(
    name="log-questions",
    summary="keeps questions, without secrets, for 90 days",
    source=catalogue.QUERIES,
    sinks=(catalogue.QUERY_LOG,),
    reads=read,
    handle=handle,
    keyed=False,
)
LOG_REPLIES = Processor(
    name="log-replies",
    summary="keeps what they were answered with, without texts",
    source=catalogue.REPLIES,
    sinks=(catalogue.QUERY_LOG,),
    reads=read,
    handle=handle,
    keyed=False,
)
