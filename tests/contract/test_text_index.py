"""Full text: which parents match, and in what order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from schemas.queries import Filters
from streams.domain import lexemes
from tests.contract.building import GENERATION, change, cut, receipt, scope, text_rows
from tests.contract.stores import Stores


def parent_of(body: str, doc_id: str, title: str) -> str:
    return cut(change(1, body, doc_id=doc_id, title=title))[0].id


async def test_any_of_the_terms_is_enough_and_a_headline_weighs_ten_times_a_word(stores: Stores) -> None:
    await stores.put(change(1, "invoice refund invoice", doc_id="a", title="Plans"))
    await stores.put(change(1, "money back", doc_id="b", title="Refund"))
    await stores.put(change(1, "nothing of it", doc_id="c", title="Seats"))
    hits = (await stores.texts.search(scope(), ["refund", "invoic"], 10, kind="document")).hits
    assert [(hit.chunk_id, pytest.approx(hit.score, abs=1e-6)) for hit in hits] == [
        (parent_of("money back", "b", "Refund"), 1.0),
        (parent_of("invoice refund invoice", "a", "Plans"), 0.1 + 0.1 + 0.1),
    ]


async def test_equal_scores_are_ordered_by_id_and_cut_at_the_limit(stores: Stores) -> None:
    for number in range(5):
        await stores.put(change(1, "refund", doc_id=f"d{number}"))
    hits = (await stores.texts.search(scope(), ["refund"], 10, kind="document")).hits
    assert [hit.chunk_id for hit in hits] == sorted(hit.chunk_id for hit in hits)
    assert (await stores.texts.search(scope(), ["refund"], 3, kind="document")).hits == hits[:3]
    assert (await stores.texts.search(scope(), ["refund"], 0, kind="document")).hits == []


async def test_children_are_not_found_by_words(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    (hit,) = (await stores.texts.search(scope(), ["refund"], 10, kind="document")).hits
    assert hit.chunk_id == cut(change(1, "refund"))[0].id


async def test_no_terms_find_nothing_and_strange_ones_do_no_harm(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    for terms in ([], [""], ["\0"], ["'"], ["a & b | !c"], ["\\"], ["%s"], ["refund:*"], ["*"], ["x" * 5_000]):
        for prefix in (False, True):
            assert (await stores.texts.search(scope(), terms, 10, kind="document", prefix=prefix)).hits == []


async def test_a_repeated_term_counts_once(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    once = (await stores.texts.search(scope(), ["refund"], 10, kind="document")).hits
    assert (await stores.texts.search(scope(), ["refund", "refund"], 10, kind="document")).hits == once


async def test_a_search_says_how_common_its_terms_are_among_the_tenants_passages(stores: Stores) -> None:
    await stores.put(change(1, "refund invoice", doc_id="a", title="A"))
    await stores.put(change(1, "refund", doc_id="b", title="B", agents=("bot",)))
    await stores.put(change(1, "seats", doc_id="c", title="C", tags=("plans",)))
    await stores.put(change(1, "refund", doc_id="d", tenant="other"))
    found = await stores.texts.search(scope(), ["invoic", "refund", "nowher"], 10, kind="document")
    assert (found.frequencies, found.counted) == ((1, 2, 0), 3)
    narrowed = await stores.texts.search(
        scope(filters=Filters(tags=("plans",))), ["seat", "refund"], 10, kind="document"
    )
    assert (narrowed.frequencies, narrowed.counted) == ((1, 2), 3)
    nothing = await stores.texts.search(scope(), ["nowher"], 10, kind="document")
    assert (nothing.hits, nothing.frequencies, nothing.counted) == ([], (0,), 3)


async def test_pairs_and_documents_are_searched_and_counted_apart(stores: Stores) -> None:
    page, pair = (
        change(1, "refund", doc_id="a", title="A"),
        change(1, "refund | invoice", doc_id="b", kind="qa", title="B"),
    )
    await stores.put(page)
    await stores.put(pair)
    for of, kind, frequencies, counted in ((page, "document", (1, 0), 1), (pair, "qa", (1, 1), 2)):
        found = await stores.texts.search(scope(), ["refund", "invoic"], 10, kind=kind)  # type: ignore[arg-type]
        parents = {chunk.id for chunk in cut(of) if chunk.level == "parent"}
        assert {hit.chunk_id for hit in found.hits} == parents
        assert (found.frequencies, found.counted) == (frequencies, counted)
        other = Filters(kinds=("qa",) if kind == "document" else ("document",))
        assert (await stores.texts.search(scope(filters=other), ["refund"], 10, kind=kind)).hits == []  # type: ignore[arg-type]
        both = Filters(kinds=("qa", "document"))
        assert await stores.texts.search(scope(filters=both), ["refund", "invoic"], 10, kind=kind) == found  # type: ignore[arg-type]


async def test_pairs_keep_to_their_tenant_agent_and_filters(stores: Stores) -> None:
    await stores.put(change(1, "refund", doc_id="open", kind="qa"))
    await stores.put(change(1, "refund", doc_id="bots", kind="qa", agents=("bot",), tags=("eu",)))
    await stores.put(change(1, "refund", doc_id="open", kind="qa", tenant="other"))

    async def found(**of: Any) -> list[str]:
        hits = (await stores.texts.search(scope(**of), ["ref"], 10, kind="qa", prefix=True)).hits
        passages = await stores.passages.resolve(scope(**of), [hit.chunk_id for hit in hits])
        assert len(passages) == len(hits)
        return sorted(passage.doc_id for passage in passages.values())

    assert await found() == ["open"]
    assert await found(agent="bot") == ["bots", "open"]
    assert await found(agent="bot", filters=Filters(tags=("eu",))) == ["bots"]
    assert await found(filters=Filters(sources=("elsewhere",))) == []
    assert await found(generation="g2") == []


async def test_a_page_that_becomes_a_pair_is_found_as_a_pair_alone(stores: Stores) -> None:
    await stores.put(change(1, "refund"))
    await stores.put(change(2, "refund", kind="qa"))
    assert (await stores.texts.search(scope(), ["refund"], 10, kind="document")).hits == []
    (hit,) = (await stores.texts.search(scope(), ["refund"], 10, kind="qa")).hits
    assert hit.chunk_id == cut(change(2, "refund", kind="qa"))[0].id


async def test_a_term_may_stand_for_every_word_that_begins_with_it(stores: Stores) -> None:
    await stores.put(change(1, "refundable refund fund", doc_id="a", title="Plans"))
    await stores.put(change(1, "возвратный платёж", doc_id="b", title="Возврат"))

    async def scores(*terms: str, prefix: bool) -> list[float]:
        found = await stores.texts.search(scope(), terms, 10, kind="document", prefix=prefix)
        return [round(hit.score, 4) for hit in found.hits]

    assert await scores("refun", prefix=False) == []
    assert await scores("refun", prefix=True) == [0.1 + 0.1]
    # One word that two terms begin counts once.
    assert await scores("refun", "re", "refund", prefix=True) == [0.1 + 0.1]
    assert await scores("und", prefix=True) == []
    assert await scores("возвр", prefix=False) == []
    assert await scores("возвр", prefix=True) == [1.0 + 0.1]
    found = await stores.texts.search(scope(), ["refun", "fun", "x"], 10, kind="document", prefix=True)
    assert (found.frequencies, found.counted) == ((1, 1, 0), 2)


@pytest.mark.parametrize("word", ["o'neil", "a\\b", "a:b", "a*b", "a & b", "50%s", "a:*"])
async def test_every_character_of_a_term_is_just_text_as_a_prefix_too(stores: Stores, word: str) -> None:
    given = change(1, "text")
    await stores.accept(given)
    rows = [replace(row, lexemes=lexemes.quote(word) + ":1") if row.lexemes else row for row in text_rows(cut(given))]
    await stores.texts.write(given.key, 1, GENERATION, rows, kind="document")
    await stores.write(given, cut(given))
    await stores.publish(receipt(given, "text"))
    await stores.publish(receipt(given, "vectors"))
    for asked in (word[:2], word):
        assert len((await stores.texts.search(scope(), [asked], 10, kind="document", prefix=True)).hits) == 1
    for asked in (f"{word}*", f"{word}:*", f"'{word}", f"{word}\\"):
        assert (await stores.texts.search(scope(), [asked], 10, kind="document", prefix=True)).hits == []


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
