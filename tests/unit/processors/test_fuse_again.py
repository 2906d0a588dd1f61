"""fuse where the index changes: how fresh an answer is, and when a search is made again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from schemas.queries import Expected, MinVersion
from streams.adapters import profiles
from streams.domain import reports
from streams.domain.overtaken import ROOM
from streams.domain.scope import Scope
from streams.domain.versions import LivePassage
from streams.processors import fuse, searching_again
from tests.unit.domain.questions import passage, prepared, result
from tests.unit.processors.fusing import Passages, answer, deps, question


async def test_the_lag_behind_an_asked_for_version_is_told() -> None:
    wanted = (
        MinVersion(source="help", doc_id="doc-a", version=6),
        MinVersion(source="help", doc_id="doc-a", version=2),
    )
    reply = await answer(
        deps(passage("a")), question(min_version=wanted), result("dense", "a"), result("sparse"), result("fulltext")
    )
    assert (reply.stale, reply.stale_versions) == (True, 2)


RESULTS = (result("dense", "a"), result("sparse"), result("fulltext"))


@pytest.mark.parametrize(("behind", "version", "stale"), [(0, 4, 0), (0, 99, 0), (2, 6, 2), (None, 5, 1)])
async def test_what_was_fresh_before_the_search_is_fresh_and_what_is_behind_is_not(
    behind: int | None, version: int, stale: int
) -> None:
    wanted = (MinVersion(source="help", doc_id="doc-a", version=version),)
    reply = await answer(deps(passage("a")), question(min_version=wanted, behind=behind), *RESULTS)
    assert (reply.stale, reply.stale_versions) == (stale > 0, stale)


@pytest.mark.parametrize("behind", [3, None])
async def test_what_became_searchable_during_the_search_is_searched_again_or_called_stale(behind: int | None) -> None:
    wanted = (MinVersion(source="help", doc_id="doc-a", version=4),)
    state = deps(passage("a"))
    asked = question(min_version=wanted, behind=behind)
    outputs = await asyncio.gather(*(fuse.handle(each, state) for each in (asked, *RESULTS)))
    once_more, _ = (each for output in outputs for each in output)
    assert isinstance(once_more.message, Expected)
    assert (once_more.message.again, once_more.message.behind) == (True, 0)
    again = [msgspec.structs.replace(each, ticket="0-1-again") for each in RESULTS]
    assert not (await answer(state, once_more.message, *again)).stale
    no_time: tuple[dict[str, Any], ...] = ({"seconds": 0.4}, {"searches": searching_again.MOST_SEARCHES})
    for fields in no_time:
        late = await answer(deps(passage("a")), question(min_version=wanted, behind=behind, **fields), *RESULTS)
        assert (late.stale, late.stale_versions) == (True, behind or 1)


async def test_a_document_that_is_not_known_is_behind_by_all_of_its_versions() -> None:
    wanted = (MinVersion(source="help", doc_id="unknown", version=3),)
    reply = await answer(deps(passage("a")), question(min_version=wanted), *RESULTS)
    assert (reply.stale, reply.stale_versions) == (True, 4), "versions count from 0"


async def test_a_search_that_a_flip_overtook_is_made_once_more() -> None:
    state = deps(passage("new"), pending=())
    asked = question()
    outputs = await asyncio.gather(
        *(fuse.handle(each, state) for each in (asked, result("dense", "old"), result("sparse"), result("fulltext")))
    )
    once_more, query = (each for output in outputs for each in output)
    assert (once_more.topic.name, query.topic.name) == ("leg-results", "prepared")
    assert isinstance(once_more.message, Expected)
    assert (once_more.message.again, once_more.message.query) == (True, query.message)
    assert once_more.key == query.key == b"0-1-again"
    results = [
        result(leg, *found, ticket="0-1-again") for leg, found in (("dense", ["new"]), ("sparse", []), ("fulltext", []))
    ]
    reply = await answer(state, once_more.message, *results)
    assert [each.passage_id for each in reply.passages] == ["new"]


async def test_what_was_live_and_belongs_to_a_coming_version_only_is_a_reason_to_search_again() -> None:
    """An edit that is taken back: its chunks were live, are not, and will be."""
    for leg in searching_again.FIND_LIVE:
        state = deps(passage("a"), pending=("back",))
        query = prepared(deadline=time.time() + 5, legs=("dense", leg))
        messages = (question(query=query), result("dense", "a"), result(leg, "back"))
        outputs = await asyncio.gather(*(fuse.handle(each, state) for each in messages))
        sent = [each.message for output in outputs for each in output]
        assert [type(each).__name__ for each in sent] == ["Expected", "PreparedQuery"], leg


async def test_it_is_made_again_for_each_flip_up_to_a_limit_and_not_close_to_the_deadline() -> None:
    legs = (result("dense", "old"), result("sparse"), result("fulltext"))
    state, asked = deps(pending=()), question()
    for number in range(1, searching_again.MOST_SEARCHES):
        ticket = asked.query.ticket
        of = [msgspec.structs.replace(each, ticket=ticket) for each in legs]
        outputs = await asyncio.gather(*(fuse.handle(each, state) for each in (asked, *of)))
        asked = next(each.message for output in outputs for each in output if isinstance(each.message, Expected))
        assert (asked.searches, asked.query.ticket) == (number + 1, f"{ticket}-again")
    for late in (question(searches=searching_again.MOST_SEARCHES), question(seconds=0.4)):
        reply = await answer(deps(pending=()), late, *legs)
        assert (reply.passages, reply.degraded, reply.reasons) == ((), True, (reports.OVERTAKEN,))


@pytest.mark.parametrize("leg", ["dense", "fulltext"])
async def test_what_stood_too_far_back_to_be_shown_is_no_reason_to_search_again(leg: Any) -> None:
    """Else every change of a busy source has every question searched again, and called degraded."""
    found = [f"chunk-{place:02}" for place in range(100)]
    room = ROOM * question().top_k
    for gone, again in ((found[0], True), (found[room - 1], True), (found[room], False), (found[-1], False)):
        state = deps(*(passage(each) for each in found if each != gone), pending=())
        query = prepared(deadline=time.time() + 5, legs=("sparse", leg))
        messages = (question(query=query), result(leg, *found), result("sparse"))
        outputs = await asyncio.gather(*(fuse.handle(each, state) for each in messages))
        first, *others = (each.message for output in outputs for each in output)
        assert bool(others) is again, gone
        assert again or not first.degraded


async def test_chunks_of_a_version_that_is_not_live_yet_are_no_reason_to_search_again() -> None:
    reply = await answer(
        deps(passage("a"), pending=("coming",)),
        question(),
        result("dense", "coming", "a"),
        result("sparse"),
        result("fulltext"),
    )
    assert [each.passage_id for each in reply.passages] == ["a"]


class Flipping(Passages):
    """A reader in which a document of two passages, one of them pinned, is replaced between two statements."""

    def __init__(self, *, ranked: int, pinned: int) -> None:
        other = passage("other", doc_id="other")
        super().__init__(passage("a", doc_id="page", version=ranked), other, pending=("gone",))
        self._pinned = passage("pinned", doc_id="page", version=pinned)

    async def pinned(self, scope: Scope, limit: int) -> Sequence[LivePassage]:
        return [self._pinned]


@pytest.mark.parametrize(("ranked", "pinned"), [(1, 2), (2, 1), (2, 2)])
async def test_no_reply_shows_two_versions_of_a_document(ranked: int, pinned: int) -> None:
    def state() -> fuse.Deps:
        known = Flipping(ranked=ranked, pinned=pinned)
        return fuse.Deps(passages=known, pinned=known, profiles=profiles.shipped(), clock=time.time)

    query = prepared(profile="support", agent="bot", deadline=time.time() + 5)
    hits = (result("dense", "a", "other"), result("sparse"), result("fulltext"))
    outputs = await asyncio.gather(
        *(fuse.handle(each, state) for state in [state()] for each in (question(query=query), *hits))
    )
    first = next(each for output in outputs for each in output).message
    assert isinstance(first, Expected) == (ranked != pinned), "it is searched again where there is time"

    reply = await answer(state(), question(query=query, searches=searching_again.MOST_SEARCHES), *hits)
    shown = {(each.doc_id, each.version) for each in (*reply.passages, *reply.pinned)}
    assert shown == {("page", 2), ("other", 1)}
    assert (reports.OVERTAKEN in reply.reasons, reply.degraded) == (ranked != pinned, ranked != pinned)
