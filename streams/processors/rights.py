"""What each part of rankstream may do on Kafka, made from what it reads and writes; what is not named is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from streams.processor import Processor
from topics import catalogue
from topics.topic import Topic

Operation = Literal["Read", "Write", "Create", "Describe", "DescribeConfigs", "Alter", "AlterConfigs"]
EVERY = "*"  # as a name: all of its kind


@dataclass(frozen=True, kw_only=True)
class Right:
    """Operations, by Kafka's names, on one topic or one consumer group."""

    kind: Literal["topic", "group"]
    name: str
    operations: tuple[Operation, ...]
    begins: bool = False  # on all whose names begin so


# `rankstream run` compares the topics with the catalogue before it starts.
LOOK = Right(kind="topic", name=EVERY, operations=("Describe", "DescribeConfigs"))


def of_processor(processor: Processor) -> tuple[Right, ...]:
    """Return the rights of a processor's process."""
    return (LOOK, _reading(processor.source), _group(processor), *map(_writing, _written(processor)))


def of_clients() -> tuple[Right, ...]:
    """Return the rights of those who publish documents and ask questions; they read without a consumer group."""
    sent = (catalogue.DOCUMENT_CHANGES, catalogue.QUERIES)
    heard = (catalogue.DOCUMENT_STATUS, catalogue.REPLIES)
    return (*map(_writing, sent), *map(_reading, heard))


def of_gateway() -> tuple[Right, ...]:
    """Return the rights of the HTTP gateway: a client's, the bulk lane, and a look at how far all is, for admins."""
    groups = Right(kind="group", name=EVERY, operations=("Describe",))
    return (LOOK, *of_clients(), _writing(catalogue.DOCUMENT_CHANGES_BULK), groups)


def of_log_shipper() -> tuple[Right, ...]:
    """Return the rights of the collector that reads the query log, in a group of its own."""
    group = Right(kind="group", name=f"rankstream.{catalogue.QUERY_LOG.name}", operations=("Read", "Describe"))
    return (_reading(catalogue.QUERY_LOG), group)


def of_operator() -> tuple[Right, ...]:
    """Return the rights of `rankstream topics` and `rankstream status`."""
    return (
        Right(
            kind="topic",
            name=EVERY,
            operations=("Create", "Describe", "DescribeConfigs", "Alter", "AlterConfigs"),
        ),
        Right(kind="group", name=EVERY, operations=("Describe",)),
    )


def _written(processor: Processor) -> Iterator[Topic]:
    yield from processor.sinks
    yield processor.source.dead_letters


def _reading(topic: Topic) -> Right:
    return Right(kind="topic", name=topic.name, operations=("Read", "Describe"))


def _writing(topic: Topic) -> Right:
    return Right(kind="topic", name=topic.name, operations=("Write", "Describe"))


def _group(processor: Processor) -> Right:
    each = processor.per_generation  # in a group of its own
    name = f"{processor.group}-" if each else processor.group
    return Right(kind="group", name=name, operations=("Read", "Describe"), begins=each)
