"""Ordered acknowledgement: only the finished prefix of a partition is ever committed.

Committing out of order would pass over unfinished records, and a crash would lose them. A record counts from the moment
the client library hands it over: whatever becomes of it on the way to its handler, nothing is committed past it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

TopicPartition = tuple[str, int]


class Skipped(Exception):
    """A record reached its handler, and one before it in the partition did not."""


@dataclass(eq=False, slots=True)
class Ticket:
    """A record in flight."""

    partition: TopicPartition
    offset: int
    epoch: int
    done: bool = False


@dataclass(eq=False, slots=True)
class _Partition:
    unfinished: deque[Ticket] = field(default_factory=deque)  # handed over, in offset order
    waiting: deque[Ticket] = field(default_factory=deque)  # of these, not begun
    position: int | None = None  # the offset to commit; None: nothing finished yet
    saved: int | None = None  # the offset last committed


class OrderedAcks:
    """The records in flight, per partition, of one epoch: the time from one seek to committed offsets to the next."""

    def __init__(self) -> None:
        self._epoch = 0
        self._partitions: dict[TopicPartition, _Partition] = {}

    @property
    def epoch(self) -> int:
        """Changes whenever everything in flight is forgotten."""
        return self._epoch

    @property
    def in_flight(self) -> int:
        """The number of records handed over and not yet acknowledged."""
        return sum(len(partition.unfinished) for partition in self._partitions.values())

    def start(self, epoch: int) -> bool:
        """Forget everything in flight, if this epoch is a later one: its records come again to whoever has them now."""
        if epoch <= self._epoch:
            return False
        self._epoch = epoch
        self._partitions.clear()
        return True

    def receive(self, topic: str, partition: int, offset: int) -> None:
        """Note a record that was handed over in this epoch; a partition's records come in offset order."""
        ticket = Ticket(partition=(topic, partition), offset=offset, epoch=self._epoch)
        held = self._partitions.setdefault(ticket.partition, _Partition())
        held.unfinished.append(ticket)
        held.waiting.append(ticket)

    def begin(self, topic: str, partition: int, offset: int, epoch: int) -> Ticket | None:
        """Return the ticket of a record whose work begins, None for one of an earlier epoch; raise Skipped."""
        if epoch != self._epoch:
            return None
        held = self._partitions.get((topic, partition))
        first = held.waiting[0].offset if held is not None and held.waiting else None
        if held is None or first != offset:
            raise Skipped(f"{topic}[{partition}]@{offset} came where @{first} was to come")
        return held.waiting.popleft()

    def finish(self, ticket: Ticket) -> None:
        """Note that a record's work is done."""
        ticket.done = True
        if ticket.epoch != self._epoch:
            return  # another member may own the partition now; the record comes again there
        held = self._partitions[ticket.partition]
        while held.unfinished and held.unfinished[0].done:
            held.position = held.unfinished.popleft().offset + 1

    def unsaved(self) -> dict[TopicPartition, int]:
        """Return the offsets to commit: one past each finished prefix that grew since it was last committed."""
        return {
            partition: held.position
            for partition, held in self._partitions.items()
            if held.position is not None and held.position != held.saved
        }

    def save(self, epoch: int, positions: Mapping[TopicPartition, int]) -> None:
        """Note what was committed of `unsaved`."""
        if epoch != self._epoch:
            return
        for partition, position in positions.items():
            self._partitions[partition].saved = position
