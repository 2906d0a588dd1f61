"""The fence: who sees which passage, by search, by id and by name."""

from __future__ import annotations

from typing import get_args

import pytest

from schemas.documents import DocKey, Kind
from schemas.queries import Filters
from tests.contract.building import KEY, change, cut, deletion, scope
from tests.contract.stores import Stores


async def visible(stores: Stores, **fields: object) -> set[str]:
    """The doc ids that a scope sees: the same by ids, by words and by both kinds of vectors, or the test ends here."""
    where = scope(**fields)
    every = sorted(await stores.vector_ids("g1"))
    by_id = {passage.doc_id for passage in (await stores.passages.resolve(where, every)).values()}
    documents, pairs = [(await stores.texts.search(where, ["refund"], 50, kind=kind)).hits for kind in get_args(Kind)]
    for hits in (
        [*documents, *pairs],
        await stores.vectors.search_dense(where, [1.0] * 64, ("parent",), 50),
    ):
        found = await stores.passages.resolve(where, [hit.chunk_id for hit in hits])
        assert len(found) == len(hits)
        assert {passage.doc_id for passage in found.values()} == by_id
    return by_id


async def test_a_tenant_never_sees_the_document_of_another_with_the_same_name(stores: Stores) -> None:
    mine, theirs = change(1, "refund in 30 days"), change(1, "refund never", tenant="other")
    await stores.put(mine)
    await stores.put(theirs)
    both = [chunk.id for chunk in (*cut(mine), *cut(theirs))]
    bodies = {p.body for p in (await stores.passages.resolve(scope(), both)).values()}
    assert bodies == {"refund in 30 days"}
    assert len((await stores.texts.search(scope(tenant="other"), ["refund"], 10, kind="document")).hits) == 1
    assert await visible(stores, tenant="third") == set()
    views = await stores.passages.describe(DocKey(tenant="other", source="help", doc_id=KEY.doc_id), "g1")
    assert [chunk.body for chunk in views[0].chunks] == ["refund never", "refund never"]


async def test_generations_do_not_mix(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    every = sorted(await stores.vector_ids("g1"))
    assert await stores.passages.resolve(scope(generation="g2"), every) == {}
    assert (await stores.texts.search(scope(generation="g2"), ["refund"], 10, kind="document")).hits == []
    assert await stores.passages.live_versions("acme", "g2", [("help", KEY.doc_id)]) == {}


async def test_a_restricted_document_is_seen_by_its_agents_only(stores: Stores) -> None:
    await stores.put(change(1, "refund", doc_id="open"))
    await stores.put(change(1, "refund", doc_id="two", agents=("bot", "desk")))
    assert await visible(stores) == {"open"}
    assert await visible(stores, agent="bot") == {"open", "two"}
    assert await visible(stores, agent="phone") == {"open"}


async def test_new_agents_apply_with_the_flip(stores: Stores) -> None:
    await stores.put(change(1, "refund", agents=("bot",)))
    await stores.put(change(2, "refund", agents=("desk",)))
    assert await visible(stores, agent="bot") == set()
    assert await visible(stores, agent="desk") == {KEY.doc_id}
    await stores.put(change(3, "refund"))
    assert await visible(stores) == {KEY.doc_id}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), {"billing/a.md", "billing/eu/b.md", "billing_x/c.md", "top"}),
        (Filters(directory="billing"), {"billing/a.md", "billing/eu/b.md"}),
        (Filters(directory="billing/"), {"billing/a.md", "billing/eu/b.md"}),
        (Filters(directory="billing/eu"), {"billing/eu/b.md"}),
        (Filters(directory="billing_"), set()),
        (Filters(directory="b%"), set()),
        (Filters(tags=("eu",)), {"billing/eu/b.md"}),
        (Filters(tags=("eu", "old")), {"billing/eu/b.md", "top"}),
        (Filters(sources=("git",)), {"top"}),
        (Filters(sources=("git", "help"), tags=("old",)), {"top"}),
        (Filters(kinds=("qa",)), {"billing_x/c.md"}),
        (Filters(kinds=("qa",), tags=("eu",)), set()),
    ],
)
async def test_a_caller_narrows_by_source_tag_directory_and_kind(
    stores: Stores, filters: Filters, expected: set[str]
) -> None:
    await stores.put(change(1, "refund a", doc_id="billing/a.md"))
    await stores.put(change(1, "refund b", doc_id="billing/eu/b.md", tags=("eu", "new")))
    await stores.put(change(1, "refund c", doc_id="billing_x/c.md", kind="qa"))
    await stores.put(change(1, "refund d", doc_id="top", source="git", tags=("old",)))
    assert await visible(stores, filters=filters) == expected


async def test_a_chunk_leads_to_its_parent_as_the_live_version_says(stores: Stores) -> None:
    first = change(1, "refund", title="Old", uri="https://one.example")
    parent, child = cut(first)
    await stores.put(first)
    second = change(2, "refund", title="Old", uri="https://two.example", trust="external")
    await stores.put(second)
    found = await stores.passages.resolve(scope(), [child.id, parent.id, child.id])
    assert set(found) == {parent.id, child.id}
    for passage in found.values():
        assert (passage.passage_id, passage.version) == (parent.id, 2)
        assert (passage.uri, passage.trust, passage.heading_path) == ("https://two.example", "external", ("Old",))


async def test_what_is_pending_or_replaced_is_not_resolved(stores: Stores) -> None:
    old, new = change(1, "old"), change(2, "new")
    await stores.put(old)
    await stores.accept(new)
    await stores.write(new, cut(new))
    ids = [chunk.id for chunk in (*cut(old), *cut(new))]
    assert {p.body for p in (await stores.passages.resolve(scope(), ids)).values()} == {"old"}
    await stores.put(new)
    assert {p.body for p in (await stores.passages.resolve(scope(), ids)).values()} == {"new"}


async def test_a_deletion_that_is_on_its_way_hides_the_text_from_people_too(stores: Stores) -> None:
    await stores.put(change(1, "one"))
    (view,) = await stores.passages.describe(KEY, "g1")
    assert [chunk.body for chunk in view.chunks] == ["one", "one"]
    await stores.accept(deletion(2))
    views = await stores.passages.describe(KEY, "g1")
    assert [(view.version, view.chunks) for view in views] == [(2, ()), (1, ())]


async def test_pinned_documents_come_for_their_agent_alone_and_in_reading_order(stores: Stores) -> None:
    await stores.put(change(1, "one | two", doc_id="b", pinned=("bot",)))
    await stores.put(change(1, "three", doc_id="a", pinned=("bot", "desk")))
    await stores.put(change(1, "four", doc_id="c"))
    await stores.put(change(1, "five", doc_id="a", tenant="other", pinned=("bot",)))
    await stores.put(change(1, "six", doc_id="d", pinned=("bot",), agents=("desk",)))

    async def bodies(limit: int = 10, **fields: object) -> list[str]:
        return [each.body for each in await stores.passages.pinned(scope(**fields), limit)]

    assert await bodies(agent="bot") == ["three", "one", "two"]
    assert await bodies(agent="bot", limit=2) == ["three", "one"]
    assert await bodies(agent="desk") == ["three"]
    assert await bodies(agent="phone") == []
    assert await bodies() == []
    assert await bodies(agent="bot", filters=Filters(directory="c")) == ["three", "one", "two"]
    assert await bodies(agent="bot", tenant="other") == ["five"]


async def test_a_pinned_document_goes_with_its_deletion_and_with_the_version_that_unpins_it(stores: Stores) -> None:
    await stores.put(change(1, "one", doc_id="a", pinned=("bot",)))
    await stores.put(change(1, "two", doc_id="b", pinned=("bot",)))
    await stores.put(deletion(2, doc_id="a"))
    await stores.put(change(2, "two", doc_id="b"))
    assert list(await stores.passages.pinned(scope(agent="bot"), 10)) == []


async def test_the_text_of_the_piece_that_was_hit_comes_with_its_passage(stores: Stores) -> None:
    document = change(1, "refund")
    await stores.put(document)
    parent, child = cut(document)
    found = await stores.passages.resolve(scope(), [parent.id, child.id])
    assert (found[parent.id].evidence_body, found[child.id].evidence_body) == ("", "refund")


async def test_live_versions_are_read_for_many_documents(stores: Stores) -> None:
    await stores.put(change(3, "a", doc_id="a"))
    await stores.put(change(5, "b", doc_id="b", source="git"))
    await stores.put(deletion(7, doc_id="c"))
    await stores.accept(change(1, "d", doc_id="d"))
    asked = [("help", "a"), ("git", "b"), ("help", "b"), ("help", "c"), ("help", "d")]
    found = await stores.passages.live_versions("acme", "g1", asked)
    assert found == {("help", "a"): 3, ("git", "b"): 5, ("help", "c"): 7}


async def test_a_deletion_counts_from_when_it_is_accepted_and_a_re_creation_above_it(stores: Stores) -> None:
    async def live() -> int | None:
        found = await stores.passages.live_versions("acme", "g1", [("help", KEY.doc_id)])
        return found.get(("help", KEY.doc_id))

    await stores.put(change(2, "a"))
    await stores.accept(deletion(5))
    assert await live() == 5
    await stores.accept(change(7, "b"))
    assert await live() == 5
    await stores.put(change(7, "b"))
    assert await live() == 7
    elsewhere = await stores.passages.live_versions("birch", "g1", [("help", KEY.doc_id)])
    assert elsewhere == {}, "another tenant's deletion is not seen"


async def test_nothing_is_asked_for_nothing(stores: Stores) -> None:
    assert await stores.passages.resolve(scope(), []) == {}
    assert await stores.passages.live_versions("acme", "g1", []) == {}
    assert await stores.passages.describe(KEY, "g1") == ()


async def test_documents_and_chunks_are_counted_by_tenant(stores: Stores) -> None:
    await stores.put(change(1, "a | b"))
    await stores.put(change(1, "a", doc_id="second"))
    await stores.put(change(1, "a", tenant="other"))
    await stores.put(deletion(2, tenant="other"))
    counted = await stores.generations.counts("g1")
    assert [(each.tenant, each.documents, each.chunks) for each in counted] == [("acme", 2, 6)]
