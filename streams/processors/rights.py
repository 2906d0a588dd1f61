"""What each part of rankstream may do on Kafka, made from what it reads and writes; what is not named is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from streams.processor import Processor
from streams.processors import catalogue as processors
from topics import catalogue
from topics.topic import Topic

Operation = Literal["Read", "Write", "Create", "Describe", "DescribeConfigs", "AlterConfigs"]
EVERY = "*"  # as a name: all of its kind
OTHERS = ("clients", "probe", "gateway", "log-shipper", "operator", "scaler")  # users that are no processors


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
    sent = (catalogue.DOCUMENT_CHANGES, catalogue.DOCUMENT_CHANGES_BULK, catalogue.QUERIES)
    heard = (catalogue.DOCUMENT_STATUS, catalogue.REPLIES)
    return (*map(_writing, sent), *map(_reading, heard))


def of_gateway() -> tuple[Right, ...]:
    """Return the rights of the HTTP gateway: a client's, and a look at how far all is, for admins."""
    groups = Right(kind="group", name=EVERY, operations=("Describe",))
    return (LOOK, *of_clients(), groups)


def of_log_shipper() -> tuple[Right, ...]:
    """Return the rights of the collector that reads the query log, in a group of its own."""
    group = Right(kind="group", name=f"rankstream.{catalogue.QUERY_LOG.name}", operations=("Read", "Describe"))
    return (_reading(catalogue.QUERY_LOG), group)


def of_operator() -> tuple[Right, ...]:
    """Return the rights of `rankstream topics`, `status`, `reindex`, `dlq` and `check`.

    Dead letters are read, marked, and sent back to the topics that they came from; no other record is read or written.
    """
    return (
        Right(kind="topic", name=EVERY, operations=("Create", "Describe", "DescribeConfigs", "AlterConfigs")),
        Right(kind="group", name=EVERY, operations=("Describe",)),
        *(
            Right(kind="topic", name=topic.name, operations=("Read", "Write", "Describe"))
            for topic in catalogue.DEAD_LETTERS
        ),
        *(_writing(topic) for topic in catalogue.CONSUMED if topic.name in processors.REDRIVABLE),
    )


def of_scaler() -> tuple[Right, ...]:
    """Return the rights of what counts how far groups are behind and starts processes by it; it reads no record."""
    return tuple(Right(kind=kind, name=EVERY, operations=("Describe",)) for kind in ("topic", "group"))


def of_everyone() -> dict[str, tuple[Right, ...]]:
    """Return the rights of each user by its name: a processor's and those of `OTHERS`."""
    return {
        **{processor.name: of_processor(processor) for processor in processors.ALL},
        "clients": of_clients(),
        "probe": of_clients(),  # a user of its own, so that it is seen and stopped apart
        "gateway": of_gateway(),
        "log-shipper": of_log_shipper(),
        "operator": of_operator(),
        "scaler": of_scaler(),
    }


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
