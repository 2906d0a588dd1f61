"""The graph as a whole and its overviews: whose passages are put together, who sees it, and what takes it away."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.queries import Filters
from streams.domain.communities import Bond
from streams.domain.overviews import Made, OverviewsFound
from tests.contract import building
from tests.contract.building import change, deletion, receipt, scope
from tests.contract.stores import Stores
from tests.contract.test_graph import batch, parents, put

AT = ("acme", building.GENERATION)
ALL: tuple[str, ...] = ()


def made(name: str, *evidence: str, text: str = "Relays and ports.", weight: float = 1.0) -> Made:
    return Made(hash=name, title=f"About {name}", text=text, language="en", weight=weight, evidence=evidence, model="m")


async def search(stores: Stores, *terms: str, limit: int = 9, **fields: Any) -> OverviewsFound:
    return await stores.overviews.search(scope(**fields), terms, limit)


def names(found: OverviewsFound) -> list[str]:
    return [each.hash for each in found.matched]


async def test_bonds_are_summed_over_live_passages_in_both_directions(stores: Stores) -> None:
    await put(stores, "a", "relay>uses>port port>needs>relay relay>has>gateway")
    await put(stores, "b", "relay>uses>port", "port>has>gateway")
    await put(stores, "gone", "relay>uses>port")
    await stores.accept(deletion(2, doc_id="gone"))
    bonds = await stores.outlines.bonds(*AT, ALL, 10)
    assert bonds == [Bond("port", "relay", 3.0), Bond("gateway", "port", 1.0), Bond("gateway", "relay", 1.0)]
    assert await stores.outlines.bonds(*AT, ALL, 2) == bonds[:2]
    assert await stores.outlines.bonds("other", building.GENERATION, ALL, 10) == []
    assert await stores.outlines.bonds("acme", "g2", ALL, 10) == []


async def test_passages_of_different_audiences_are_never_put_together(stores: Stores) -> None:
    await put(stores, "open", "relay>uses>port", "relay")
    await put(stores, "bots", "relay>uses>secret", agents=("desk", "bot"))
    await put(stores, "others", "relay>uses>secret", agents=("bot", "desk", "bot"))
    await put(stores, "one", "relay>uses>hidden", agents=("bot",))
    assert await stores.outlines.audiences(*AT) == [(), ("bot", "desk"), ("bot",)]
    assert await stores.outlines.bonds(*AT, ALL, 10) == [Bond("port", "relay", 1.0)]
    assert await stores.outlines.bonds(*AT, ("bot", "desk"), 10) == [Bond("relay", "secret", 2.0)]
    found = await stores.outlines.sources(*AT, ("bot",), ("relay", "hidden", "port", "secret"), 10)
    assert [each.body for each in found] == ["relay>uses>hidden"]


async def test_sources_are_the_passages_that_mention_most_of_the_keys_two_at_least(stores: Stores) -> None:
    most = await put(stores, "most", "relay port gateway")
    often = await put(stores, "often", "relay*4 port*9")
    once = await put(stores, "once", "relay port")
    await put(stores, "single", "relay*9")
    keys = ("relay", "port", "gateway", "relay")
    found = await stores.outlines.sources(*AT, ALL, keys, 10)
    assert [each.chunk_id for each in found] == [*parents(most), *parents(often), *parents(once)]
    assert (found[0].heading_path, found[0].body, found[0].language) == (("Refunds",), "relay port gateway", "en")
    assert await stores.outlines.sources(*AT, ALL, keys, 1) == found[:1]
    assert await stores.outlines.sources(*AT, ALL, (), 10) == []


async def test_an_overview_is_kept_once_and_found_by_its_terms(stores: Stores) -> None:
    of = await put(stores, "a", "relay", "port")
    await put(stores, "b", "canopy")
    for _ in range(2):
        assert await stores.overviews.put(*AT, made("x", *parents(of)))
    assert await stores.overviews.put(*AT, made("y", *parents(of), text="Ports alone.", weight=5.0))
    assert await stores.overviews.kept(*AT) == {"x", "y"}
    found = await search(stores, "relay", "port")
    assert [(each.hash, each.terms) for each in found.matched] == [("x", (0, 1)), ("y", (1,))]
    first = found.matched[0]
    assert (first.title, first.text, first.evidence) == ("About x", "Relays and ports.", tuple(parents(of)))
    assert names(await search(stores)) == ["y", "x"]
    assert names(await search(stores, limit=1)) == ["y"]
    assert names(await search(stores, "port")) == ["y", "x"]
    nothing = await search(stores, "elephant", "'", "\\", "a' | 'b")
    assert (nothing.matched, nothing.known) == ([], True)


async def test_an_overview_without_a_text_is_kept_and_never_found(stores: Stores) -> None:
    of = await put(stores, "a", "relay")
    assert await stores.overviews.put(*AT, made("x", *parents(of), text=""))
    assert await stores.overviews.kept(*AT) == {"x"}
    assert await search(stores) == OverviewsFound(matched=[], known=False)


async def test_a_deletion_takes_an_overview_of_several_documents_away_at_once_and_leaves_no_row(stores: Stores) -> None:
    one, other = await put(stores, "a", "relay"), await put(stores, "b", "port")
    rest = await put(stores, "c", "gateway")
    await stores.overviews.put(*AT, made("both", *parents(one), *parents(other)))
    await stores.overviews.put(*AT, made("rest", *parents(rest)))
    gone = deletion(2, doc_id="b")
    await stores.accept(gone)
    assert names(await search(stores)) == ["rest"]
    assert await stores.overviews.kept(*AT) == {"rest"}
    await stores.publish(receipt(gone))
    assert await stores.overviews.retain(*AT, ()) == 1  # the other one had gone with its chunk


async def test_a_change_of_one_passage_takes_away_what_was_made_of_it_and_leaves_the_rest(stores: Stores) -> None:
    old = await put(stores, "a", "relay", "port")
    await stores.overviews.put(*AT, made("first", parents(old)[0]))
    await stores.overviews.put(*AT, made("second", parents(old)[1]))
    new = change(2, "relay changed | port", doc_id="a")
    await stores.accept(new)
    assert set(names(await search(stores))) == {"first", "second"}  # until the new version is live
    await stores.put(new)
    assert names(await search(stores)) == ["second"]
    assert await stores.overviews.kept(*AT) == {"second"}


async def test_an_overview_that_comes_after_the_change_or_the_deletion_is_not_kept(stores: Stores) -> None:
    old, other = await put(stores, "a", "relay"), await put(stores, "b", "port")
    await stores.put(change(2, "socket", doc_id="a"))
    assert not await stores.overviews.put(*AT, made("x", *parents(old), *parents(other)))
    await stores.accept(deletion(2, doc_id="b"))
    assert not await stores.overviews.put(*AT, made("y", *parents(other)))
    assert not await stores.overviews.put("other", building.GENERATION, made("z", *parents(other)))
    assert await search(stores) == OverviewsFound(matched=[], known=False)


async def test_retaining_drops_the_others_of_this_tenant_and_generation_alone(stores: Stores) -> None:
    mine, theirs = await put(stores, "a", "relay"), await put(stores, "a", "relay", tenant="other")
    for name in ("x", "y", "z"):
        await stores.overviews.put(*AT, made(name, *parents(mine)))
    await stores.overviews.put("other", building.GENERATION, made("x", *parents(theirs)))
    assert await stores.overviews.retain(*AT, ["y", "unknown"]) == 2
    assert (names(await search(stores)), names(await search(stores, tenant="other"))) == (["y"], ["x"])
    assert names(await search(stores, generation="g2")) == names(await search(stores, tenant="third")) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"open"}),
        ({"agent": "desk"}, {"open"}),
        ({"agent": "bot"}, {"open", "bot", "mixed"}),
        ({"agent": "bot", "filters": Filters(tags=("old",))}, {"bot"}),
        ({"filters": Filters(directory="help")}, {"open"}),
        ({"agent": "bot", "filters": Filters(directory="help")}, {"open"}),
        ({"filters": Filters(kinds=("qa",))}, set()),
    ],
)
async def test_only_an_overview_whose_every_passage_a_scope_sees_is_found(
    stores: Stores, fields: dict[str, Any], expected: set[str]
) -> None:
    open_to_all = await put(stores, "help/a", "relay", "port")
    restricted = await put(stores, "internal/b", "relay", agents=("bot",), tags=("old",))
    await stores.overviews.put(*AT, made("open", *parents(open_to_all)))
    await stores.overviews.put(*AT, made("bot", *parents(restricted)))
    await stores.overviews.put(*AT, made("mixed", *parents(open_to_all), *parents(restricted)))
    assert set(names(await search(stores, **fields))) == expected
    assert set(names(await search(stores, "relay", **fields))) == expected


async def test_who_may_not_see_a_document_any_more_is_not_told_of_it(stores: Stores) -> None:
    of = await put(stores, "a", "relay")
    await stores.overviews.put(*AT, made("x", *parents(of)))
    await stores.put(change(2, "relay", doc_id="a", agents=("bot",)))
    assert names(await search(stores)) == []
    assert names(await search(stores, agent="bot")) == ["x"]


async def test_a_graph_that_is_written_late_is_part_of_the_outline(stores: Stores) -> None:
    of = change(1, "relay>uses>port", doc_id="a")
    await stores.accept(of)
    await stores.graph.write(batch(of, "relay>uses>port"))
    assert (await stores.outlines.bonds(*AT, ALL, 10), await stores.outlines.audiences(*AT)) == ([], [])
    await stores.put(of)
    assert await stores.outlines.bonds(*AT, ALL, 10) == [Bond("port", "relay", 1.0)]
