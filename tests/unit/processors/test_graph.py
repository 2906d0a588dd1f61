"""extract, index-graph and retrieve-graph: what travels between them, and what they say when there is nothing."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from schemas import codec
from schemas.chunks import Chunk, ChunkBatch
from schemas.documents import DocumentChange
from schemas.graph import Entity, GraphBatch, Relation
from schemas.queries import Filters, LegResult, PreparedQuery
from streams.adapters.memory import MemoryStores
from streams.domain import extraction
from streams.domain.extraction import Extraction
from streams.errors import StoreUnavailable, Transient
from streams.processors import extract, index_graph, retrieve_graph
from streams.processors.parts import record_key
from streams.runner import Outcome, Runner
from streams.wire import RawOutgoing, Record
from tests.contract import building
from topics import catalogue


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word is an entity, and each is related to the next: what is extracted is another module's matter."""

    def found(*, chunk_id: str, heading_path: tuple[str, ...], body: str, language: str) -> Extraction:
        names = list(dict.fromkeys(body.split()))
        return Extraction(
            entities=tuple(Entity(key=name, name=name.title(), kind="term", chunk_id=chunk_id) for name in names),
            relations=tuple(
                Relation(subject=a, object=b, label="before", chunk_id=chunk_id) for a, b in itertools.pairwise(names)
            ),
        )

    monkeypatch.setattr(extraction, "extract", found)
    monkeypatch.setattr(extraction, "of_question", lambda text, language: tuple(text.split()))


def chunk_batch(of: DocumentChange, chunks: tuple[Chunk, ...]) -> ChunkBatch:
    return ChunkBatch(
        tenant=of.tenant,
        source=of.source,
        doc_id=of.doc_id,
        version=of.version,
        generation=building.GENERATION,
        part=0,
        parts=1,
        kind=of.kind,
        language="en",
        chunks=chunks,
    )


def query(text: str, **fields: Any) -> PreparedQuery:
    return PreparedQuery(
        **{
            "query_id": "q",
            "ticket": "0-1",
            "tenant": "acme",
            "agent": None,
            "text": text,
            "terms": (),
            "language": "en",
            "profile": "p",
            "generation": building.GENERATION,
            "filters": Filters(),
            "deadline": 2_000.0,
            "legs": ("graph",),
            "candidates": 10,
            **fields,
        }
    )


async def extracted(batch: ChunkBatch) -> list[GraphBatch]:
    sent = await extract.handle(batch, extract.Deps())
    assert {(each.topic, each.key) for each in sent} <= {(catalogue.ENTITIES, record_key(batch))}
    return [each.message for each in sent if isinstance(each.message, GraphBatch)]


async def leg(stores: MemoryStores, asked: PreparedQuery) -> LegResult:
    (sent,) = await retrieve_graph.RETRIEVE_GRAPH.handle(asked, retrieve_graph.Deps(graph=stores.graph))
    assert isinstance(sent.message, LegResult)
    return sent.message


async def test_only_new_passages_are_extracted() -> None:
    of = building.change(1, "relay port | gateway | firewall")
    new, _, known, *_ = chunks = building.cut(of)
    marked = tuple(msgspec.structs.replace(each, embed=each is not known) for each in chunks)
    (batch,) = await extracted(chunk_batch(of, marked))
    assert [entity.key for entity in batch.entities if entity.chunk_id == new.id] == ["port", "relay"]
    assert {entity.chunk_id for entity in batch.entities} == {new.id, chunks[4].id}
    assert [(relation.subject, relation.object) for relation in batch.relations] == [("relay", "port")]
    assert (batch.tenant, batch.version, batch.generation) == ("acme", 1, building.GENERATION)


async def test_a_part_without_new_passages_or_entities_sends_nothing() -> None:
    of = building.change(1, "relay")
    known = tuple(msgspec.structs.replace(each, embed=False) for each in building.cut(of))
    assert await extracted(chunk_batch(of, known)) == []
    assert await extracted(chunk_batch(of, ())) == []


async def test_what_a_full_part_says_fits_into_records_and_one_passage_stays_together() -> None:
    passages = [" ".join(f"word{n}x{m}{'y' * 60}" for m in range(100)) for n in range(40)]
    of = building.change(1, " | ".join(passages))
    batches = await extracted(chunk_batch(of, building.cut(of)))
    assert len(batches) > 2
    assert all(len(codec.encode(batch)) < 256 * 1024 for batch in batches)
    homes = [{entity.chunk_id for entity in batch.entities} for batch in batches]
    assert sum(map(len, homes)) == len(set.union(*homes)) == 40
    for batch, home in zip(batches, homes, strict=True):
        assert {relation.chunk_id for relation in batch.relations} <= home


async def test_extraction_does_not_hold_up_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr(
        extraction, "extract", lambda **_: Extraction(entities=(), relations=()) if go.wait(5) else None
    )
    of = building.change(1, "relay")
    running = asyncio.create_task(extracted(chunk_batch(of, building.cut(of))))
    await asyncio.sleep(0.05)
    assert not running.done()
    go.set()
    assert await running == []


async def test_a_part_that_cannot_be_extracted_is_dead_lettered_and_fails_no_version(
    record: Callable[..., Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[RawOutgoing] = []

    async def produce(outgoing: RawOutgoing) -> None:
        sent.append(outgoing)

    def broken(**_: Any) -> Extraction:
        raise KeyError("bug")

    monkeypatch.setattr(extraction, "extract", broken)
    of = building.change(1, "relay")
    runner = Runner(extract.EXTRACT, extract.Deps(), produce)
    assert await runner.run(record(chunk_batch(of, building.cut(of)))) is Outcome.DEAD_LETTERED
    assert len(sent) == 1
    assert sent[0].topic.endswith(".dlq")


async def test_from_chunks_to_the_legs_result_and_away_again() -> None:
    stores = MemoryStores()
    first, second = building.change(1, "parquet builder", doc_id="a"), building.change(1, "builder canopy", doc_id="b")
    for of in (first, second):
        await stores.versions.accept(building.candidate(of))
        for batch in await extracted(chunk_batch(of, building.cut(of))):
            assert await index_graph.handle(batch, index_graph.Deps(graph=stores.graph)) == ()
        for writer in ("text", "vectors"):
            await stores.versions.complete(building.receipt(of, writer))
    result = await leg(stores, query("parquet"))
    assert (result.status, result.leg, result.ticket) == ("ok", "graph", "0-1")
    assert [hit.chunk_id for hit in result.hits] == [building.cut(first)[0].id, building.cut(second)[0].id]
    assert [(fact.subject, fact.label, fact.object) for fact in result.facts] == [
        ("Parquet", "before", "Builder"),
        ("Builder", "before", "Canopy"),
    ]
    await stores.versions.accept(building.candidate(building.deletion(2, doc_id="b")))
    result = await leg(stores, query("parquet"))
    assert [fact.object for fact in result.facts] == ["Builder"]
    assert (await leg(stores, query("canopy"))).status == "empty"


async def test_a_question_that_names_nothing_is_skipped_with_the_reason() -> None:
    result = await leg(MemoryStores(), query(""))
    assert (result.status, result.reason, result.hits, result.facts) == ("skipped", "no entity in the question", (), ())


async def test_a_question_for_other_legs_is_not_searched() -> None:
    deps = retrieve_graph.Deps(graph=MemoryStores().graph)
    assert await retrieve_graph.RETRIEVE_GRAPH.handle(query("relay", legs=("dense",)), deps) == ()


async def test_a_store_that_is_away_is_told_as_the_legs_error(record: Callable[..., Record]) -> None:
    class Away:
        async def write(self, batch: GraphBatch) -> bool:
            raise StoreUnavailable("away")

        async def search(self, *_: Any) -> Any:
            raise Transient("host pg-7 is away")

    sent: list[RawOutgoing] = []

    async def produce(outgoing: RawOutgoing) -> None:
        sent.append(outgoing)

    runner = Runner(retrieve_graph.RETRIEVE_GRAPH, retrieve_graph.Deps(graph=Away()), produce, clock=lambda: 1_999.0)
    await runner.run(record(query("relay")))
    result = codec.decode(sent[-1].value or b"", LegResult)
    assert isinstance(result, LegResult)
    assert (result.status, result.facts) == ("error", ())
    assert "pg-7" not in (result.reason or "")
