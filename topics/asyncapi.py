"""Writes the AsyncAPI 3.0 document of all topics: `python -m topics.asyncapi`; `--check` only compares.

It speaks from a client's point of view: `send` is what a client publishes.
Source: AsyncAPI 3.0.0, Kafka bindings 0.5.0.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import msgspec

from schemas import dead_letters
from schemas.generate import MESSAGES, main, pretty
from schemas.replies import QueryReply
from topics import catalogue, record_headers
from topics.topic import Topic

FILE_NAME = "asyncapi.json"
DEAD_LETTER = "DeadLetter"
DEAD_LETTER_MARK = "DeadLetterMark"
BINDING = "0.5.0"
JSON = "application/json"
CORRELATION = {"location": f"$message.header#/{record_headers.CORRELATION_ID}"}


class Stage(Protocol):
    """What the document needs to know of a processor."""

    @property
    def name(self) -> str:
        """Its name, which its consumer group ends in."""

    @property
    def source(self) -> Topic:
        """The topic it reads."""

    @property
    def sinks(self) -> tuple[Topic, ...]:
        """The topics it writes."""


def document(topics: Sequence[Topic] = catalogue.ALL, stages: Iterable[Stage] = ()) -> dict[str, Any]:
    """Return the AsyncAPI document: every topic as a channel, the clients' operations, and those of any `stages`."""
    _, components = msgspec.json.schema_components(MESSAGES, ref_template="#/components/schemas/{name}")
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "rankstream",
            "version": "1.0.0",
            "description": "Streaming hybrid retrieval on Kafka: document changes and questions in, receipts "
            "and scored passages out. Keys are UTF-8; values are JSON with a name and a version.",
        },
        "defaultContentType": JSON,
        "servers": {
            "kafka": {
                "host": "{bootstrap}",
                "protocol": "kafka",
                "variables": {"bootstrap": {"default": "localhost:9092", "description": "KAFKA_BOOTSTRAP_SERVERS"}},
            }
        },
        "channels": {topic.name: _channel(topic) for topic in topics},
        "operations": _client_operations() | _stage_operations(stages),
        "components": {"messages": _messages(topics), "schemas": components},
    }


def files() -> dict[str, bytes]:
    """Return what the file of the document says, by file name."""
    return {FILE_NAME: pretty(document())}


def _message_names(topic: Topic) -> list[str]:
    if topic in catalogue.DEAD_LETTERS:
        return [DEAD_LETTER, DEAD_LETTER_MARK]
    return [message.__name__ for message in topic.carries]


def _channel(topic: Topic) -> dict[str, Any]:
    config = {name: int(value) if value.isdecimal() else value for name, value in topic.config.items()}
    return {
        "address": topic.name,
        "description": f"{topic.summary}; key: {topic.key}",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in _message_names(topic)},
        "bindings": {
            "kafka": {
                "topic": topic.name,
                "partitions": topic.partitions,
                "topicConfiguration": config | {"cleanup.policy": [topic.cleanup]},
                "bindingVersion": BINDING,
            }
        },
    }


def _messages(topics: Sequence[Topic]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for topic in topics:
        key = {"kafka": {"key": {"type": "string", "description": topic.key}, "bindingVersion": BINDING}}
        for message in topic.carries:
            headers, required = record_headers.OF_MESSAGE.get(message, ({}, []))
            entry = {
                "title": message.__name__,
                "summary": (inspect.getdoc(message) or "").partition("\n\n")[0],
                "contentType": JSON,
                "headers": {"type": "object", "properties": record_headers.TRACE | headers, "required": required},
                "payload": {"$ref": f"#/components/schemas/{message.__name__}"},
                "bindings": key,
            }
            if record_headers.CORRELATION_ID in headers:
                entry["correlationId"] = CORRELATION
            found.setdefault(message.__name__, entry)
    found[DEAD_LETTER] = {
        "title": DEAD_LETTER,
        "summary": "A record that could not be handled: value, key and headers as they came, and why in the headers.",
        "contentType": "application/octet-stream",
        "headers": {
            "type": "object",
            "properties": record_headers.TRACE | record_headers.DEAD_LETTER,
            "required": [dead_letters.ORIGINAL_TOPIC, dead_letters.ERROR_CLASS],
        },
    }
    found[DEAD_LETTER_MARK] = {
        "title": DEAD_LETTER_MARK,
        "summary": "No value: the dead letter that the headers name was re-driven or discarded, and is no longer open.",
        "headers": {
            "type": "object",
            "properties": record_headers.DEAD_LETTER_MARK,
            "required": list(record_headers.DEAD_LETTER_MARK),
        },
    }
    return found


def _operation(action: str, topic: Topic, summary: str) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{topic.name}"},
        "summary": summary,
        "messages": [{"$ref": f"#/channels/{topic.name}/messages/{name}"} for name in _message_names(topic)],
    }


def _client_operations() -> dict[str, Any]:
    replies = f"#/channels/{catalogue.REPLIES.name}"
    ask = _operation("send", catalogue.QUERIES, "ask a question; one outcome comes by its deadline")
    ask["reply"] = {"channel": {"$ref": replies}, "messages": [{"$ref": f"{replies}/messages/{QueryReply.__name__}"}]}
    publish = "publish a new version of a document or Q&A pair, or its deletion"
    status = "learn that a version is searchable, deleted or failed"
    return {
        "publishDocumentChange": _operation("send", catalogue.DOCUMENT_CHANGES, publish),
        "receiveDocumentStatus": _operation("receive", catalogue.DOCUMENT_STATUS, status),
        "askQuestion": ask,
    }


def _stage_operations(stages: Iterable[Stage]) -> dict[str, Any]:
    found = {}
    for stage in stages:
        found[f"{stage.name}.receive"] = _operation("receive", stage.source, f"what `{stage.name}` reads")
        for sink in stage.sinks:
            found[f"{stage.name}.send.{sink.name}"] = _operation("send", sink, f"what `{stage.name}` writes")
    return found


if __name__ == "__main__":
    sys.exit(main(files()))
