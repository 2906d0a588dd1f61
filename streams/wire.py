"""Records as Kafka gives them, and what is to be sent; bytes and headers to messages and back."""

from __future__ import annotations

import base64
import functools
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schemas import codec
from schemas.base import Message
from schemas.queries import ReplyTo
from topics.topic import Topic

CORRELATION_ID = "kafka_correlationId"
REPLY_TOPIC = "kafka_replyTopic"
REPLY_PARTITION = "kafka_replyPartition"
TENANT = "rankstream-tenant"
SINCE = "rankstream-since"  # milliseconds since the epoch: when what is behind a record was published
Pairs = tuple[tuple[str, bytes | None], ...]  # headers as Kafka has them: a name may stand there twice, or be null
TRACE_HEADERS = ("traceparent", "tracestate", SINCE)


@dataclass(frozen=True, kw_only=True)
class Record:
    """One consumed record."""

    topic: str
    partition: int
    offset: int
    timestamp: float  # seconds since the epoch
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes] = field(default_factory=dict)  # the last of each name, without nulls
    came: Pairs | None = None  # all headers; none: `headers` are all

    @property
    def pairs(self) -> Pairs:
        """Return all headers, in their order."""
        return tuple(self.headers.items()) if self.came is None else self.came


@dataclass(frozen=True, kw_only=True)
class Outgoing:
    """One message to send."""

    topic: Topic
    key: bytes | None
    message: Message
    headers: Mapping[str, bytes] = field(default_factory=dict)
    partition: int | None = None


@dataclass(frozen=True, kw_only=True)
class Moved(Outgoing):
    """The record itself, to another topic: its value, key and headers as they came. `message` is what it says."""


@dataclass(frozen=True, kw_only=True)
class RawOutgoing:
    """Bytes to send as they are."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes]  # in place of those of these names
    partition: int | None = None
    came: Pairs = ()  # headers of the record that is passed on

    @property
    def pairs(self) -> Pairs:
        """Return all headers as they are sent."""
        return (*((name, value) for name, value in self.came if name not in self.headers), *self.headers.items())


def all_headers(pairs: Iterable[tuple[str, bytes | None]]) -> tuple[Mapping[str, bytes], Pairs | None]:
    """Return what `Record` has of a record's headers: the last of each name, and all where that is not the same."""
    came = tuple((str(name), None if value is None else bytes(value)) for name, value in pairs)
    headers = {name: value for name, value in came if value is not None}
    return headers, None if len(headers) == len(came) else came


def read(record: Record, topic: Topic) -> Message:
    """Decode a record into one of the messages that its topic carries; raise InvalidMessage."""
    if record.value is None:
        raise codec.InvalidMessage("decode", None, "the record has no value")
    return codec.decode(record.value, _union(topic.carries))


@functools.cache
def _union(classes: tuple[type[Message], ...]) -> type[Message]:
    # A union of one class is that class, whose `name` may then be left out.
    union: type[Message] = functools.reduce(operator.or_, classes)
    return union


def write(outgoing: Outgoing, cause: Record, trace: Mapping[str, bytes] = {}) -> RawOutgoing:
    """Encode a message, carrying on the trace of the record that caused it, below the span that `trace` names."""
    if isinstance(outgoing, Moved):
        return passed_on(cause, outgoing.topic.name, trace)
    carried = {name: cause.headers[name] for name in TRACE_HEADERS if name in cause.headers}
    return RawOutgoing(
        topic=outgoing.topic.name,
        key=outgoing.key,
        value=codec.encode(outgoing.message),
        headers={**carried, **trace, **outgoing.headers},
        partition=outgoing.partition,
    )


def passed_on(record: Record, topic: str, headers: Mapping[str, bytes], partition: int | None = None) -> RawOutgoing:
    """Return a record for another topic: its value, key and headers as they came, and further headers."""
    kept = record.headers if record.came is None else {}
    return RawOutgoing(
        topic=topic,
        key=record.key,
        value=record.value,
        headers={**kept, **headers},
        partition=partition,
        came=record.came or (),
    )


def reply_address(headers: Mapping[str, bytes]) -> ReplyTo | None:
    """Read the reply address of a question; none when the headers do not hold a usable one."""
    topic = headers.get(REPLY_TOPIC, b"").decode("utf-8", "replace")
    if not topic:
        return None
    partition = headers.get(REPLY_PARTITION)
    # Spring writes the partition as a four-byte big-endian integer.
    if partition is not None and len(partition) != 4:
        return None
    return ReplyTo(
        topic=topic,
        partition=int.from_bytes(partition, "big") if partition is not None else None,
        correlation_id=base64.b64encode(headers.get(CORRELATION_ID, b"")).decode("ascii"),
    )


def traceparent(headers: Iterable[tuple[str, bytes]]) -> str | None:
    """Return the trace context of a record as a client gets it."""
    return next((value.decode("ascii", "replace") for name, value in headers if name == TRACE_HEADERS[0]), None)


def reply_headers(reply_to: ReplyTo, tenant: str = "") -> dict[str, bytes]:
    """Return the headers by which the asking client knows its reply, and whose it is where that is known."""
    known = {TENANT: tenant.encode()} if tenant else {}
    return {CORRELATION_ID: base64.b64decode(reply_to.correlation_id), **known}
