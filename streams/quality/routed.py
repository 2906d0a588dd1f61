"""Messages on their way without a bus: decoded again for whoever looks on."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator

from schemas import dead_letters
from schemas.dead_letters import DeadLetter
from schemas.documents import DocumentChange
from streams import wire
from streams.gateways.publishing import Changes
from streams.wire import Outgoing, RawOutgoing, Record
from topics import catalogue

_TOPICS = {topic.name: topic for topic in catalogue.ALL}
_DEAD_LETTERS = {topic.name for topic in catalogue.DEAD_LETTERS}


def decoded(raw: RawOutgoing) -> Outgoing:
    """Return what the bytes say; of a dead letter, what its headers say."""
    topic = _TOPICS[raw.topic]
    if raw.topic in _DEAD_LETTERS:
        message = dead_letter(raw)
        return Outgoing(topic=topic, key=raw.key, message=message, headers=raw.headers, partition=raw.partition)
    record = Record(
        topic=raw.topic, partition=0, offset=0, timestamp=0.0, key=raw.key, value=raw.value, headers=raw.headers
    )
    read = wire.read(record, topic)
    return Outgoing(topic=topic, key=raw.key, message=read, headers=raw.headers, partition=raw.partition)


def dead_letter(raw: RawOutgoing) -> DeadLetter:
    """Read the headers of a dead letter."""

    def text(name: str) -> str:
        return raw.headers[name].decode("utf-8", "replace")

    return DeadLetter(
        topic=text(dead_letters.ORIGINAL_TOPIC),
        partition=int(text(dead_letters.ORIGINAL_PARTITION)),
        offset=int(text(dead_letters.ORIGINAL_OFFSET)),
        timestamp=int(text(dead_letters.ORIGINAL_TIMESTAMP)),
        group=text(dead_letters.ORIGINAL_GROUP),
        error_class=text(dead_letters.ERROR_CLASS),  # type: ignore[arg-type]  # the runner wrote it
        exception=text(dead_letters.EXCEPTION),
        message=text(dead_letters.EXCEPTION_MESSAGE),
        attempts=int(text(dead_letters.ATTEMPTS)),
    )


def key_of(change: DocumentChange) -> bytes:
    """Return the record key of a change."""
    return catalogue.document_key(change.tenant, change.source, change.doc_id)


async def each(changes: Changes) -> AsyncIterator[DocumentChange]:
    """Yield changes of either kind of iterable."""
    if isinstance(changes, AsyncIterable):
        async for change in changes:
            yield change
    else:
        for change in changes:
            yield change
