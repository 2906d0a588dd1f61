"""Whatever tenants do, in whatever order and through whichever door: nobody is told anything of another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.doors import DOORS
from tests.pipeline import Pipeline
from tests.tenants import DOCS, Ask, Door, Edit, Said, Step, World, steps

QUESTION = Ask(
    tenant=0,
    of=0,
    text="What does the Harbour Gateway ask for?",
    agent=None,
    profile="general",
    explain=True,
    filters={},
)


@pytest.fixture(scope="module", params=DOORS)
async def door(request: pytest.FixtureRequest, pipeline: Pipeline) -> AsyncIterator[Door]:
    async with DOORS[request.param](pipeline) as opened:
        yield opened


async def act(world: World, door: Door, step: Step) -> None:
    """Do one thing, and look at all that comes back."""
    if isinstance(step, Edit):
        # Versions reach the log in their order: one that came too late would be refused.
        async with world.editing[step.tenant, step.doc_id]:
            status = await door.publish(world.change(step))
        assert status is not None
        assert status.status in ("searchable", "deleted"), status
        world.check(step.tenant, Said(text=repr(status)))
    elif isinstance(step, Ask):
        text, filters = world.texts(step)
        words = [text, *(each for value in filters.values() for each in value)]
        said = await door.ask(world.tenant(step.tenant), step, text, filters)
        world.check(step.tenant, said, words)
    else:
        world.check(step.tenant, await door.read(world.tenant(step.tenant), "help", step.doc_id))


# Shrinking would take as long as the servers need for all that it tries.
@settings(
    max_examples=8,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(happens=steps())
async def test_no_tenant_is_ever_told_a_word_or_a_number_of_another(door: Door, happens: list[list[Step]]) -> None:
    world = World()
    for together in happens:
        await asyncio.gather(*(act(world, door, step) for step in together))
    for place in range(3):
        tenant = world.tenant(place)
        assert await door.held(tenant) in (None, world.documents(place, hidden=True))
        # Nobody is kept from what is their own: a door that says nothing leaks nothing either.
        said = await door.ask(tenant, QUESTION, QUESTION.text, {})
        world.check(place, said)
        assert (world.mark(place) in said.text) >= (world.documents(place) > 0), said.text
        for doc_id in DOCS:
            world.check(place, await door.read(tenant, "help", doc_id))


def test_a_word_and_a_number_of_another_tenant_are_seen() -> None:
    world = World()
    world.change(Edit(tenant=0, doc_id=DOCS[0], op="upsert", kind="document", agents=(), pinned=()))
    mark = world.mark(0)
    world.check(0, Said(text=mark, counts={"dense": 3}))
    world.check(1, Said(text=f"nothing about {mark}?"), [f"about {mark}?"])
    for leak in (
        Said(text=f"see https://{mark}.example"),
        Said(text=world.tenant(0)),
        Said(text="", counts={"dense": 1}),
    ):
        with pytest.raises(AssertionError, match="was told"):
            world.check(1, leak)
