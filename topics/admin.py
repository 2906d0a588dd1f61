"""Brings a broker's topics in line with the catalogue, or says how they differ.

AdminError
├── BrokerUnreachable   no broker answers where KAFKA_BOOTSTRAP_SERVERS says
│   └── BrokerRefuses   there is one, and it refuses us, or what is set is no address
└── TopicRefused        the broker will not create or describe a topic
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    IncompatibleBrokerVersion,
    KafkaConnectionError,
    KafkaError,
    TopicAlreadyExistsError,
    for_code,
)

from topics.catalogue import ALL, REPLY_TOPICS
from topics.connection import Kafka, client_settings, of
from topics.refusals import why_not
from topics.table import render_table
from topics.topic import Topic

__all__ = [
    "AdminError",
    "BrokerRefuses",
    "BrokerUnreachable",
    "Change",
    "Difference",
    "TopicRefused",
    "apply",
    "check",
    "render_table",
]

CONNECT_SECONDS = 5.0
REQUEST_SECONDS = 30.0
LEADER_SECONDS = 30.0

_SET_ON_TOPIC = 1  # DescribeConfigs' source of a value that was set on the topic, not inherited
_POLL_SECONDS = 0.1


class AdminError(Exception):
    """Topics cannot be administered."""


class BrokerUnreachable(AdminError):
    """No broker answers where KAFKA_BOOTSTRAP_SERVERS says."""


class BrokerRefuses(BrokerUnreachable):
    """A broker answers and refuses us, or KAFKA_BOOTSTRAP_SERVERS is no address: a setting must be changed."""


class TopicRefused(AdminError):
    """The broker will not create or describe a topic."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One way in which the broker's topic is not the catalogue's; `setting` is Kafka's name of it."""

    topic: str
    kind: Literal["missing", "partitions", "config"]
    wanted: str
    found: str | None = None
    setting: str | None = None

    def __str__(self) -> str:
        if self.kind == "missing":
            return f"{self.topic}: missing, wanted with {self.wanted} partitions"
        return f"{self.topic}: {self.setting or self.kind} is {self.found}, wanted {self.wanted}"


@dataclass(frozen=True, kw_only=True)
class Change:
    """What `apply` did about one topic: created it, set some of its configuration, or left a difference, and why."""

    topic: str
    action: Literal["created", "configured", "left"]
    detail: str

    def __str__(self) -> str:
        return f"{self.topic}: {self.action}, {self.detail}"


@dataclass(frozen=True, kw_only=True)
class _Found:
    """A topic as the broker has it; `own` is what was set on it, without the inherited settings."""

    partitions: int
    led: bool
    config: Mapping[str, str]
    own: Mapping[str, str]


async def check(
    kafka: Kafka,
    topics: Sequence[Topic] = ALL,
    *,
    partitions: int | None = None,
) -> list[Difference]:
    """Return how the topics at `kafka` differ from `topics`, empty if they do not; otherwise as `apply`."""
    async with _connect(kafka) as admin:
        return _compare(topics, await _describe(admin, topics), partitions)


async def apply(
    kafka: Kafka,
    topics: Sequence[Topic] = ALL,
    *,
    replication: int = 1,
    partitions: int | None = None,
) -> list[Change]:
    """Create the topics that are missing and set configuration that differs; running it again changes nothing.

    `partitions` replaces the catalogue's counts, but for reply topics, whose count bounds the clients. A partition
    count that differs is reported as left: more partitions would move keys and break the order per document. A broker
    that cannot change configuration leaves it, too. Returns when every topic has its leaders.

    Raises BrokerUnreachable (within 5 s when nothing answers) and TopicRefused.
    """
    async with _connect(kafka) as admin:
        found = await _describe(admin, topics)
        missing = [topic for topic in topics if topic.name not in found]
        changes = await _create(admin, missing, replication, partitions)
        for topic in topics:
            differences = _compare([topic], found, partitions)
            for count in (d for d in differences if d.kind == "partitions"):
                detail = f"{count.found} partitions, not {count.wanted}"
                changes.append(Change(topic=topic.name, action="left", detail=detail))
            if settings := [d for d in differences if d.kind == "config"]:
                changes.append(await _configure(admin, topic, settings, found[topic.name]))
        await _until_led(admin, missing)
    return changes


@asynccontextmanager
async def _connect(kafka: Kafka) -> AsyncIterator[AIOKafkaAdminClient]:
    bootstrap = of(kafka).bootstrap
    unreachable = f"no Kafka broker answers at {bootstrap}; is it running, and is KAFKA_BOOTSTRAP_SERVERS right?"
    admin = AIOKafkaAdminClient(**client_settings(kafka), request_timeout_ms=int(REQUEST_SECONDS * 1000))
    try:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await admin.start()
        except (ValueError, OverflowError) as error:
            raise BrokerRefuses(f"KAFKA_BOOTSTRAP_SERVERS is {bootstrap!r}: write host:port[,host:port]") from error
        yield admin
    except (KafkaConnectionError, TimeoutError) as error:
        why = None if isinstance(error, TimeoutError) else await why_not(kafka)
        raise (BrokerRefuses(why) if why else BrokerUnreachable(unreachable)) from error
    except KafkaError as error:
        raise AdminError(f"the Kafka broker at {bootstrap} answers with an error: {error}") from error
    finally:
        await admin.close()


async def _describe(admin: AIOKafkaAdminClient, topics: Sequence[Topic]) -> dict[str, _Found]:
    """Return those of `topics` that exist, by name."""
    # All topics are listed, since asking Tansu for a name creates it.
    listed = {topic["topic"]: topic for topic in await admin.describe_topics()}
    found = {}
    for name in (topic.name for topic in topics if topic.name in listed):
        # One topic a request, all its settings: Tansu hangs up on anything else.
        [answer] = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name)])
        [(code, message, _, _, entries)] = answer.resources
        if code:
            raise TopicRefused(f"{name} cannot be described: {_reason(code, message)}")
        config = {entry[0]: (entry[1], entry[3]) for entry in entries}
        parts = listed[name]["partitions"]
        found[name] = _Found(
            partitions=len(parts),
            led=all(part["leader"] >= 0 for part in parts),
            config={setting: value for setting, (value, _) in config.items()},
            own={setting: value for setting, (value, source) in config.items() if source == _SET_ON_TOPIC},
        )
    return found


def _compare(topics: Sequence[Topic], found: Mapping[str, _Found], partitions: int | None) -> list[Difference]:
    differences = []
    for topic in topics:
        count = _partitions(topic, partitions)
        there = found.get(topic.name)
        if there is None:
            differences.append(Difference(topic=topic.name, kind="missing", wanted=str(count)))
            continue
        if there.partitions != count:
            differences.append(
                Difference(topic=topic.name, kind="partitions", wanted=str(count), found=str(there.partitions))
            )
        differences += [
            Difference(topic=topic.name, kind="config", setting=name, wanted=wanted, found=there.config.get(name))
            for name, wanted in topic.config.items()
            if there.config.get(name) != wanted
        ]
    return differences


async def _create(
    admin: AIOKafkaAdminClient, missing: Sequence[Topic], replication: int, partitions: int | None
) -> list[Change]:
    if not missing:
        return []
    wanted = [
        NewTopic(topic.name, _partitions(topic, partitions), replication, topic_configs=dict(topic.config))
        for topic in missing
    ]
    answer = await admin.create_topics(wanted)
    codes = {name: (code, message) for name, code, message in answer.topic_errors}
    changes = []
    for topic in missing:
        code, message = codes[topic.name]
        if code == TopicAlreadyExistsError.errno:
            continue  # somebody else was faster
        if code:
            raise TopicRefused(f"{topic.name} cannot be created: {_reason(code, message)}")
        changes.append(
            Change(topic=topic.name, action="created", detail=f"{_partitions(topic, partitions)} partitions")
        )
    return changes


async def _configure(
    admin: AIOKafkaAdminClient, topic: Topic, differences: Sequence[Difference], found: _Found
) -> Change:
    words = ", ".join(f"{d.setting} {d.found} -> {d.wanted}" for d in differences)
    # The request replaces all of a topic's own settings, so that those of others must be repeated.
    config = {**found.own, **topic.config}
    try:
        [answer] = await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic.name, config)])
    except IncompatibleBrokerVersion:
        return Change(topic=topic.name, action="left", detail=f"this broker changes no configuration: {words}")
    [(code, message, *_)] = answer.resources
    if code:
        return Change(topic=topic.name, action="left", detail=f"{_reason(code, message)}: {words}")
    return Change(topic=topic.name, action="configured", detail=words)


async def _until_led(admin: AIOKafkaAdminClient, topics: Sequence[Topic]) -> None:
    """Wait until new topics can be written to: the broker creates them before their partitions have leaders."""
    for _ in range(round(LEADER_SECONDS / _POLL_SECONDS)):
        found = await _describe(admin, topics)
        topics = [topic for topic in topics if topic.name not in found or not found[topic.name].led]
        if not topics:
            return
        await asyncio.sleep(_POLL_SECONDS)
    raise TopicRefused(f"no leaders after {LEADER_SECONDS:.0f} s: {', '.join(topic.name for topic in topics)}")


def _partitions(topic: Topic, override: int | None) -> int:
    name = topic.name.removesuffix(".dlq")
    return topic.partitions if override is None or name in REPLY_TOPICS else override


def _reason(code: int, message: str | None) -> str:
    return message or str(for_code(code).__name__)
