"""Which leg looks at pairs, at documents or at both, on the stores' twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from schemas.chunks import ChunkBatch, Level, VectorBatch
from schemas.documents import DocumentChange, DocumentStatus, Receipt
from schemas.queries import Filters, Hit, LegResult
from streams.adapters.memory import MemoryStores, MemoryVectors
from streams.domain.generation import Generation
from streams.domain.profile import Profile
from streams.domain.scope import Scope
from streams.domain.tokens import terms
from streams.errors import StoreUnavailable
from streams.ports import Embedder
from streams.processor import Processor
from streams.processors import (
    chunk,
    embed,
    index_text,
    index_vectors,
    publish_version,
    retrieve_dense,
    retrieve_fulltext,
    retrieve_qa,
)
from tests.unit.domain.questions import prepared

LEGS: Any = ("dense", "sparse", "fulltext", "qa")
PAIRS = Profile(name="pairs", summary="", legs=LEGS, levels=("document", "parent", "child"))
PAGES = Profile(name="pages", summary="", legs=("dense", "fulltext"), levels=PAIRS.levels)
PREFIXED = Profile(name="prefixed", summary="", legs=LEGS, qa_prefix=True)
PROFILES = {profile.name: profile for profile in (PAIRS, PAGES, PREFIXED)}
PAIR = DocumentChange(
    tenant="acme", doc_id="pair", version=1, kind="qa", question="Who may export reports?", answer="Editors and owners."
)
PAGE = DocumentChange(
    tenant="acme", doc_id="page", version=1, title="Export", content="# Export\n\nEditors export files."
)


async def ingest(stores: MemoryStores, *changes: DocumentChange) -> None:
    """Carry changes through the handlers of the ingest side."""
    generation = Generation(id="g1", model="memory-hash", dimension=64, average_length=10.0)
    to_chunk = chunk.Deps(versions=stores.versions, generation=generation)
    to_embed = embed.Deps(embedder=stores.embedder, generation=generation)
    to_texts = index_text.Deps(texts=stores.texts)
    to_vectors = index_vectors.Deps(versions=stores.versions, vectors=stores.vectors)
    to_publish = publish_version.Deps(versions=stores.versions, vectors=stores.vectors, epochs=stores.epochs)
    messages: list[Any] = list(changes)
    while messages:
        match message := messages.pop(0):
            case DocumentChange():
                sent = await chunk.handle(message, to_chunk)
            case ChunkBatch():
                sent = [*await embed.handle(message, to_embed), *await index_text.handle(message, to_texts)]
            case VectorBatch():
                sent = await index_vectors.handle(message, to_vectors)
            case Receipt():
                sent = await publish_version.handle(message, to_publish)
            case DocumentStatus():
                assert message.status in ("searchable", "deleted")
                sent = ()
            case _:
                sent = ()
        messages += [each.message for each in sent]


@pytest.fixture
async def stores() -> MemoryStores:
    made = MemoryStores()
    await ingest(made, PAIR, PAGE)
    return made


def deps(stores: MemoryStores, processor: Processor) -> Any:
    if processor is retrieve_dense.RETRIEVE_DENSE:

        async def embedder(_: str) -> Embedder:
            return stores.embedder

        return retrieve_dense.Deps(embedder=embedder, vectors=stores.vectors, profiles=PROFILES)
    if processor is retrieve_qa.RETRIEVE_QA:
        return retrieve_qa.Deps(texts=stores.texts, profiles=PROFILES)
    return retrieve_fulltext.Deps(texts=stores.texts)


async def ask(stores: MemoryStores, processor: Processor, text: str, **fields: Any) -> LegResult:
    query = prepared(**{"text": text, "terms": tuple(terms(text, "en")), "legs": LEGS, "profile": "pairs"} | fields)
    (sent,) = await processor.handle(query, deps(stores, processor))
    assert isinstance(sent.message, LegResult)
    return sent.message


async def found(stores: MemoryStores, hits: Sequence[Hit]) -> list[str]:
    """The documents that hits lead to, best first."""
    live = await stores.passages.resolve(Scope(tenant="acme", generation="g1"), [hit.chunk_id for hit in hits])
    return [live[hit.chunk_id].doc_id for hit in hits]


async def test_the_dense_leg_gives_questions_in_a_list_of_their_own(stores: MemoryStores) -> None:
    result = await ask(stores, retrieve_dense.RETRIEVE_DENSE, "who may export reports")
    assert await found(stores, result.questions) == ["pair"]
    assert result.questions[0].score == pytest.approx(1.0)
    assert sorted(await found(stores, result.hits)) == ["page", "page", "pair"]
    assert not {hit.chunk_id for hit in result.questions} & {hit.chunk_id for hit in result.hits}


async def test_a_question_leads_to_its_whole_pair(stores: MemoryStores) -> None:
    (hit,) = (await ask(stores, retrieve_dense.RETRIEVE_DENSE, "export")).questions
    live = await stores.passages.resolve(Scope(tenant="acme", generation="g1"), [hit.chunk_id])
    passage = live[hit.chunk_id]
    assert (passage.heading_path, passage.body) == (("Who may export reports?",), "Editors and owners.")
    assert passage.passage_id != hit.chunk_id


class Watched(MemoryVectors):
    """Vectors that say what was searched, and fail for one level."""

    def __init__(self, failing: Level | None = None) -> None:
        super().__init__()
        self.failing = failing
        self.searched: list[tuple[Level, ...]] = []

    async def search_dense(
        self, scope: Scope, vector: Sequence[float], levels: Sequence[Level], limit: int, *, model: str | None = None
    ) -> list[Hit]:
        self.searched.append(tuple(levels))
        if self.failing in levels:
            raise StoreUnavailable("no connection")
        return await super().search_dense(scope, vector, levels, limit, model=model)


@pytest.mark.parametrize(
    ("profile", "kinds", "searched"),
    [
        ("pairs", (), [PAIRS.levels, ("question",)]),
        ("pairs", ("qa",), [PAIRS.levels, ("question",)]),
        ("pairs", ("document",), [PAIRS.levels]),
        ("pages", (), [PAGES.levels]),
    ],
)
async def test_questions_are_searched_only_where_pairs_are_asked_for(
    profile: str, kinds: Any, searched: list[tuple[Level, ...]]
) -> None:
    stores = MemoryStores()
    stores.vectors = watched = Watched()
    await ask(stores, retrieve_dense.RETRIEVE_DENSE, "export", profile=profile, filters=Filters(kinds=kinds))
    assert watched.searched == searched


@pytest.mark.parametrize("failing", ["parent", "question"])
async def test_either_search_that_fails_fails_the_leg(failing: Level) -> None:
    stores = MemoryStores()
    stores.vectors = Watched(failing)
    with pytest.raises(StoreUnavailable):
        await ask(stores, retrieve_dense.RETRIEVE_DENSE, "export")


async def test_a_leg_that_found_nothing_but_questions_is_not_empty(stores: MemoryStores) -> None:
    only = {**PROFILES, "pairs": Profile(name="pairs", summary="", legs=LEGS, levels=("child",))}
    given = replace(deps(stores, retrieve_dense.RETRIEVE_DENSE), profiles=only)
    (sent,) = await retrieve_dense.RETRIEVE_DENSE.handle(prepared(legs=LEGS, profile="pairs"), given)
    assert isinstance(sent.message, LegResult)
    assert (sent.message.status, len(sent.message.hits), len(sent.message.questions)) == ("ok", 0, 1)


async def test_each_text_leg_finds_and_counts_its_own_kind(stores: MemoryStores) -> None:
    for processor, doc_id in ((retrieve_qa.RETRIEVE_QA, "pair"), (retrieve_fulltext.RETRIEVE_FULLTEXT, "page")):
        result = await ask(stores, processor, "may editors export?")
        assert (result.status, await found(stores, result.hits)) == ("ok", [doc_id])
        assert result.counted == 1
    result = await ask(stores, retrieve_qa.RETRIEVE_QA, "owners of files")
    assert (await found(stores, result.hits), result.frequencies) == (["pair"], (1, 0))


async def test_a_word_begins_a_word_of_a_pair_where_the_profile_says_so(stores: MemoryStores) -> None:
    for profile, status in (("pairs", "empty"), ("prefixed", "ok")):
        assert (await ask(stores, retrieve_qa.RETRIEVE_QA, "edi", profile=profile)).status == status
        assert (await ask(stores, retrieve_fulltext.RETRIEVE_FULLTEXT, "edi", profile=profile)).status == "empty"


async def test_a_leg_that_has_nothing_to_look_at_says_why(stores: MemoryStores) -> None:
    for processor, own, other in (
        (retrieve_qa.RETRIEVE_QA, "qa", "document"),
        (retrieve_fulltext.RETRIEVE_FULLTEXT, "document", "qa"),
    ):
        result = await ask(stores, processor, "export", filters=Filters(kinds=(other,)))  # type: ignore[arg-type]
        assert (result.status, result.reason) == ("skipped", "filtered out by kinds")
        assert (await ask(stores, processor, "export", filters=Filters(kinds=(own,)))).status == "ok"  # type: ignore[arg-type]
        result = await ask(stores, processor, "?!", terms=())
        assert (result.status, result.reason) == ("skipped", "no words in the question")


async def test_another_answer_embeds_the_parent_alone_and_a_deletion_takes_the_question_along(
    stores: MemoryStores,
) -> None:
    before = stores.vectors.ids("g1")
    generation = Generation(id="g1", model="memory-hash", dimension=64, average_length=10.0)
    edited = DocumentChange(
        tenant="acme", doc_id="pair", version=2, kind="qa", question=PAIR.question, answer="Admins only."
    )
    sent = await chunk.handle(edited, chunk.Deps(versions=stores.versions, generation=generation))
    batch = sent[1].message
    assert isinstance(batch, ChunkBatch)
    assert [(each.level, each.embed) for each in batch.chunks] == [("parent", True), ("question", False)]
    await ingest(stores, edited)
    assert len(stores.vectors.ids("g1")) == len(before)
    result = await ask(stores, retrieve_dense.RETRIEVE_DENSE, "who may export reports")
    live = await stores.passages.resolve(Scope(tenant="acme", generation="g1"), [result.questions[0].chunk_id])
    assert [passage.body for passage in live.values()] == ["Admins only."]
    await ingest(stores, DocumentChange(tenant="acme", doc_id="pair", version=3, op="delete"))
    assert (await ask(stores, retrieve_dense.RETRIEVE_DENSE, "who may export reports")).questions == ()
    assert (await ask(stores, retrieve_qa.RETRIEVE_QA, "admins")).status == "empty"
