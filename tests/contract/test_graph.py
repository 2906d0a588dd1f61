"""The knowledge graph: what a search finds directly and over a bridge, who sees it, and what is left of it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from schemas.documents import DocumentChange
from schemas.graph import Entity, GraphBatch, Relation
from schemas.queries import Filters
from streams.adapters import graph as limits
from streams.domain import graph
from streams.domain.graph import GraphFound, specificity
from tests.contract import building
from tests.contract.building import change, cut, deletion, receipt, scope
from tests.contract.stores import Stores


def parents(of: DocumentChange, generation: str = building.GENERATION) -> list[str]:
    return [chunk.id for chunk in cut(of, generation) if chunk.level == "parent"]


def batch(of: DocumentChange, *said: str, generation: str = building.GENERATION) -> GraphBatch:
    """What each passage says: "a b" mentions both, "a*3" one of them three times, "a>includes>b" relates them."""
    entities: list[Entity] = []
    relations: list[Relation] = []
    for chunk_id, text in zip(parents(of, generation), said, strict=True):
        counts: dict[str, int] = {}
        for part in filter(None, text.split()):
            ends = part.split(">")
            for mention in ends[::2]:
                name, _, times = mention.partition("*")
                counts[name] = counts.get(name, 0) + int(times or 1)
            if len(ends) == 3:
                relations.append(Relation(subject=ends[0], label=ends[1], object=ends[2], chunk_id=chunk_id))
        entities += [
            Entity(key=name, name=name.title(), kind="name", chunk_id=chunk_id, mentions=times)
            for name, times in counts.items()
        ]
    return GraphBatch(
        tenant=of.tenant,
        source=of.source,
        doc_id=of.doc_id,
        version=of.version,
        generation=generation,
        part=0,
        parts=1,
        kind=of.kind,
        language="en",
        entities=tuple(entities),
        relations=tuple(relations),
    )


async def put(stores: Stores, doc_id: str, *said: str, version: int = 1, **fields: Any) -> DocumentChange:
    """Publish a document whose passages say so, and write its graph."""
    given = change(version, " | ".join(said), doc_id=doc_id, **fields)
    await stores.put(given)
    assert await stores.graph.write(batch(given, *said))
    return given


async def search(stores: Stores, *keys: str, limit: int = 50, **fields: Any) -> GraphFound:
    return await stores.graph.search(scope(**fields), keys, limit)


def chunks(found: GraphFound) -> list[str]:
    return [hit.chunk_id for hit in found.hits]


def said(found: GraphFound) -> list[tuple[str, str, str]]:
    return [(fact.subject, fact.label, fact.object) for fact in found.facts]


async def test_a_mention_counts_by_its_number_and_by_how_rare_the_entity_is(stores: Stores) -> None:
    often = await put(stores, "often", "relay*3")
    once = await put(stores, "once", "relay")
    found = await search(stores, "relay")
    rare = 1 - math.log(2) / math.log(400)
    assert [(hit.chunk_id, pytest.approx(hit.score)) for hit in found.hits] == [
        (*parents(often), 0.6 * rare * (1 - 1 / 8)),
        (*parents(once), 0.6 * rare * (1 - 1 / 2)),
    ]
    assert found.facts == []


async def test_a_chunk_that_relates_two_of_the_questions_entities_comes_first_with_its_fact(stores: Stores) -> None:
    await put(stores, "a", "canopy*9")
    await put(stores, "b", "relay*9")
    both = await put(stores, "c", "canopy>includes>relay")
    found = await search(stores, "canopy", "relay")
    rare = 1 - math.log(2) / math.log(400)
    mention, related = 0.6 * rare * 0.5, 0.6 * rare
    assert chunks(found)[0] == parents(both)[0]
    assert found.hits[0].score == pytest.approx(1 - (1 - mention) ** 2 * (1 - related))
    (fact,) = found.facts
    assert (fact.subject, fact.label, fact.object, fact.chunk_id) == ("Canopy", "includes", "Relay", *parents(both))
    assert fact.score == pytest.approx(rare)


async def test_the_second_document_is_found_over_a_bridge_that_the_question_does_not_name(stores: Stores) -> None:
    first = await put(stores, "bundles", "builder>contains>parquet")
    second = await put(stores, "plans", "canopy>carries>builder")
    await put(stores, "else", "summit>carries>governance")
    found = await search(stores, "parquet")
    assert chunks(found) == [*parents(first), *parents(second)]
    builder = 1 - math.log(2) / math.log(400)
    hop = 0.4 * math.sqrt(1.0 * builder)
    assert found.hits[0].score == pytest.approx(1 - (1 - 0.3) * (1 - hop) * (1 - 0.5 * 0.4 * builder * 0.5))
    assert found.hits[1].score == pytest.approx(0.5 * 0.4 * builder * 0.5)
    assert said(found) == [("Builder", "contains", "Parquet"), ("Canopy", "carries", "Builder")]


async def test_a_bridge_between_two_entities_of_the_question_is_stronger_than_one_from_one(stores: Stores) -> None:
    await put(stores, "a", "parquet>needs>builder")
    await put(stores, "b", "canopy>carries>builder")
    await put(stores, "c", "canopy>carries>colours")
    shared = await put(stores, "shared", "builder")
    single = await put(stores, "single", "colours")
    found = await search(stores, "parquet", "canopy")
    scores = {hit.chunk_id: hit.score for hit in found.hits}
    canopy, three, two = specificity(2), specificity(3), specificity(2)
    assert scores[parents(shared)[0]] == pytest.approx(0.25 * three * (1 - (1 - 0.4) * (1 - 0.4 * canopy)))
    assert scores[parents(single)[0]] == pytest.approx(0.25 * two * 0.4 * canopy)
    assert len(found.facts) == 3


async def test_scores_are_shares_and_equal_ones_are_ordered_by_id_and_cut_at_the_limit(stores: Stores) -> None:
    for number in range(6):
        await put(stores, f"d{number}", "relay>uses>port relay>opens>port relay>has>gateway relay*50")
    found = await search(stores, "relay", "port", "gateway")
    assert len(found.hits) == 6
    assert all(0 < hit.score <= 1 for hit in found.hits)
    assert chunks(found) == sorted(chunks(found))
    assert (await search(stores, "relay", "port", "gateway", limit=2)).hits == found.hits[:2]
    assert await search(stores, "relay", limit=0) == GraphFound(hits=[], facts=[])


async def test_a_fact_is_said_once_and_there_are_at_most_twelve_best_first(stores: Stores) -> None:
    for number in range(3):
        await put(stores, f"same{number}", "relay>uses>port")
    assert said(await search(stores, "relay", "port")) == [("Relay", "uses", "Port")]
    await put(stores, "many", " ".join(f"relay>has>part{n:02d}" for n in range(20)))
    await put(stores, "beyond", " ".join(f"part00>is>thing{n}" for n in range(9)))
    facts = (await search(stores, "relay")).facts
    assert len(facts) == 12
    assert [fact.score for fact in facts] == sorted((fact.score for fact in facts), reverse=True)
    assert sum(fact.subject == "Part00" for fact in facts) == 4


async def test_a_common_entity_still_counts_in_a_chunk_that_a_rare_one_led_to(stores: Stores) -> None:
    for number in range(limits.MENTIONS + 5):
        await put(stores, f"c{number:02d}", "canopy*9")
    rare = await put(stores, "rare", "canopy parquet")
    found = await search(stores, "canopy", "parquet")
    assert chunks(found)[0] == parents(rare)[0]
    common = specificity(limits.MENTIONS + 6)
    assert found.hits[0].score == pytest.approx(1 - (1 - 0.3) * (1 - 0.3 * common))
    assert len(found.hits) == limits.MENTIONS + 1


async def test_only_so_many_keys_are_looked_up_and_strange_ones_do_no_harm(stores: Stores) -> None:
    await put(stores, "a", "relay")
    many = [f"k{number}" for number in range(graph.MOST_KEYS)]
    assert chunks(await search(stores, *many, "relay")) == []
    assert len(chunks(await search(stores, *many[1:], "relay", "relay"))) == 1
    for key in ("", "\0", "'", "%s", "x" * 5_000, "\\", "Relay"):
        assert chunks(await search(stores, key)) == []
    assert await search(stores) == GraphFound(hits=[], facts=[])


async def test_two_tenants_with_equal_ids_never_meet(stores: Stores) -> None:
    mine = await put(stores, "same", "relay>uses>port")
    theirs = await put(stores, "same", "relay>uses>secret", tenant="other")
    assert (chunks(await search(stores, "relay")), said(await search(stores, "secret"))) == (parents(mine), [])
    assert chunks(await search(stores, "relay", tenant="other")) == parents(theirs)
    assert chunks(await search(stores, "relay", tenant="third")) == []
    assert chunks(await search(stores, "relay", generation="g2")) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"billing/a", "top"}),
        ({"agent": "bot"}, {"billing/a", "billing/b", "top"}),
        ({"agent": "desk"}, {"billing/a", "top"}),
        ({"filters": Filters(directory="billing")}, {"billing/a"}),
        ({"filters": Filters(tags=("old",))}, {"top"}),
        ({"filters": Filters(sources=("git",))}, {"top"}),
        ({"filters": Filters(kinds=("qa",))}, set()),
    ],
)
async def test_only_what_a_scope_sees_is_found_directly_and_over_a_bridge(
    stores: Stores, fields: dict[str, Any], expected: set[str]
) -> None:
    ids = {}
    for doc_id, more in {
        "billing/a": {},
        "billing/b": {"agents": ("bot",)},
        "top": {"source": "git", "tags": ("old",)},
    }.items():
        ids[doc_id] = await put(stores, doc_id, f"relay>uses>port{doc_id[-1]}", "port*2", **more)
    wanted = {parents(ids[doc_id])[0] for doc_id in expected}
    found = await search(stores, "relay", **fields)
    assert set(chunks(found)) == wanted
    assert {fact.chunk_id for fact in found.facts} == wanted
    assert set(chunks(await search(stores, "port", **fields))) == {parents(ids[doc_id])[1] for doc_id in expected}


async def test_a_bridge_does_not_lead_through_what_is_not_visible(stores: Stores) -> None:
    await put(stores, "secret", "parquet>needs>builder", agents=("bot",))
    plans = await put(stores, "plans", "canopy>carries>builder")
    assert await search(stores, "parquet") == GraphFound(hits=[], facts=[])
    assert parents(plans)[0] in chunks(await search(stores, "parquet", agent="bot"))


async def test_a_repeated_write_changes_nothing(stores: Stores) -> None:
    given = await put(stores, "a", "relay>uses>port", "port*2")
    before = await search(stores, "relay", "port")
    assert await stores.graph.write(batch(given, "relay>uses>port", "port*2"))
    assert await search(stores, "relay", "port") == before


async def test_what_is_pending_is_not_found_until_it_is_live(stores: Stores) -> None:
    given = change(1, "relay")
    await stores.accept(given)
    assert await stores.graph.write(batch(given, "relay"))
    assert chunks(await search(stores, "relay")) == []
    await stores.put(given)
    assert chunks(await search(stores, "relay")) == parents(given)


async def test_a_new_version_takes_away_what_only_the_old_one_said(stores: Stores) -> None:
    old = await put(stores, "a", "relay>uses>port", "gateway")
    new = change(2, "relay>uses>socket | gateway", doc_id="a")
    await stores.put(new)
    # As `extract` does: the second passage is unchanged, and not sent again.
    written = batch(new, "relay>uses>socket", "")
    assert await stores.graph.write(written)
    assert await stores.graph_ids() == set(parents(new))
    assert chunks(await search(stores, "port")) == []
    assert said(await search(stores, "relay")) == [("Relay", "uses", "Socket")]
    assert chunks(await search(stores, "gateway")) == [parents(old)[1]]


async def test_a_deletion_hides_at_once_and_leaves_no_row(stores: Stores) -> None:
    await put(stores, "a", "relay>uses>port")
    kept = await put(stores, "b", "port")
    gone = deletion(2, doc_id="a")
    await stores.accept(gone)
    assert await search(stores, "relay") == GraphFound(hits=[], facts=[])
    assert chunks(await search(stores, "port")) == parents(kept)
    await stores.publish(receipt(gone))
    assert await stores.graph_ids() == set(parents(kept))


async def test_a_write_that_comes_after_the_deletion_writes_nothing(stores: Stores) -> None:
    given = change(1, "relay")
    await stores.put(given)
    await stores.put(deletion(2))
    assert not await stores.graph.write(batch(given, "relay"))
    assert await stores.graph_ids() == set()


async def test_a_write_while_the_deletion_is_on_its_way_goes_with_it(stores: Stores) -> None:
    given, gone = change(1, "relay"), deletion(2)
    await stores.put(given)
    await stores.accept(gone)
    await stores.graph.write(batch(given, "relay"))
    assert chunks(await search(stores, "relay")) == []
    await stores.publish(receipt(gone))
    assert await stores.graph_ids() == set()


async def test_a_late_write_of_a_replaced_version_writes_what_its_successor_shares(stores: Stores) -> None:
    """Nothing waits for the graph, and an unchanged passage is not extracted again."""
    first, second = change(1, "relay | port"), change(2, "relay | socket")
    await stores.put(first)
    await stores.put(second)
    assert await stores.graph.write(batch(first, "relay", "port"))
    assert await stores.graph_ids() == {parents(second)[0]}
    assert chunks(await search(stores, "relay")) == [parents(second)[0]]
    await stores.put(change(3, "socket"))
    assert not await stores.graph.write(batch(first, "relay", "port"))
    assert await stores.graph_ids() == set()


async def test_an_unknown_document_has_no_graph(stores: Stores) -> None:
    assert not await stores.graph.write(batch(change(1, "relay"), "relay"))
    assert await stores.graph_ids() == set()


async def test_more_than_a_chunk_may_hold_is_cut_to_the_most_mentioned_and_the_rest_is_written(stores: Stores) -> None:
    given = change(1, "many")
    await stores.put(given)
    (chunk_id,) = parents(given)
    entities = [
        Entity(key=f"k{n:03d}", name="N" * 900, kind="name", chunk_id=chunk_id, mentions=n + 1) for n in range(100)
    ]
    long = Entity(key="x" * 4_000, name="X", kind="name", chunk_id=chunk_id, mentions=900)
    pair = Relation(subject="k099", object="k098", label="l" * 4_000, chunk_id=chunk_id, weight=7.0)
    astray = Relation(subject="k099", object="nowhere", label="is", chunk_id=chunk_id)
    itself = Relation(subject="k099", object="k099", label="is", chunk_id=chunk_id)
    written = batch(given, "")
    written = GraphBatch(
        **{name: getattr(written, name) for name in written.__struct_fields__ if name not in ("entities", "relations")},
        entities=(*entities, long),
        relations=(pair, astray, itself),
    )
    assert await stores.graph.write(written)
    assert chunks(await search(stores, "k099")) == [chunk_id]
    assert chunks(await search(stores, "k001")) == []
    assert chunks(await search(stores, "x" * 4_000)) == []
    (fact,) = (await search(stores, "k099", "k098")).facts
    assert (len(fact.subject), len(fact.label), fact.score) == (200, 120, pytest.approx(1.0))
