"""Ordered acknowledgement: only the finished prefix of a partition is ever acknowledged.

Acknowledging out of order would commit past unfinished records, and a crash would lose them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(eq=False)
class Ticket:
    """A record in flight."""

    partition: tuple[str, int]
    ack: Callable[[], None]
    epoch: int
    done: bool = False


class OrderedAcks:
    """The records in flight, per partition, for the current assignment of the consumer group."""

    def __init__(self) -> None:
        self._epoch = 0
        self._partitions: dict[tuple[str, int], deque[Ticket]] = {}

    def start(self, topic: str, partition: int, ack: Callable[[], None]) -> Ticket:
        """Note a record whose work begins; records of a partition must be started in offset order."""
        ticket = Ticket(partition=(topic, partition), ack=ack, epoch=self._epoch)
        self._partitions.setdefault(ticket.partition, deque()).append(ticket)
        return ticket

    def finish(self, ticket: Ticket) -> None:
        """Note that a record's work is done, and acknowledge what is now a finished prefix."""
        ticket.done = True
        if ticket.epoch != self._epoch:
            return  # another member may own the partition now; the record comes again there
        waiting = self._partitions[ticket.partition]
        while waiting and waiting[0].done:
            waiting.popleft().ack()

    def drop_all(self) -> None:
        """Forget everything in flight: the group was rebalanced."""
        self._epoch += 1
        self._partitions.clear()

    @property
    def epoch(self) -> int:
        """Changes whenever everything in flight is forgotten."""
        return self._epoch

    @property
    def in_flight(self) -> int:
        """The number of records not yet acknowledged."""
        return sum(len(waiting) for waiting in self._partitions.values())
