"""Contexts of passages: they lead to no passage, come with it, belong to its tenant, and go when it goes."""

from __future__ import annotations

from schemas.documents import DocumentChange
from tests.contract.building import change, cut, deletion, scope
from tests.contract.stores import Stores


def parents(of: DocumentChange) -> list[str]:
    return [chunk.id for chunk in cut(of) if chunk.level == "parent"]


async def add(stores: Stores, of: DocumentChange, *contexts: str) -> None:
    await stores.contexts.write(of.key, "g1", dict(zip(parents(of), contexts, strict=True)))


async def told(stores: Stores, of: DocumentChange) -> dict[str, str]:
    """The contexts that a question's passages come with, by body."""
    found = await stores.passages.resolve(scope(tenant=of.tenant), [chunk.id for chunk in cut(of)])
    return {passage.body: passage.context for passage in found.values()}


async def test_a_passage_comes_with_its_context_whichever_of_its_chunks_was_hit(stores: Stores) -> None:
    page = change(1, "one | two")
    await stores.put(page)
    assert await told(stores, page) == {"one": "", "two": ""}
    await add(stores, page, "The first.", "")
    for level in ("parent", "child"):
        hit = [chunk.id for chunk in cut(page) if chunk.level == level and chunk.body == "one"]
        ((_, found),) = (await stores.passages.resolve(scope(), hit)).items()
        assert (found.context, found.body) == ("The first.", "one")
    assert await stores.contexts.read("acme", parents(page)) == dict(
        zip(parents(page), ("The first.", ""), strict=True)
    )


async def test_what_is_kept_stays_as_it_is_and_may_come_before_the_text(stores: Stores) -> None:
    page = change(1, "one | two")
    await stores.accept(page)
    await add(stores, page, "The first.", "The second.")
    await add(stores, page, "Another.", "Another.")
    await stores.put(page)
    assert await told(stores, page) == {"one": "The first.", "two": "The second."}


async def test_an_edit_takes_the_contexts_of_what_it_replaces_and_leaves_the_others(stores: Stores) -> None:
    old, new = change(1, "one | two"), change(2, "one | three")
    await stores.put(old)
    await add(stores, old, "The first.", "The second.")
    await stores.put(new)
    kept, gone = parents(old)
    assert await stores.contexts.read("acme", [kept, gone, parents(new)[1]]) == {kept: "The first."}
    assert await told(stores, new) == {"one": "The first.", "three": ""}
    await add(stores, old, "Late.", "Late.")  # a writer that was slower than the edit
    assert await stores.contexts.read("acme", [kept, gone]) == {kept: "The first."}


async def test_a_deletion_takes_all_contexts_and_none_comes_after_it(stores: Stores) -> None:
    page = change(1, "one")
    await stores.put(page)
    await add(stores, page, "The first.")
    await stores.put(deletion(2))
    assert await stores.contexts.read("acme", parents(page)) == {}
    await add(stores, page, "Late.")
    assert await stores.contexts.read("acme", parents(page)) == {}


async def test_an_unknown_document_has_no_room_for_contexts(stores: Stores) -> None:
    page = change(1, "one")
    await add(stores, page, "The first.")
    await stores.contexts.write(page.key, "g1", {})
    assert await stores.contexts.read("acme", parents(page)) == {}
    assert await stores.contexts.read("acme", []) == {}


async def test_no_tenant_reads_another_s(stores: Stores) -> None:
    mine, theirs = change(1, "one"), change(1, "one", tenant="other")
    await stores.put(mine)
    await stores.put(theirs)
    await add(stores, theirs, "Theirs.")
    assert await told(stores, mine) == {"one": ""}
    assert await stores.contexts.read("acme", parents(theirs)) == {}
    await stores.contexts.write(mine.key, "g1", {parents(theirs)[0]: "Mine."})
    assert await told(stores, theirs) == {"one": "Theirs."}
