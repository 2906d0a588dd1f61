"""What the user of a connection may do on topics and consumer groups, as the broker says.

Kafka says so with the metadata of topics from version 8 of that request on, which aiokafka does not write (KIP-430).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupAuthorizationFailedError, KafkaError, TopicAuthorizationFailedError, for_code
from aiokafka.protocol.admin import DescribeGroupsRequest_v3, DescribeGroupsResponse_v3
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Int16, Int32, Schema, String

# Kafka's numbers of operations, each a bit of what it answers.
BITS = {
    "Read": 3,
    "Write": 4,
    "Create": 5,
    "Delete": 6,
    "Alter": 7,
    "Describe": 8,
    "DescribeConfigs": 10,
    "AlterConfigs": 11,
}
NOT_SAID = -(2**31)
ATTEMPTS = 40
PAUSE = 0.25  # seconds

Operations = frozenset[str]


class _Answer(Response):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 8
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            Array(("node_id", Int32), ("host", String("utf-8")), ("port", Int32), ("rack", String("utf-8"))),
        ),
        ("cluster_id", String("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            Array(
                ("error_code", Int16),
                ("topic", String("utf-8")),
                ("is_internal", Boolean),
                (
                    "partitions",
                    Array(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", Array(Int32)),
                        ("isr", Array(Int32)),
                        ("offline_replicas", Array(Int32)),
                    ),
                ),
                ("operations", Int32),
            ),
        ),
        ("cluster_operations", Int32),
    )


class _Question(RequestStruct):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 8
    RESPONSE_TYPE = _Answer
    SCHEMA = Schema(
        ("topics", Array(String("utf-8"))),
        ("allow_auto_topic_creation", Boolean),
        ("include_cluster_authorized_operations", Boolean),
        ("include_topic_authorized_operations", Boolean),
    )


class _Metadata(Request[_Question]):  # type: ignore[misc]
    API_KEY = 3

    def __init__(self, topics: Iterable[str]) -> None:
        self._topics = list(topics)

    def build(self, request_struct_class: Any) -> Any:
        return request_struct_class(self._topics, False, False, True)


class _Group(RequestStruct):  # type: ignore[misc]
    """aiokafka's own reads the answer as that of an earlier version, which lacks the operations."""

    API_KEY = 15
    API_VERSION = 3
    RESPONSE_TYPE = DescribeGroupsResponse_v3
    SCHEMA = DescribeGroupsRequest_v3.SCHEMA


class _Describe(Request[_Group]):  # type: ignore[misc]
    API_KEY = 15

    def __init__(self, group: str) -> None:
        self._group = group

    def build(self, request_struct_class: Any) -> Any:
        return request_struct_class([self._group], True)


async def on_topics(admin: AIOKafkaAdminClient, topics: Iterable[str]) -> Mapping[str, Operations]:
    """Return what may be done on each of these topics; those that are not there, or not told of, are left out."""
    answer = await admin._send_request(_Metadata(topics))
    found: dict[str, Operations] = {}
    for code, topic, _, _, operations in answer.topics:
        if code == TopicAuthorizationFailedError.errno:
            found[topic] = frozenset()
        elif not code and operations != NOT_SAID:
            found[topic] = _named(operations)
    return found


async def on_group(admin: AIOKafkaAdminClient, group: str) -> Operations:
    """Return what may be done on a consumer group, which need not be there yet; raise KafkaError."""
    for attempt in range(ATTEMPTS):
        try:
            answer = await admin._send_request(_Describe(group), await admin.find_coordinator(group))
            code, operations = answer.groups[0][0], answer.groups[0][-1]
            if code:
                raise for_code(code)(group)
        except GroupAuthorizationFailedError:
            return frozenset()
        except KafkaError as error:
            # A new cluster makes the topic of its groups when it is first asked for one, and then reads it.
            if not error.retriable or attempt + 1 == ATTEMPTS:
                raise
            await asyncio.sleep(PAUSE)
        else:
            return _named(operations) if operations != NOT_SAID else frozenset(BITS)
    raise AssertionError


def _named(operations: int) -> Operations:
    return frozenset(name for name, bit in BITS.items() if operations & 1 << bit)
