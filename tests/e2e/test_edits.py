"""What an edit costs: only what changed is embedded, and no answer in between is half old, half new or empty."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from schemas.documents import DocumentChange
from streams.adapters.batched_embedder import BatchedEmbedder, BulkPassages
from streams.ports import Vectors
from tests.e2e.test_lifecycle import texts
from tests.pipeline import Pipeline, page

ROOMS = 60


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the running pipeline gives its model, as it gives them, in either lane."""
    given: list[str] = []

    def counted(embed: Callable[[Any, Sequence[str]], Awaitable[Vectors]]) -> Any:
        async def counting(self: Any, wanted: Sequence[str]) -> Vectors:
            given.extend(wanted)
            return await embed(self, wanted)

        return counting

    for lane in (BatchedEmbedder, BulkPassages):
        monkeypatch.setattr(lane, "embed_passages", counted(lane.embed_passages))
    return given


def handbook(tenant: str, **changed: str) -> str:
    rooms = (f"## Room {n}\n\nRoom {n} has key {changed.get(f'room{n}', f'K{n:03d}')}." for n in range(1, ROOMS + 1))
    return "# Site handbook\n\n" + "\n\n".join(rooms)


async def test_an_edit_of_one_paragraph_embeds_that_paragraph(pipeline: Pipeline, embedded: list[str]) -> None:
    tenant = "t-edits-one"
    await pipeline.publish(page("site", handbook(tenant), tenant=tenant, version=1))
    assert len(embedded) == ROOMS + 1  # and the document-level text
    embedded.clear()
    (status,) = await pipeline.publish(page("site", handbook(tenant, room30="Z777"), tenant=tenant, version=2))
    assert status.chunks == ROOMS + 1
    assert [text.splitlines()[-1] for text in embedded] == ["Room 30 has key Z777."]
    found = texts(await pipeline.client.ask("key of room 30", tenant=tenant))
    assert ("Z777" in found, "K030" in found) == (True, False)


async def test_a_language_that_is_told_later_is_that_of_the_indexes(pipeline: Pipeline) -> None:
    """The same text as another language has other stems: the legs that go by words must not keep the old ones."""
    tenant = "t-edits-language"
    text = "# Archiv\n\nKellerregal 17: Rechnungen."  # nothing in it says which language it is
    (status,) = await pipeline.publish(page("told", text, tenant=tenant, version=1, language="en"))
    assert status.status == "searchable"
    (status,) = await pipeline.publish(page("told", text, tenant=tenant, version=2, language="de"))
    assert status.status == "searchable"
    reply = await pipeline.client.ask("Wo liegt die Rechnung?", tenant=tenant, explain=True)
    (passage,) = [each for each in reply.passages if each.doc_id == "told"]
    assert {"fulltext", "sparse"} <= set(passage.legs)


async def test_a_paragraph_of_a_long_section_embeds_its_surroundings_and_not_the_page(
    pipeline: Pipeline, embedded: list[str]
) -> None:
    """A section that is longer than a passage is cut into several, and each into pieces that the model can read."""
    tenant = "t-edits-long"
    sentences = [f"Step {n} of the procedure turns valve {n} by {n * 7} degrees and waits." * 4 for n in range(60)]

    def content(changed: str) -> str:
        return "# Procedure\n\n" + "\n\n".join(changed if n == 30 else text for n, text in enumerate(sentences))

    await pipeline.publish(page("valves", content(sentences[30]), tenant=tenant, version=1))
    whole = len(embedded)
    embedded.clear()
    edit = sentences[30].replace("turns", "opens")
    await pipeline.publish(page("valves", content(edit), tenant=tenant, version=2))
    assert whole > 20
    assert 1 <= len(embedded) <= 6, f"{len(embedded)} of {whole}"
    assert any("opens valve 30" in text for text in embedded)


@pytest.mark.parametrize(
    "changed",
    [
        {"agents": ("sales",)},
        {"tags": ("billing",)},
        {"uri": "https://help.example/moved"},
        {"trust": "external"},
        {"metadata": {"owner": "ops"}},
        {"updated_at": "2026-01-31T08:00:00Z"},
    ],
    ids=lambda changed: next(iter(changed)),
)
async def test_what_stands_beside_the_text_embeds_nothing_and_holds_at_once(
    pipeline: Pipeline, embedded: list[str], changed: dict[str, object]
) -> None:
    (name, value), *_ = changed.items()
    tenant = f"t-edits-{name.replace('_', '-')}"
    content = handbook(tenant)
    await pipeline.publish(page("site", content, tenant=tenant, version=1))
    embedded.clear()
    (status,) = await pipeline.publish(page("site", content, tenant=tenant, version=2, **changed))
    assert (status.status, status.chunks) == ("searchable", ROOMS + 1)
    assert embedded == []
    reply = await pipeline.client.ask("key of room 30", tenant=tenant, agent="sales")
    assert {passage.version for passage in reply.passages} == {2}
    if name in ("uri", "trust"):
        assert {getattr(passage, name) for passage in reply.passages} == {value}
    if name == "agents":
        assert (await pipeline.client.ask("key of room 30", tenant=tenant, agent="support")).passages == ()
    if name == "tags":
        assert (await pipeline.client.ask("key of room 30", tenant=tenant, filters={"tags": ["billing"]})).passages


async def test_a_title_that_heads_the_text_is_part_of_it(pipeline: Pipeline, embedded: list[str]) -> None:
    """It stands at the start of every heading path, which is embedded and searched with each passage."""
    tenant = "t-edits-titled"
    content = "\n\n".join(f"## Room {n}\n\nRoom {n} has key K{n:03d}." for n in range(1, 6))
    await pipeline.publish(page("site", content, tenant=tenant, version=1, title="Old handbook"))
    embedded.clear()
    await pipeline.publish(page("site", content, tenant=tenant, version=2, title="New handbook"))
    assert len(embedded) == 6
    assert all(text.startswith("New handbook") for text in embedded)
    reply = await pipeline.client.ask("key of room 3", tenant=tenant)
    assert {passage.heading_path[0] for passage in reply.passages} == {"New handbook"}


async def test_a_title_that_the_first_heading_says_is_embedded_once(pipeline: Pipeline, embedded: list[str]) -> None:
    tenant = "t-edits-said"
    content = handbook(tenant)
    await pipeline.publish(page("site", content, tenant=tenant, version=1))
    embedded.clear()
    await pipeline.publish(page("site", content, tenant=tenant, version=2, title="SITE HANDBOOK"))
    (text,) = embedded
    assert text.startswith("SITE HANDBOOK\n"), "the document-level text alone"


async def test_a_repeated_version_embeds_nothing(pipeline: Pipeline, embedded: list[str]) -> None:
    change = page("site", handbook("t-edits-same"), tenant="t-edits-same", version=1)
    await pipeline.publish(change)
    embedded.clear()
    await pipeline.publish(change)
    assert embedded == []


def wall(doc_id: str, tenant: str, version: int, stones: int) -> DocumentChange:
    """A page of which a few passages stay, and as many as there are stones say which version they are of."""
    kept = "".join(f"\n\n## Foundation {n}\n\nThe {doc_id} wall stands on stone block {n}." for n in range(2))
    new = "".join(f"\n\n## Stone {n}\n\nStone {n} of the {doc_id} wall has mark {version}." for n in range(stones))
    return page(doc_id, f"# Wall{kept}{new}", tenant=tenant, version=version)


@pytest.mark.parametrize("seed", [11, 12])
async def test_every_answer_during_updates_is_of_one_whole_version(pipeline: Pipeline, seed: int) -> None:
    """Pages grow and shrink at random, two at once, while they are asked for."""
    chance, tenant, last = random.Random(seed), f"t-edits-whole-{seed}", 25
    documents = ("north", "south")
    stones = {(doc_id, version): chance.randint(1, 9) for doc_id in documents for version in range(1, last + 1)}
    await pipeline.publish(*(wall(each, tenant, 1, stones[each, 1]) for each in documents))
    seen: Counter[tuple[str, int]] = Counter()
    highest = dict.fromkeys(documents, 1)
    done = asyncio.Event()

    async def watch(question: str) -> None:
        while not done.is_set():
            before = dict(highest)
            reply = await pipeline.client.ask(question, tenant=tenant, top_k=50, floor=0.0, cache=False, timeout=20)
            assert reply.error is None, reply.error
            if reply.degraded:
                continue  # a leg was too slow on a busy machine, and the reply says so
            for doc_id in documents:
                of = [passage for passage in reply.passages if passage.doc_id == doc_id]
                versions = {passage.version for passage in of}
                assert len(versions) == 1, f"{doc_id}: versions {versions or 'none'}"
                (version,) = versions
                marks = [int(mark) for passage in of for mark in re.findall(r"has mark (\d+)", passage.text)]
                assert marks == [version] * stones[doc_id, version], f"{doc_id} {version}: {marks}"
                assert sum("stands on stone block" in passage.text for passage in of) == 2
                assert version >= before[doc_id], "older than a version whose receipt was there"
                seen[doc_id, version] += 1

    async def update(doc_id: str) -> None:
        for version in range(2, last + 1):
            await pipeline.publish(wall(doc_id, tenant, version, stones[doc_id, version]))
            highest[doc_id] = version
            await asyncio.sleep(chance.uniform(0, 0.2))

    questions = ("which mark has the stone of the wall?", "wall on a stone block, its mark")
    watching = [asyncio.create_task(watch(question)) for question in questions]
    try:
        await asyncio.gather(*(update(doc_id) for doc_id in documents))
    finally:
        done.set()
    await asyncio.gather(*watching)
    assert len(seen) >= 8, f"too few versions were seen: {len(seen)}"
