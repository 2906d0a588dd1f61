"""Full text: which parents match, and in what order."""

from __future__ import annotations

import pytest

from tests.contract.building import change, cut, scope
from tests.contract.stores import Stores


def parent_of(body: str, doc_id: str, title: str) -> str:
    return cut(change(1, body, doc_id=doc_id, title=title))[0].id


async def test_any_of_the_terms_is_enough_and_a_headline_weighs_ten_times_a_word(stores: Stores) -> None:
    await stores.put(change(1, "invoice refund invoice", doc_id="a", title="Plans"))
    await stores.put(change(1, "money back", doc_id="b", title="Refund"))
    await stores.put(change(1, "nothing of it", doc_id="c", title="Seats"))
    hits = await stores.texts.search(scope(), ["refund", "invoic"], 10)
    assert [(hit.chunk_id, pytest.approx(hit.score, abs=1e-6)) for hit in hits] == [
        (parent_of("money back", "b", "Refund"), 1.0),
        (parent_of("invoice refund invoice", "a", "Plans"), 0.1 + 0.1 + 0.1),
    ]


async def test_equal_scores_are_ordered_by_id_and_cut_at_the_limit(stores: Stores) -> None:
    for number in range(5):
        await stores.put(change(1, "refund", doc_id=f"d{number}"))
    hits = await stores.texts.search(scope(), ["refund"], 10)
    assert [hit.chunk_id for hit in hits] == sorted(hit.chunk_id for hit in hits)
    assert await stores.texts.search(scope(), ["refund"], 3) == hits[:3]
    assert await stores.texts.search(scope(), ["refund"], 0) == []


async def test_children_are_not_found_by_words(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    (hit,) = await stores.texts.search(scope(), ["refund"], 10)
    assert hit.chunk_id == cut(change(1, "refund"))[0].id


async def test_no_terms_find_nothing_and_strange_ones_do_no_harm(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    for terms in ([], [""], ["'"], ["a & b | !c"], ["\\"], ["%s"], ["@g1/acme"], ["x" * 5_000]):
        hits = await stores.texts.search(scope(), terms, 10)
        assert hits == [] or terms == ["@g1/acme"]


async def test_a_repeated_term_counts_once(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    once = await stores.texts.search(scope(), ["refund"], 10)
    assert await stores.texts.search(scope(), ["refund", "refund"], 10) == once
