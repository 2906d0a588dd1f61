"""What a worker says of itself, and what is wrong with it: progress is watched, since a dead consumer logs nothing."""

from __future__ import annotations

from dataclasses import dataclass

REBALANCE = 60.0  # seconds a rebalance may take; twice the longest that two quick ones took under load
COORDINATOR = 120.0  # seconds without a group coordinator: longer than a broker's restart
NO_PROGRESS = 60.0  # seconds in which nothing comes although there is something to read
ATTEMPTS = 6  # so many time limits may pass until the oldest record in flight is done or dead-lettered


@dataclass(frozen=True, kw_only=True)
class Vitals:
    """A worker at one moment; times in seconds, None where there is nothing to time."""

    processor: str
    failed: str | None = None  # why it cannot go on
    stopping: bool = False
    joined: bool = False  # it was given partitions once, maybe none
    moving: float | None = None  # since its partitions were taken, and it was given none yet
    leaderless: float | None = None  # since the group has no coordinator
    unread: float | None = None  # since there is something to read, nothing comes and nothing is in flight
    unbegun: float | None = None  # since records were handed over, and none is in work
    oldest: float | None = None  # the age of the oldest record in flight that waits for no store or model
    waiting: float | None = None  # the age of the oldest record that waits for a store or a model
    in_flight: int = 0
    time_limit: float = 60.0  # an attempt's


def stuck(vitals: Vitals) -> tuple[str, ...]:
    """Return what only a restart can mend; a store that is away is nothing of the kind."""
    found = []
    if vitals.failed is not None:
        found.append(f"cannot go on: {vitals.failed}")
    if _over(vitals.moving, REBALANCE):
        found.append(f"rebalancing for {vitals.moving:.0f} s")
    if _over(vitals.leaderless, COORDINATOR):
        found.append(f"no group coordinator for {vitals.leaderless:.0f} s")
    if _over(vitals.unread, NO_PROGRESS):
        found.append(f"there are records to read, and none came for {vitals.unread:.0f} s")
    if _over(vitals.unbegun, NO_PROGRESS):
        found.append(f"records were handed over, and none is in work for {vitals.unbegun:.0f} s")
    if _over(vitals.oldest, ATTEMPTS * vitals.time_limit):
        found.append(f"a record is in work for {vitals.oldest:.0f} s")
    return tuple(found)


def unready(vitals: Vitals) -> tuple[str, ...]:
    """Return why no traffic should count on a worker now."""
    found = list(stuck(vitals))
    if vitals.stopping:
        found.append("stopping")
    if not vitals.joined:
        found.append("not yet in its group")
    elif vitals.moving is not None and vitals.moving <= REBALANCE:
        found.append("rebalancing")
    if vitals.waiting is not None:
        found.append(f"waiting for a store or a model for {vitals.waiting:.0f} s")
    return tuple(found)


def _over(value: float | None, limit: float) -> bool:
    return value is not None and value > limit
