"""The generations as a process knows them: exactly one is live, and a change of that is seen in time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from streams.adapters.cached_generations import CachedGenerations, ExactGenerations
from streams.domain.generation import Generation
from streams.errors import StoreUnavailable


def generation(name: str, state: str = "live") -> Generation:
    return Generation(id=name, model="m", dimension=3, average_length=10.0, state=state)  # type: ignore[arg-type]


ALONE = (generation("g1"),)
BOTH = (generation("g1"), generation("g2", "building"))
PROMOTED = (generation("g2"), generation("g1", "kept"))


class Table:
    """What the database says, and how often it was asked."""

    def __init__(self, said: Sequence[Generation] = ALONE) -> None:
        self.said: Sequence[Generation] | Exception = said
        self.asked = 0

    async def live(self) -> Generation:
        return (await self.active())[0]

    async def active(self) -> Sequence[Generation]:
        self.asked += 1
        await asyncio.sleep(0)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


async def test_many_questions_ask_once_and_a_promotion_is_seen_as_a_whole() -> None:
    table = Table(BOTH)
    now = 0.0
    kept = CachedGenerations(table, seconds=1.0, clock=lambda: now)
    assert {each.id for each in await asyncio.gather(*(kept.live() for _ in range(20)))} == {"g1"}
    assert table.asked == 1
    table.said = PROMOTED
    assert (await kept.live(), tuple(await kept.active())) == (BOTH[0], BOTH)
    now = 1.0
    assert (await kept.live(), tuple(await kept.active())) == (PROMOTED[0], PROMOTED)
    assert table.asked == 2


async def test_the_last_answer_holds_while_the_database_is_away_and_none_is_made_up() -> None:
    table = Table()
    kept = CachedGenerations(table, seconds=0.0)
    assert (await kept.live()).id == "g1"
    table.said = StoreUnavailable("away")
    assert (await kept.live()).id == "g1"
    with pytest.raises(StoreUnavailable):
        await CachedGenerations(table).live()


async def test_whoever_must_not_be_late_asks_anew_while_there_are_two() -> None:
    table = Table(BOTH)
    exact = ExactGenerations(CachedGenerations(table, seconds=60.0), table)
    assert (await exact.live()).id == "g1"
    table.said = PROMOTED
    assert (await exact.live()).id == "g2"
    alone = Table()
    exact = ExactGenerations(CachedGenerations(alone, seconds=60.0), alone)
    for _ in range(3):
        await exact.live()
    assert alone.asked == 1
