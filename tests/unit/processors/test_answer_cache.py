"""The cache of answers through `prepare`, the legs and `fuse`, on twins: quick, and never behind the documents."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from schemas.documents import Receipt
from schemas.queries import Filters, MinVersion, Turn
from schemas.replies import QueryReply
from streams.adapters import profiles
from streams.adapters.memory_chat import MemoryChat
from streams.errors import StoreUnavailable, Transient
from streams.processors import (
    answer_cache,
    publish_version,
)
from streams.processors.asking import Asker
from tests.contract.building import candidate, change, deletion, receipt
from tests.unit.processors.searching import Search


def texts(reply: QueryReply) -> set[tuple[str, int, str]]:
    assert reply.error is None
    return {(passage.passage_id, passage.version, passage.text) for passage in reply.passages}


@pytest.fixture
async def search() -> Search:
    search = await Search().open()
    await search.put(change(1, "red stone | blue stone"))
    await search.put(change(1, "green glass", doc_id="open"))
    return search


async def test_a_question_that_was_asked_before_is_answered_without_its_legs(search: Search) -> None:
    first = await search.ask(query_id="first")
    assert (first.cache, search.legs_ran, len(first.passages)) == ("miss", 1, 3)
    second = await search.ask(query_id="second", text=" stone\u200b ")
    assert (second.query_id, second.cache, search.legs_ran) == ("second", "hit", 1)
    own = {"query_id": "", "cache": "off", "milliseconds": first.milliseconds}
    assert msgspec.structs.replace(second, **own) == msgspec.structs.replace(first, **own)
    assert (second.milliseconds.legs, second.milliseconds.fuse) == (None, None)
    assert second.milliseconds.prepare is not None


async def test_a_rewritten_question_is_kept_as_what_it_was_searched_as() -> None:
    """Whoever asks the same in other words, or in one go, gets the answer, and is told what was asked of it."""
    general = profiles.shipped()["general"]
    search = Search(known={"general": msgspec.structs.replace(general, rewrite="llm")})
    search.asker = Asker(model=MemoryChat(lambda system, user: "is it stone?"))
    await search.open()
    await search.put(change(1, "a stone"))
    history = (Turn(role="user", text="what is stone"),)
    asked = [
        {"text": "and is it?", "history": history},
        {"text": "is it stone?"},
        {"text": "or is it?", "history": history},
    ]
    found = [await search.ask(**each) for each in asked]
    assert [each.cache for each in found] == ["miss", "hit", "hit"]
    assert [each.rewritten for each in found] == ["is it stone?", None, "is it stone?"]


async def test_an_answer_to_a_question_that_could_not_be_rewritten_is_not_kept() -> None:
    general = profiles.shipped()["general"]
    search = await Search(known={"general": msgspec.structs.replace(general, rewrite="llm")}).open()
    history = (Turn(role="user", text="what is stone"),)
    found = [await search.ask(text="and is it?", history=history) for _ in range(2)]
    assert [(each.cache, each.reasons) for each in found] == [("miss", ("rewrite: no language model is set",))] * 2


async def test_that_nothing_was_found_is_kept_too_until_something_changes(search: Search) -> None:
    other = {"tenant": "other"}
    assert [(await search.ask(**other)).cache for _ in range(2)] == ["miss", "hit"]
    await search.put(change(1, "a stone", tenant="other"))
    found = await search.ask(**other)
    assert (found.cache, len(found.passages)) == ("miss", 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"tenant": "other"},
        {"agent": "phone"},
        {"agent": None},
        {"top_k": 2},
        {"text": "stones and glass"},
        {"text": "Stone"},
        {"language": "de"},
        {"filters": Filters(sources=("help",))},
        {"filters": Filters(kinds=("qa",))},
    ],
)
async def test_another_question_is_searched(search: Search, fields: dict[str, Any]) -> None:
    await search.ask()
    assert (await search.ask(**fields)).cache == "miss"
    assert [(await search.ask(**each)).cache for each in ({}, fields)] == ["hit", "hit"]


@pytest.mark.parametrize(
    "fields",
    [
        {"explain": True},
        {"floor": 0.0},
        {"min_version": (MinVersion(source="help", doc_id="open", version=1),)},
        {"cache": False},
    ],
)
async def test_some_questions_are_neither_answered_from_the_cache_nor_kept(
    search: Search, fields: dict[str, Any]
) -> None:
    assert (await search.ask(**fields)).cache == "off"
    assert (await search.ask()).cache == "miss"
    again = await search.ask(**fields)
    assert (again.cache, search.legs_ran) == ("off", 3)


async def test_a_profile_may_keep_nothing() -> None:
    general = msgspec.structs.replace(profiles.shipped()["general"], cache_seconds=0)
    search = await Search(known={"general": general}).open()
    assert [(await search.ask()).cache for _ in range(2)] == ["off", "off"]


async def test_what_is_kept_is_kept_for_the_time_of_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    general = msgspec.structs.replace(profiles.shipped()["general"], cache_seconds=17)
    search = await Search(known={"general": general}).open()
    kept: list[int] = []

    async def put(key: str, value: bytes, seconds: int) -> None:
        kept.append(seconds)

    monkeypatch.setattr(search.stores.answers, "put", put)
    await search.ask()
    assert kept == [17]


async def test_an_answer_that_lacks_a_leg_is_not_kept(search: Search) -> None:
    found = await search.prepared()
    assert not isinstance(found, QueryReply)
    expected, query = found
    results = [msgspec.structs.replace(each, status="error", hits=()) for each in await search.legs(query)]
    reply = await search.fused(expected, results)
    assert (reply.degraded, reply.cache) == (True, "miss")
    assert (await search.ask()).cache == "miss"


async def test_an_answer_from_which_hits_were_dropped_is_not_kept(search: Search) -> None:
    pending = change(2, "grey stone")
    for step in search.steps(pending)[:3]:  # its vectors are written, and it is not live
        await step()
    assert [(await search.ask()).cache for _ in range(2)] == ["miss", "miss"]
    await search.put(pending)
    assert [(await search.ask()).cache for _ in range(2)] == ["miss", "hit"]


async def test_a_huge_answer_is_not_kept(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache, "LARGEST", 100)
    assert [(await search.ask()).cache for _ in range(2)] == ["miss", "miss"]


class Fails:
    """A port whose every call raises."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, _: str) -> Callable[..., Awaitable[Any]]:
        async def call(*_: object) -> Any:
            raise self._error

        return call


class Hangs:
    """A port that never answers."""

    def __getattr__(self, _: str) -> Callable[..., Awaitable[Any]]:
        async def call(*_: object) -> Any:
            await asyncio.sleep(60)

        return call


@pytest.mark.parametrize("part", ["answers", "epochs"])
@pytest.mark.parametrize("broken", [Fails(Transient("away")), Fails(StoreUnavailable("away")), Hangs()])
async def test_without_the_cache_questions_are_searched_and_it_is_logged_once(
    part: str, broken: Any, caplog: pytest.LogCaptureFixture
) -> None:
    search = Search()
    setattr(search, part, broken)
    await search.open()
    await search.put(change(1, "red stone"))
    begun = time.monotonic()
    with caplog.at_level(logging.WARNING):
        replies = [await search.ask(deadline=time.time() + 1.0) for _ in range(3)]
    assert time.monotonic() - begun < 2.0
    assert [(reply.cache, len(reply.passages)) for reply in replies] == [("off", 1)] * 3
    assert len([each for each in caplog.messages if "without kept answers" in each]) == 1


@pytest.mark.parametrize("broken", [Fails(StoreUnavailable("away")), Hangs()])
async def test_an_answer_that_cannot_be_checked_is_searched(broken: Any) -> None:
    search = Search()
    search.passages = broken
    await search.open()
    await search.put(change(1, "red stone"))
    assert [(await search.ask(deadline=time.time() + 1.0)).cache for _ in range(2)] == ["miss", "miss"]


async def test_a_kept_answer_passes_the_fence_whatever_the_epoch_says(search: Search) -> None:
    """An epoch that did not move, and a deletion: the answer is made anew, without what was deleted."""
    first = await search.ask()
    epoch = search.stores.state.epochs["acme"]
    await search.stores.versions.accept(candidate(deletion(2, doc_id="open")))
    search.stores.state.epochs["acme"] = epoch
    second = await search.ask()
    assert (second.cache, len(first.passages) - len(second.passages)) == ("miss", 1)


class Hooked:
    """Vectors, with something done before they are rewritten."""

    def __init__(self, vectors: Any, hook: Callable[[], Awaitable[object]]) -> None:
        self._vectors = vectors
        self._hook = hook

    async def rewrite(self, *given: Any) -> None:
        await self._hook()
        await self._vectors.rewrite(*given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._vectors, name)


async def test_what_was_asked_before_the_vectors_are_filtered_anew_is_not_kept_beyond_it(search: Search) -> None:
    await search.put(change(1, "violet paper", doc_id="hidden", agents=("bot",)))
    shown = change(2, "violet paper", doc_id="hidden")
    *before, _ = search.steps(shown)
    for step in before:
        await step()
    wanted = {"text": "zeppelin"}  # shares no word with it: only the dense leg finds it
    between: list[QueryReply] = []

    async def ask() -> None:
        between.append(await search.ask(**wanted))

    hooked = Hooked(search.stores.vectors, ask)
    deps = publish_version.Deps(versions=search.stores.versions, vectors=hooked, epochs=search.stores.epochs)
    last: Receipt = receipt(shown, "vectors")
    await publish_version.handle(last, deps)
    after = await search.ask(**wanted)
    assert len(after.passages) == len(between[0].passages) + 1


CHANGES = {
    "a new document": change(1, "white stone", doc_id="new"),
    "a new text": change(2, "blue stone | black stone"),
    "a document without text": change(2, ""),
    "a deletion": deletion(2),
    "more agents": change(2, "violet paper", doc_id="hidden"),
    "fewer agents": change(2, "yellow paper", doc_id="shown", agents=("bot",)),
    "other tags": change(2, "yellow paper", doc_id="shown", tags=("new",)),
}


@pytest.mark.parametrize("text", ["stone", "zeppelin"])
@pytest.mark.parametrize("name", CHANGES)
async def test_no_order_of_a_change_and_a_question_lets_an_old_answer_be_given_later(name: str, text: str) -> None:
    """A change goes its way in steps; before each, a question may be prepared, searched for, or fused and kept.

    Whoever asks the same afterwards, at any moment, gets what a search at that moment gives.
    """
    of = CHANGES[name]
    asked = {"text": text, "filters": Filters(tags=("new",)) if name == "other tags" else Filters()}
    count = len((await Search().open()).steps(of))
    hits = 0
    for places in itertools.combinations_with_replacement(range(count + 1), 3):
        search = await Search().open()
        await search.put(change(1, "red stone | blue stone"))
        await search.put(change(1, "yellow paper", doc_id="shown"))
        await search.put(change(1, "violet paper", doc_id="hidden", agents=("bot",)))
        steps = search.steps(of)
        found: Any = None
        results: Any = None
        for place in range(count + 1):
            if place == places[0]:
                found = await search.prepared(**asked)
            if place == places[1]:
                results = await search.legs(found[1])
            if place == places[2]:
                await search.fused(found[0], results)
            if place >= places[2]:
                given, fresh = await search.ask(**asked), await search.ask(**asked, cache=False)
                assert texts(given) == texts(fresh), (places, place, given.cache)
                hits += given.cache == "hit"
            if place < count:
                await steps[place]()
    assert hits > 0
