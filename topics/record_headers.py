"""The headers of records, as JSON Schema properties, for the AsyncAPI document."""

from __future__ import annotations

from typing import Any, get_args

from schemas import dead_letters
from schemas.base import Message
from schemas.documents import DocumentChange
from schemas.event_fields import TYPES
from schemas.queries import QueryRequest
from schemas.replies import QueryReply
from topics.catalogue import REPLY_TOPICS

# Spring for Apache Kafka's request/reply headers.
CORRELATION_ID = "kafka_correlationId"
REPLY_TOPIC = "kafka_replyTopic"
REPLY_PARTITION = "kafka_replyPartition"

TENANT = {
    "rankstream-tenant": {"type": "string", "description": "whose question it was; absent where that could not be read"}
}
SINCE = "rankstream-since"
TRACE = {
    "traceparent": {"type": "string", "description": "the trace that this record belongs to (W3C Trace Context)"},
    SINCE: {
        "type": "string",
        "description": "decimal milliseconds since the epoch: when the change or question behind it was sent",
    },
}
CORRELATION = {CORRELATION_ID: {"type": "string", "description": "any bytes; they come back with every reply"}}
REPLY_TO = {
    REPLY_TOPIC: {"type": "string", "enum": sorted(REPLY_TOPICS)},
    REPLY_PARTITION: {
        "type": "string",
        "description": "four bytes, a big-endian integer: the partition of the reply topic that the client reads",
    },
}
CLOUD_EVENT = {
    "content-type": {
        "type": "string",
        "description": "of the data; with text/markdown, text/html or text/plain the value is the text of the "
        "document, and extension attributes say the rest; application/cloudevents+json: structured mode, no `ce_`",
    },
    "ce_specversion": {"type": "string", "enum": ["1.0"]},
    "ce_type": {"type": "string", "enum": list(TYPES)},
    "ce_source": {"type": "string", "description": "the source's name, where neither data nor ce_docsource says it"},
    "ce_id": {"type": "string"},
    "ce_subject": {"type": "string", "description": "the doc id"},
    "ce_time": {"type": "string", "format": "date-time", "description": "`updated_at`, where the data has none"},
    "ce_tenant": {"type": "string"},
    "ce_version": {"type": "string", "description": "the document's version, decimal"},
    "ce_docsource": {"type": "string"},
    "ce_title": {"type": "string"},
}
DEAD_LETTER = {
    dead_letters.ORIGINAL_TOPIC: {"type": "string"},
    dead_letters.ORIGINAL_PARTITION: {"type": "string", "description": "decimal"},
    dead_letters.ORIGINAL_OFFSET: {"type": "string", "description": "decimal"},
    dead_letters.ORIGINAL_TIMESTAMP: {"type": "string", "description": "decimal milliseconds since the epoch"},
    dead_letters.ORIGINAL_GROUP: {"type": "string"},
    dead_letters.EXCEPTION: {"type": "string"},
    dead_letters.EXCEPTION_MESSAGE: {"type": "string"},
    dead_letters.ERROR_CLASS: {"type": "string", "enum": list(get_args(dead_letters.ErrorClass))},
    dead_letters.ATTEMPTS: {"type": "string", "description": "decimal"},
    dead_letters.PARKED: {"type": "string", "description": "it died twice the same way; re-driven only when asked for"},
    dead_letters.REDRIVES: {"type": "string", "description": "decimal: how often it went back before it died"},
    dead_letters.DIED: {"type": "string", "description": "`group=class` of each death before, parted by spaces"},
}
DEAD_LETTER_MARK = {
    **{
        name: DEAD_LETTER[name]
        for name in (
            dead_letters.ORIGINAL_TOPIC,
            dead_letters.ORIGINAL_PARTITION,
            dead_letters.ORIGINAL_OFFSET,
            dead_letters.ORIGINAL_TIMESTAMP,
            dead_letters.ORIGINAL_GROUP,
        )
    },
    dead_letters.SETTLED: {"type": "string", "enum": list(get_args(dead_letters.Settled))},
    dead_letters.SETTLED_UP_TO: {
        "type": "string",
        "description": "decimal: the offset on the dead letter topic up to which the letter named is settled",
    },
}
# By message: its headers, and which of them are required.
OF_MESSAGE: dict[type[Message], tuple[dict[str, Any], list[str]]] = {
    DocumentChange: (CLOUD_EVENT, []),
    QueryRequest: (CORRELATION | REPLY_TO, [CORRELATION_ID, REPLY_TOPIC]),
    QueryReply: (CORRELATION | TENANT, [CORRELATION_ID]),
}
