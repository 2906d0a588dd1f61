"""What clients may hold of a gateway: memory, time, and what a key opens that is good no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from starlette.types import ASGIApp

from streams.adapters.memory_documents import MemoryDocuments
from streams.adapters.memory_keys import MemoryKeys
from streams.adapters.memory_state import State
from streams.domain.generation import Generation
from streams.gateways import keys, mcp_server
from streams.gateways.agent_tools import AgentTools
from streams.gateways.client import Client
from streams.gateways.http import app, bodies, bulk, memory
from streams.gateways.http.door import Door
from streams.gateways.keys import FRESH, Keys
from streams.gateways.mcp_server import McpDoor
from streams.ports import PassageReader
from streams.settings import Settings
from tests.asgi import Exchange

WAYS = {"document": ("PUT", "/v1/documents/a/b"), "question": ("POST", "/v1/query"), "agent": ("POST", "/mcp")}
LINES = ("POST", "/v1/documents")
NO_CLIENT = cast(Client, None)  # nothing that is sent here is good, so that nothing comes to be published or asked

Ask = Callable[[tuple[str, str]], Exchange]


class OneGeneration:
    """The Generations port with one that is live."""

    async def live(self) -> Generation:
        return Generation(id="g1", model="m", dimension=1, average_length=1.0)

    async def active(self) -> tuple[Generation, ...]:
        return (await self.live(),)


class Gate:
    """A gateway without servers, one key, and the time that the check of keys goes by."""

    def __init__(self, application: ASGIApp, store: MemoryKeys, key: str) -> None:
        self.application, self.store, self.key = application, store, key
        self.now = 0.0

    def __call__(self, way: tuple[str, str]) -> Exchange:
        return Exchange(self.application, *way, self.key)

    async def revoke(self) -> None:
        await self.store.revoke(self.key.split("_")[1], datetime.now(UTC))
        self.now += FRESH


@pytest.fixture
async def ask(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gate]:
    monkeypatch.setattr(app, "LINGER", 0.01)
    monkeypatch.setattr(memory, "BYTES", 1000)
    monkeypatch.setattr(memory, "PATIENCE", 0.02)
    store = MemoryKeys()
    gate: Gate
    doors = Keys(store, clock=lambda: gate.now)
    documents, generations = MemoryDocuments(State()), OneGeneration()
    tools = AgentTools(
        client=NO_CLIENT, documents=documents, passages=cast(PassageReader, None), generations=generations
    )
    door = Door(doors, rate=0.0)
    async with McpDoor(tools, lambda request: door.admit(request, "read")) as mcp:
        deps = app.Deps(
            settings=Settings(data_dir=Path(), http_rate=0.0),
            client=NO_CLIENT,
            keys=doors,
            documents=documents,
            generations=generations,
            mcp=mcp,
            unready=lambda: (),
        )
        gate = Gate(app.build(deps), store, await keys.create(store, tenant="acme", roles=["read", "write"]))
        yield gate


@pytest.mark.parametrize("holder", [*WAYS, "lines"])
@pytest.mark.parametrize("other", [*WAYS, "lines"])
async def test_bodies_of_all_requests_together_are_bounded_and_who_leaves_makes_room(
    ask: Gate, holder: str, other: str
) -> None:
    ways = {**WAYS, "lines": LINES}
    async with ask(ways[holder]) as first:
        await first.give(b"x" * 600)
        async with ask(ways[other]) as second:
            await second.give(b"x" * 600)
            status = await second.end()
            if other == "lines":
                assert [line["problem"]["status"] for line in second.lines] == [503]
            else:
                assert (status, second.headers["retry-after"]) == (503, "5"), second.body
        assert not first.ended
    async with ask(ways[other]) as again:
        await again.give(b"x" * 999, more=False)
        if other == "lines":
            await until(lambda: len(again.lines) == 1)
            assert again.lines[0]["problem"]["status"] == 400
        else:
            assert await again.end() == 400


async def test_a_body_that_waits_for_room_goes_on_when_there_is(ask: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PATIENCE", 10.0)
    async with ask(WAYS["question"]) as second:
        async with ask(WAYS["question"]) as first:
            await first.give(b"x" * 600)
            await second.give(b"x" * 600, more=False)
            assert not second.ended
        assert await second.end() == 400


async def test_lines_whose_outcome_is_there_hold_nothing(ask: Gate) -> None:
    async with ask(LINES) as sending:
        for number in range(50):
            await sending.give(b"x" * 300 + b"\n" + b" " * 100 + b"\n", more=number < 49)
        await until(lambda: len(sending.lines) == 50)
        assert {line["problem"]["status"] for line in sending.lines} == {400}


async def test_a_line_that_is_too_long_is_not_held(ask: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "DOCUMENT", 500)
    async with ask(LINES) as sending:
        for _ in range(5):
            for _ in range(4):
                await sending.give(b"x" * 300)
            await sending.give(b"\n")
        await sending.give(b"x" * 500, more=False)
        await until(lambda: len(sending.lines) == 6)
        assert [line["problem"]["status"] for line in sending.lines] == [413] * 5 + [400]


async def test_a_key_that_is_revoked_ends_a_bulk_request_in_the_middle_of_a_line_and_what_was_taken_is_told(
    ask: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "KEY", 0.005)
    async with ask(LINES) as sending:
        await sending.give(b"[]\n")
        await until(lambda: len(sending.lines) == 1)
        await asyncio.sleep(0.03)  # looked at some times, a good key stays good
        await sending.give(b"[]\n[")
        await until(lambda: len(sending.lines) == 2)
        assert not sending.ended
        await ask.revoke()
        assert await sending.end() == 200
    assert [(line["line"], line["problem"]["status"]) for line in sending.lines] == [(1, 400), (2, 400), (2, 401)]


@pytest.mark.parametrize("way", WAYS)
async def test_a_body_that_pauses_is_not_waited_for(ask: Gate, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "IDLE", 0.02)
    async with ask(WAYS[way]) as pausing:
        await pausing.give(b"{")
        assert await pausing.end() == 408


@pytest.mark.parametrize("way", WAYS)
async def test_a_body_that_trickles_is_not_waited_for(ask: Gate, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "WHOLE", 0.05)
    async with ask(WAYS[way]) as trickling:
        for _ in range(900):
            if trickling.ended:
                break
            await trickling.give(b" ")
            await asyncio.sleep(0.005)
        assert await trickling.end() == 408


@pytest.mark.parametrize("way", WAYS)
async def test_a_body_that_is_too_large_is_refused_without_a_length_too(
    ask: Gate, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, limit in ((bodies, "DOCUMENT"), (bodies, "QUESTION"), (mcp_server, "LARGEST_REQUEST")):
        monkeypatch.setattr(module, limit, 100)
    async with ask(WAYS[way]) as sending:
        await sending.give(b"x" * 101)
        assert await sending.end() == 413


async def until(check: Callable[[], bool]) -> None:
    end = asyncio.get_running_loop().time() + 10
    while not check():
        assert asyncio.get_running_loop().time() < end
        await asyncio.sleep(0.001)
