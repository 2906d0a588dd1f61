"""In one process the bulk lane gives way to questions and edits, and is never stuck."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

from streams.precedence import Precedence
from streams.processor import Handler
from streams.processors import catalogue
from streams.wire import Outgoing


class Works:
    """Handlers that note when they begin and end."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def lasting(self, name: str, seconds: float) -> Handler:
        async def handle(message: Any, deps: Any) -> Sequence[Outgoing]:
            self.log.append(f"{name} begins")
            await asyncio.sleep(seconds)
            self.log.append(f"{name} ends")
            return ()

        return handle


async def test_bulk_work_begins_when_questions_and_edits_have_ended() -> None:
    works, precedence = Works(), Precedence(quiet=0.02, most_wait=60.0)
    question = precedence.first(works.lasting("question", 0.05))
    edit = precedence.first(works.lasting("edit", 0.1))
    bulk = precedence.after(works.lasting("bulk", 0.0))
    await asyncio.gather(question(None, None), edit(None, None), bulk(None, None))
    assert works.log == ["question begins", "edit begins", "question ends", "edit ends", "bulk begins", "bulk ends"]


async def test_it_does_not_slip_in_while_a_question_is_between_two_processors() -> None:
    works, precedence = Works(), Precedence(quiet=0.2, most_wait=60.0)
    leg = precedence.first(works.lasting("leg", 0.02))
    bulk = precedence.after(works.lasting("bulk", 0.0))

    async def question() -> None:
        for _ in range(3):
            await leg(None, None)
            await asyncio.sleep(0.01)

    asking = asyncio.create_task(question())
    await asyncio.sleep(0)
    await bulk(None, None)
    await asking
    assert works.log == ["leg begins", "leg ends"] * 3 + ["bulk begins", "bulk ends"]


async def test_constant_load_slows_it_and_does_not_stop_it() -> None:
    works, precedence = Works(), Precedence(quiet=0.01, most_wait=0.05)
    busy = asyncio.create_task(precedence.first(works.lasting("question", 60.0))(None, None))
    await asyncio.sleep(0)
    bulk = precedence.after(works.lasting("bulk", 0.0))
    for _ in range(3):
        await asyncio.wait_for(bulk(None, None), 5.0)
    assert works.log.count("bulk ends") == 3
    busy.cancel()


async def test_two_records_of_the_bulk_lane_are_begun_beside_each_other_and_a_third_when_one_has_ended() -> None:
    works, precedence = Works(), Precedence(most_wait=60.0)
    bulk = precedence.after(works.lasting("bulk", 0.02))
    await asyncio.gather(*(bulk(None, None) for _ in range(4)))
    open_now = list(itertools.accumulate(1 if each == "bulk begins" else -1 for each in works.log))
    assert (max(open_now), open_now[-1], len(open_now)) == (2, 0, 8)


async def test_one_that_takes_for_ever_does_not_keep_the_others_from_beginning() -> None:
    works, precedence = Works(), Precedence(most_wait=0.05)
    endless = [asyncio.create_task(precedence.after(works.lasting("model", 60.0))(None, None)) for _ in range(5)]
    await asyncio.wait_for(precedence.after(works.lasting("bulk", 0.0))(None, None), 5.0)
    for task in endless:
        task.cancel()
    await asyncio.gather(*endless, return_exceptions=True)
    assert precedence._slots._value == 2


async def test_while_nothing_else_goes_on_it_does_not_wait() -> None:
    works, precedence = Works(), Precedence(quiet=60.0, most_wait=60.0)
    await asyncio.wait_for(precedence.after(works.lasting("bulk", 0.0))(None, None), 5.0)


async def test_work_that_fails_or_is_cancelled_is_over_as_well() -> None:
    works, precedence = Works(), Precedence(quiet=0.0, most_wait=60.0)

    async def failing(message: Any, deps: Any) -> Sequence[Outgoing]:
        raise ValueError

    await asyncio.gather(precedence.first(failing)(None, None), return_exceptions=True)
    cancelled = asyncio.create_task(precedence.first(works.lasting("question", 60.0))(None, None))
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    await asyncio.wait_for(precedence.after(works.lasting("bulk", 0.0))(None, None), 5.0)


def changed(*names: str) -> set[str]:
    """Return which of the processors of these names mind the precedence when they share a process."""
    given = [each for each in catalogue.ALL if each.name in names]
    return {new.name for old, new in zip(given, Precedence().of(given), strict=True) if old.handle is not new.handle}


async def test_questions_and_live_lanes_go_first_and_what_both_lanes_share_is_neither() -> None:
    everything = [each.name for each in catalogue.ALL]
    shared = {"index-vectors", "index-graph", "publish-version", "log-questions", "log-replies"}
    assert changed(*everything) == set(everything) - shared


async def test_a_processor_that_shares_its_process_with_none_of_the_other_kind_is_as_it_is() -> None:
    assert changed("embed-bulk", "chunk-bulk", "index-vectors") == set()
    assert changed("embed", "prepare", "index-vectors") == set()
    assert changed("embed-bulk", "prepare") == {"embed-bulk", "prepare"}
