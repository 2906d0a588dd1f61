"""Full text: which parents match, and in what order."""

from __future__ import annotations

import pytest

from schemas.queries import Filters
from tests.contract.building import change, cut, scope
from tests.contract.stores import Stores


def parent_of(body: str, doc_id: str, title: str) -> str:
    return cut(change(1, body, doc_id=doc_id, title=title))[0].id


async def test_any_of_the_terms_is_enough_and_a_headline_weighs_ten_times_a_word(stores: Stores) -> None:
    await stores.put(change(1, "invoice refund invoice", doc_id="a", title="Plans"))
    await stores.put(change(1, "money back", doc_id="b", title="Refund"))
    await stores.put(change(1, "nothing of it", doc_id="c", title="Seats"))
    hits = (await stores.texts.search(scope(), ["refund", "invoic"], 10)).hits
    assert [(hit.chunk_id, pytest.approx(hit.score, abs=1e-6)) for hit in hits] == [
        (parent_of("money back", "b", "Refund"), 1.0),
        (parent_of("invoice refund invoice", "a", "Plans"), 0.1 + 0.1 + 0.1),
    ]


async def test_equal_scores_are_ordered_by_id_and_cut_at_the_limit(stores: Stores) -> None:
    for number in range(5):
        await stores.put(change(1, "refund", doc_id=f"d{number}"))
    hits = (await stores.texts.search(scope(), ["refund"], 10)).hits
    assert [hit.chunk_id for hit in hits] == sorted(hit.chunk_id for hit in hits)
    assert (await stores.texts.search(scope(), ["refund"], 3)).hits == hits[:3]
    assert (await stores.texts.search(scope(), ["refund"], 0)).hits == []


async def test_children_are_not_found_by_words(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    (hit,) = (await stores.texts.search(scope(), ["refund"], 10)).hits
    assert hit.chunk_id == cut(change(1, "refund"))[0].id


async def test_no_terms_find_nothing_and_strange_ones_do_no_harm(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    for terms in ([], [""], ["'"], ["a & b | !c"], ["\\"], ["%s"], ["@g1/acme"], ["x" * 5_000]):
        hits = (await stores.texts.search(scope(), terms, 10)).hits
        assert hits == [] or terms == ["@g1/acme"]


async def test_a_repeated_term_counts_once(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    once = (await stores.texts.search(scope(), ["refund"], 10)).hits
    assert (await stores.texts.search(scope(), ["refund", "refund"], 10)).hits == once


async def test_a_search_says_how_common_its_terms_are_among_the_tenants_passages(stores: Stores) -> None:
    await stores.put(change(1, "refund invoice", doc_id="a", title="A"))
    await stores.put(change(1, "refund", doc_id="b", title="B", agents=("bot",)))
    await stores.put(change(1, "seats", doc_id="c", title="C", tags=("plans",)))
    await stores.put(change(1, "refund", doc_id="d", tenant="other"))
    found = await stores.texts.search(scope(), ["invoic", "refund", "nowher"], 10)
    assert (found.frequencies, found.counted) == ((1, 2, 0), 3)
    narrowed = await stores.texts.search(scope(filters=Filters(tags=("plans",))), ["seat", "refund"], 10)
    assert (narrowed.frequencies, narrowed.counted) == ((1, 2), 3)
    assert (await stores.texts.search(scope(), ["nowher"], 10)).hits == []


async def test_a_passage_says_which_terms_it_has_wherever_they_stand(stores: Stores) -> None:
    given = change(1, "refund of an invoice", title="Plans")
    await stores.put(given)
    ids = [chunk.id for chunk in cut(given)]
    found = await stores.passages.resolve(scope(), ids, ["seat", "plan", "refund", "o'neil & co"])
    assert {passage.terms for passage in found.values()} == {(1, 2)}
    assert {passage.terms for passage in (await stores.passages.resolve(scope(), ids)).values()} == {()}


async def test_a_chunk_is_gone_once_no_version_has_it(stores: Stores) -> None:
    first, second = change(1, "one"), change(2, "two")
    await stores.put(first)
    ids = [chunk.id for chunk in cut(first)]
    assert not await stores.passages.gone(scope(), ids)
    await stores.accept(second)
    coming = [chunk.id for chunk in cut(second)]
    assert not await stores.passages.gone(scope(), [*ids, *coming])
    await stores.put(second)
    assert await stores.passages.gone(scope(), ids)
    assert not await stores.passages.gone(scope(), coming)
