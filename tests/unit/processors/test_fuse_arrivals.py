"""fuse under random arrival, loss and repeat: one answer, from the first result of each leg, whatever comes when."""

from __future__ import annotations

import asyncio
import dataclasses
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.queries import Leg
from schemas.replies import QueryReply
from streams.adapters import profiles
from streams.processors import fuse
from streams.wire import Outgoing
from tests.unit.domain.questions import expected, passage, prepared, result
from tests.unit.processors.fusing import Passages

LEGS: tuple[Leg, ...] = ("dense", "sparse", "fulltext")
PATIENCE = 0.25  # seconds


async def answers(arrivals: list[int]) -> list[QueryReply]:
    """Feed the question (0) and the results of its legs (1 to 3) in this order; return every reply."""
    now = time.time()
    question = expected(query=prepared(deadline=now + PATIENCE), received=now, prepared=now)
    records = [question, *(result(leg, f"of-{leg}") for leg in LEGS)]
    passages = Passages(*(passage(f"of-{leg}") for leg in LEGS))
    deps = fuse.Deps(passages=passages, pinned=passages, profiles=profiles.shipped(), clock=time.time)
    deps = dataclasses.replace(deps, joins={})
    outputs: list[list[Outgoing]] = []

    async def feed(number: int) -> None:
        outputs.append(list(await fuse.handle(records[number], deps)))

    tasks = []
    for number in arrivals:
        tasks.append(asyncio.create_task(feed(number)))
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    return [each.message for output in outputs for each in output if isinstance(each.message, QueryReply)]


@settings(max_examples=40, deadline=None, database=None)
@given(st.lists(st.integers(0, 3), max_size=10))
def test_a_question_has_one_answer_and_flags_the_legs_that_are_missing_when_it_is_given(arrivals: list[int]) -> None:
    replies = asyncio.run(answers(arrivals))
    if 0 not in arrivals:
        assert replies == []
        return
    (reply,) = replies
    silent = {leg for leg, report in reply.legs.items() if report.status == "timeout"}
    assert silent == {leg for number, leg in enumerate(LEGS, start=1) if number not in arrivals}
    assert reply.degraded == bool(silent)
