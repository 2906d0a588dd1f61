"""The AsyncAPI document: up to date, complete, and every reference in it leads somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import msgspec

from schemas.generate import differing
from streams import wire
from topics import catalogue, record_headers
from topics.asyncapi import DEAD_LETTER, DEAD_LETTER_MARK, document, files
from topics.topic import Topic

DOCUMENT = msgspec.to_builtins(document())


def references(node: Any) -> Iterator[str]:
    """Return every `$ref` in a part of the document."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from references(item)


def follow(reference: str) -> Any:
    """Return what a reference inside of the document leads to; KeyError: nowhere."""
    return reduce(lambda node, step: node[step], reference.removeprefix("#/").split("/"), DOCUMENT)


def test_the_file_on_disk_is_what_the_catalogue_says() -> None:
    assert differing(files()) == [], "run `python -m topics.asyncapi`"


def test_every_reference_leads_somewhere() -> None:
    for reference in references(DOCUMENT):
        assert follow(reference)


def test_the_document_has_the_members_that_asyncapi_3_requires() -> None:
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= set(DOCUMENT["info"])
    for operation in DOCUMENT["operations"].values():
        assert operation["action"] in ("send", "receive")
        # An operation's messages are those of its channel, by reference to the channel.
        channel = operation["channel"]["$ref"]
        assert all(message["$ref"].startswith(f"{channel}/messages/") for message in operation["messages"])
    for message in DOCUMENT["components"]["messages"].values():
        headers = message["headers"]
        assert headers["type"] == "object"
        assert set(headers["required"]) <= set(headers["properties"])


def test_every_topic_is_a_channel_as_it_is_created() -> None:
    assert list(DOCUMENT["channels"]) == [topic.name for topic in catalogue.ALL]
    for topic in catalogue.ALL:
        channel = DOCUMENT["channels"][topic.name]
        binding = channel["bindings"]["kafka"]
        assert channel["address"] == topic.name
        assert binding["partitions"] == topic.partitions
        config = binding["topicConfiguration"]
        assert {
            name: value[0] if isinstance(value, list) else str(value) for name, value in config.items()
        } == topic.config


def test_a_channel_carries_the_messages_of_its_topic_and_a_dead_letter_topic_dead_letters() -> None:
    for topic in catalogue.PIPELINE:
        assert list(DOCUMENT["channels"][topic.name]["messages"]) == [message.__name__ for message in topic.carries]
    for topic in catalogue.DEAD_LETTERS:
        assert list(DOCUMENT["channels"][topic.name]["messages"]) == [DEAD_LETTER, DEAD_LETTER_MARK]


def test_a_question_names_its_reply_address_and_the_reply_brings_its_correlation_id() -> None:
    ask = DOCUMENT["operations"]["askQuestion"]
    assert ask["reply"]["channel"]["$ref"] == "#/channels/replies"
    messages = DOCUMENT["components"]["messages"]
    assert {wire.CORRELATION_ID, wire.REPLY_TOPIC, wire.REPLY_PARTITION} <= set(
        messages["QueryRequest"]["headers"]["properties"]
    )
    assert wire.CORRELATION_ID in messages["QueryReply"]["headers"]["properties"]
    assert messages["QueryReply"]["correlationId"]["location"] == f"$message.header#/{wire.CORRELATION_ID}"


def test_header_names_are_those_of_the_wire() -> None:
    assert (record_headers.CORRELATION_ID, record_headers.REPLY_TOPIC, record_headers.REPLY_PARTITION) == (
        wire.CORRELATION_ID,
        wire.REPLY_TOPIC,
        wire.REPLY_PARTITION,
    )
    assert {*record_headers.TRACE, "tracestate"} == {*wire.TRACE_HEADERS}


def test_processors_add_what_they_read_and_write() -> None:
    @dataclass(frozen=True)
    class Embed:
        name: str = "embed"
        source: Topic = catalogue.CHUNKS
        sinks: tuple[Topic, ...] = (catalogue.VECTORS,)

    operations = document(stages=[Embed()])["operations"]
    assert operations["embed.receive"]["channel"] == {"$ref": "#/channels/chunks"}
    assert operations["embed.send.vectors"]["action"] == "send"
