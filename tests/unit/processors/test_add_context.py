"""add-context: a context is made once a passage and outlives edits elsewhere; a model that fails costs no document."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from schemas.chunks import ChunkBatch
from schemas.documents import DocumentChange
from streams.adapters.memory import MemoryAnswers, MemoryStores
from streams.adapters.memory_chat import MemoryChat, Script
from streams.domain.generation import Generation
from streams.errors import StoreUnavailable, Transient
from streams.processors import add_context, chunk, embed, index_text
from streams.processors.asking import Asker
from tests.unit.domain.obeying import OBEYED

GENERATION = Generation(id="g1", model="memory-hash", dimension=64, average_length=100.0)
SAID = "It is about fees.\nWORDS: charges"
CONTEXT = "It is about fees. charges."
PAGE = "# Fees\n\nFees are due on the first day.\n\n# Late fees\n\nA late fee is due after a week."
EDITED = PAGE.replace("a week", "two weeks")


def about_fees(system: str, user: str) -> str:
    return SAID


class Ingest:
    """Stores, and the processors that a page goes through, without a store of answers unless one is given."""

    def __init__(self, script: Script = about_fees, answers: MemoryAnswers | None = None) -> None:
        self.stores = MemoryStores()
        self.model = MemoryChat(script)
        self.asker = Asker(model=self.model, answers=answers)
        self.deps = add_context.Deps(contexts=self.stores.contexts, asker=self.asker)

    async def batches(self, version: int, content: str, **fields: Any) -> list[ChunkBatch]:
        given = {"tenant": "acme", "source": "help", "doc_id": "fees", "version": version, "content": content, **fields}
        sent = await chunk.handle(
            DocumentChange(**given), chunk.Deps(versions=self.stores.versions, generation=GENERATION)
        )
        return [each.message for each in sent if isinstance(each.message, ChunkBatch)]

    async def put(self, version: int, content: str, **fields: Any) -> ChunkBatch:
        """Take a version in; return its only part."""
        (batch,) = await self.batches(version, content, **fields)
        assert await index_text.handle(batch, index_text.Deps(texts=self.stores.texts))
        assert await add_context.handle(batch, self.deps) == ()
        return batch

    async def kept(self, batch: ChunkBatch) -> list[str | None]:
        found = await self.stores.contexts.read("acme", [each.id for each in batch.chunks])
        return [found.get(each.id) for each in batch.chunks if each.level == "parent"]


async def test_each_passage_is_asked_for_once_and_no_chunk_of_another_level() -> None:
    ingest = Ingest()
    batch = await ingest.put(1, PAGE)
    assert await ingest.kept(batch) == [CONTEXT, CONTEXT]
    assert set(ingest.stores.state.contexts) == {each.id for each in batch.chunks if each.level == "parent"}
    assert len(ingest.model.asked) == 2


async def test_a_changed_passage_has_a_new_context_and_an_unchanged_one_costs_no_call() -> None:
    ingest = Ingest()
    await ingest.put(1, PAGE)
    ingest.model.asked.clear()
    batch = await ingest.put(2, EDITED)
    ((_, asked),) = ingest.model.asked
    assert "two weeks" in asked
    assert await ingest.kept(batch) == [CONTEXT, CONTEXT]
    await ingest.put(2, EDITED)  # delivered again
    assert len(ingest.model.asked) == 1


@pytest.mark.parametrize("said", [each for each in OBEYED if "Refunds" not in each])
async def test_what_obeys_the_text_is_no_context_and_is_not_asked_for_again(said: str) -> None:
    ingest = Ingest(lambda system, user: said)
    assert await ingest.kept(await ingest.put(1, PAGE)) == ["", ""]
    ingest.model.asked.clear()
    await ingest.put(1, PAGE)
    assert ingest.model.asked == []


async def test_a_model_that_fails_costs_nothing_but_the_context_which_the_next_publication_brings() -> None:
    broken = True

    def script(system: str, user: str) -> str:
        if broken and "<passage" in user and "A late fee" in user.split("<passage")[1]:
            raise Transient("down")
        return SAID

    ingest = Ingest(script)
    assert await ingest.kept(await ingest.put(1, PAGE)) == [CONTEXT, None]
    broken = False
    ingest.model.asked.clear()
    assert await ingest.kept(await ingest.put(1, PAGE)) == [CONTEXT, CONTEXT]
    assert len(ingest.model.asked) == 1


async def test_a_number_that_the_page_lacks_is_dropped_with_its_sentence() -> None:
    ingest = Ingest(lambda system, user: "It is about fees. Fees are 90 dollars.\nWORDS: charges, rule 77")
    assert await ingest.kept(await ingest.put(1, PAGE)) == [CONTEXT, CONTEXT]


async def test_pairs_and_a_pipeline_without_the_option_ask_nobody() -> None:
    ingest = Ingest()
    pair = await ingest.put(1, "", kind="qa", question="When are fees due?", answer="On the first day.")
    ingest.deps = dataclasses.replace(ingest.deps, asker=None)
    page = await ingest.put(1, PAGE, doc_id="other")
    assert (ingest.model.asked, await ingest.kept(pair), await ingest.kept(page)) == ([], [None], [None, None])


async def test_where_vectors_have_the_context_too_it_is_made_by_embed_and_kept() -> None:
    ingest = Ingest()
    (batch,) = await ingest.batches(1, PAGE)
    deps = embed.Deps(
        embedder=ingest.stores.embedder, generation=GENERATION, asker=ingest.asker, contexts=ingest.stores.contexts
    )
    first = await embed.handle(batch, deps)
    assert await ingest.kept(batch) == [CONTEXT, CONTEXT]
    assert len(ingest.model.asked) == 2
    assert await embed.handle(batch, deps) == first  # delivered again: from what is kept
    assert len(ingest.model.asked) == 2
    plain = await embed.handle(batch, dataclasses.replace(deps, asker=None))
    assert plain != first


async def test_vectors_wait_for_no_store_of_contexts() -> None:
    class Away:
        async def read(self, *_: object) -> Any:
            raise StoreUnavailable("away")

        write = read

    ingest = Ingest()
    (batch,) = await ingest.batches(1, PAGE)
    deps = embed.Deps(
        embedder=ingest.stores.embedder, generation=GENERATION, asker=ingest.asker, contexts=ingest.stores.contexts
    )
    assert await embed.handle(batch, dataclasses.replace(deps, contexts=Away())) == await embed.handle(batch, deps)
