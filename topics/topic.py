"""The Topic value type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from schemas.base import Message

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
LARGEST_RECORD = 8 * 1024 * 1024  # bytes; more than the largest document a source may send, so that it is refused by us

DEAD_LETTER_HEADERS = 65_536  # bytes; a record of the largest size must still fit with what is said about it

Cleanup = Literal["delete", "compact"]


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A topic: what travels on it, how it is keyed, cut and kept."""

    name: str
    carries: tuple[type[Message], ...]
    key: str  # in words, for people
    partitions: int
    cleanup: Cleanup = "delete"
    retention_ms: int = 7 * DAY
    segment_ms: int | None = None
    largest_record: int = 1024 * 1024
    stamped: Literal["sender", "broker"] = "sender"  # whose clock a record's time is of
    summary: str = ""

    @property
    def config(self) -> Mapping[str, str]:
        """The topic's settings, by Kafka's names."""
        config = {"cleanup.policy": self.cleanup, "max.message.bytes": str(self.largest_record)}
        if self.cleanup == "delete":
            config["retention.ms"] = str(self.retention_ms)
        if self.segment_ms is not None:
            config["segment.ms"] = str(self.segment_ms)
        if self.stamped == "broker":
            config["message.timestamp.type"] = "LogAppendTime"
        return config

    @property
    def dead_letters(self) -> Topic:
        """The topic that holds this one's dead letters: same partitions, the bytes as they came."""
        return Topic(
            name=f"{self.name}.dlq",
            carries=self.carries,
            key=self.key,
            partitions=self.partitions,
            retention_ms=30 * DAY,
            largest_record=self.largest_record + DEAD_LETTER_HEADERS,
            summary=f"dead letters of `{self.name}`, bytes and key unchanged",
        )
