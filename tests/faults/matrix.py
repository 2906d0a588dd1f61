"""The rows of the matrix."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.faults import breaking, inputs, operating
from tests.faults.system import TAKEOVER, System

CUT = (1, 8, 10, 12)  # what the short run has: what holds on a machine that is busy with other things, too


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One row."""

    number: int
    title: str
    run: Callable[[System, random.Random, bool], Awaitable[None]]
    takeover_bound: float | None = None
    redelivers: bool = False  # records that were not yet acknowledged come again
    warm_up: float = 3.0  # seconds of load before it
    seconds: float = 240.0  # at most
    faultless: bool = False  # it makes no fault, for comparison


ALL: tuple[Scenario, ...] = (
    Scenario(number=0, title="nothing breaks", run=operating.nothing, faultless=True),
    Scenario(
        number=1,
        title="kill -9 each in turn, then all at once",
        run=breaking.crashes,
        takeover_bound=TAKEOVER,
        redelivers=True,
    ),
    Scenario(number=2, title="rolling restart, old and new messages", run=operating.rolling, redelivers=True),
    Scenario(number=3, title="rebalance storm", run=breaking.storm, redelivers=True),
    Scenario(number=4, title="SIGSTOP two sessions, SIGCONT", run=breaking.zombie, redelivers=True),
    Scenario(number=5, title="broker down 10 s", run=operating.broker_down, redelivers=True),
    Scenario(number=6, title="stores: reset, black hole, FLUSHALL", run=breaking.stores_break),
    Scenario(number=7, title="one leg 5 s slow, then 300 ms", run=breaking.slow_leg),
    Scenario(number=8, title="poison of every class", run=inputs.poison),
    Scenario(number=9, title="malformed inputs by the thousand", run=inputs.flood, warm_up=10.0),
    Scenario(number=10, title="duplicated and shuffled events", run=inputs.disorder),
    Scenario(number=11, title="duplicate queries, a dead reply client", run=inputs.repeats),
    Scenario(number=12, title="produce failure, broker SIGSTOP 20 s", run=inputs.unproducible, redelivers=True),
    Scenario(number=13, title="5 × overload", run=operating.overload),
    Scenario(number=14, title="a handler that never returns, SIGTERM", run=operating.hanging, redelivers=True),
    Scenario(number=15, title="seeded soak of all", run=operating.soak, redelivers=True),
)
