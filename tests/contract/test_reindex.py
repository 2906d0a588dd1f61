"""What an operator does with generations, in Postgres: one is live, ids are given once, a drop comes to its end."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from streams.adapters import postgres
from streams.adapters.postgres_generations import PostgresGenerations
from streams.adapters.postgres_reindex import SWEPT, PostgresReindex, Progress
from streams.adapters.versions import PostgresVersions
from streams.domain.generation import Generation
from streams.domain.versions import Verdict
from streams.errors import ConfigurationError
from tests.contract.building import candidate, change, deletion, receipt
from tests.contract.stores import Stores


@pytest.fixture
async def live(pool: postgres.Pool) -> Generation:
    made = PostgresGenerations(pool=pool)
    return await made.ensure(model="memory-hash", dimension=64, average_length=5.0, chunker="2")


@pytest.fixture
def table(by_role: Mapping[str, postgres.Pool], live: Generation) -> PostgresReindex:
    return PostgresReindex(pool=by_role["operator"])


async def ids(pool: postgres.Pool) -> list[tuple[str, str]]:
    return [(each.id, each.state) for each in await PostgresGenerations(pool=pool).active()]


async def test_a_generation_goes_its_way_and_its_id_is_not_forgotten(
    pool: postgres.Pool, table: PostgresReindex, live: Generation
) -> None:
    made = dataclasses.replace(live, id="g2", chunker="2:child_max=600", fresh=True)
    await table.start(made)
    found = (await PostgresGenerations(pool=pool).active())[1]
    assert found == dataclasses.replace(made, state="building", replayed=True)
    assert await table.promote("g2") == "g1"
    assert await ids(pool) == [("g2", "live"), ("g1", "kept")]
    assert await table.promote("g1") == "g2"
    assert await ids(pool) == [("g1", "live"), ("g2", "kept")]
    await table.forget("g2")
    await table.forget("g2")
    assert await ids(pool) == [("g1", "live")]
    assert [(each.id, each.state) for each in await table.known()] == [("g1", "live"), ("g2", "dropped")]


async def test_a_version_that_comes_after_the_drop_leaves_nothing(
    pool: postgres.Pool, table: PostgresReindex, live: Generation
) -> None:
    await table.start(dataclasses.replace(live, id="g2"))
    await table.forget("g2")
    given = dataclasses.replace(candidate(change(1, "late")), generation="g2")
    assert (await PostgresVersions(pool=pool).accept(given)).verdict is Verdict.STALE
    assert await table.sweep("g2") == (0, 0)


async def test_what_cannot_be_is_refused_in_words(table: PostgresReindex, live: Generation) -> None:
    for action, says in (
        (table.promote("g1"), "g1 is live; it cannot be promoted"),
        (table.promote("g7"), "g7 is unknown"),
        (table.forget("g1"), "g1 is live, and questions read it"),
        (table.forget("g7"), "there is no generation 'g7'; there are g1"),
    ):
        with pytest.raises(ConfigurationError, match=says):
            await action
    await table.start(dataclasses.replace(live, id="g2"))
    with pytest.raises(ConfigurationError, match=r"g2 is being built already; .*reindex drop g2"):
        await table.start(dataclasses.replace(live, id="g3"))
    await table.promote("g2")
    await table.start(dataclasses.replace(live, id="g3"))
    await table.promote("g3")
    with pytest.raises(ConfigurationError, match=r"3 generations are kept up to date; first .* one of g1, g2"):
        await table.start(dataclasses.replace(live, id="g4"))


async def test_one_is_live_whoever_asks_while_two_operators_promote(
    pool: postgres.Pool, table: PostgresReindex, live: Generation
) -> None:
    await table.start(dataclasses.replace(live, id="g2"))
    done = asyncio.Event()

    async def look() -> None:
        while not done.is_set():
            assert [state for _, state in await ids(pool)].count("live") == 1

    async def promote(name: str) -> None:
        for _ in range(20):
            try:
                await table.promote(name)
            except ConfigurationError:
                await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    await asyncio.gather(promote("g1"), promote("g2"))
    done.set()
    await looking


async def test_progress_tells_ready_failed_and_behind_apart(real_stores: Stores, table: PostgresReindex) -> None:
    versions: Any = real_stores.versions
    for name in ("a", "b", "c", "d"):
        await real_stores.put(change(1, "one", doc_id=name))
    await real_stores.put(deletion(2, doc_id="d"))
    assert await table.progress("g2", "g1") == Progress(ready=0, failed=0, behind=4)
    ready, failed, pending = (change(1, "one", doc_id=name) for name in ("a", "b", "c"))
    for each in (ready, failed, pending):
        await versions.accept(candidate(each, generation="g2"))
    for writer in ("text", "vectors"):
        await versions.complete(receipt(ready, writer, generation="g2"))
    await versions.complete(receipt(failed, "vectors", generation="g2", error="no model"))
    assert await table.progress("g2", "g1") == Progress(ready=1, failed=1, behind=2)
    (told,) = await table.failures("g2", 10)
    assert (told.tenant, told.source, told.doc_id, told.version, told.reason) == ("acme", "help", "b", 1, "no model")
    assert [(each.doc_id, each.version) for each in await table.missing("g2", "g1", 10)] == [("c", 1), ("d", 2)]
    moment = await table.now()
    await real_stores.put(change(1, "late", doc_id="e"))
    assert await table.progress("g2", "g1", moment) == Progress(ready=1, failed=1, behind=2)
    assert (await table.progress("g2", "g1")).behind == 3
    assert await table.progress("g1", "g1") == Progress(ready=5, failed=0, behind=0)


async def finish(stores: Stores, given: Any, generation: str) -> None:
    versions: Any = stores.versions
    await versions.accept(candidate(given, generation=generation))
    for writer in ("text", "vectors"):
        await versions.complete(receipt(given, writer, generation=generation))


async def test_no_promotion_takes_a_searchable_version_back(
    real_stores: Stores, pool: postgres.Pool, table: PostgresReindex, live: Generation
) -> None:
    await table.start(dataclasses.replace(live, id="g2"))
    first, edit, new = change(1, "one"), change(2, "two"), change(1, "new", doc_id="new")
    await real_stores.put(first)
    assert await table.promote("g2", whole=True) is None
    await finish(real_stores, first, "g2")
    for later in (edit, new):  # an older version of it is there, or none
        await real_stores.put(later)
        assert await table.promote("g2", whole=True) is None
        assert await ids(pool) == [("g1", "live"), ("g2", "building")]
        await finish(real_stores, later, "g2")
    assert await table.promote("g2", whole=True) == "g1"
    # Back, by the same rule.
    await finish(real_stores, change(3, "three"), "g2")
    assert await table.promote("g1", whole=True) is None
    assert await table.promote("g1", whole=True, recent=60.0) == "g2"
    assert await table.promote("g2") == "g1"


async def test_a_version_that_becomes_live_during_a_promotion_waits_for_its_end(
    real_stores: Stores, pool: postgres.Pool, table: PostgresReindex, live: Generation
) -> None:
    async with postgres.transaction(pool, "hold the documents") as connection:
        await connection.execute(postgres.sql("documents_still"))
        putting = asyncio.create_task(real_stores.put(change(1, "one")))
        await asyncio.wait([putting], timeout=0.3)
        assert not putting.done()
        assert (await real_stores.seen(change(1))).texts == set(), "questions read on"
    assert await putting is not None


async def test_a_drop_takes_its_rows_in_pieces_and_no_others(
    real_stores: Stores, pool: postgres.Pool, table: PostgresReindex
) -> None:
    versions: Any = real_stores.versions
    await real_stores.put(change(1, "one"))
    for number in range(SWEPT + 3):
        page = change(1, "one", doc_id=f"page-{number}")
        await versions.accept(candidate(page, generation="g2"))
    async with postgres.transaction(pool, "write overviews") as connection:
        for generation in ("g1", "g2"):
            await connection.execute(
                "INSERT INTO graph_overviews"
                " (tenant, generation, hash, title, text, language, weight, evidence, lexemes, model)"
                " VALUES ('acme', %s, 'h', 't', 'x', 'en', 1, ARRAY[gen_random_uuid()], '', 'm')",
                (generation,),
            )
    counts, last = [], 0
    for _ in range(3):
        count, last = await table.sweep("g2", last)
        counts.append(count)
    assert counts == [SWEPT, 3, 0]
    async with postgres.transaction(pool, "read overviews") as connection:
        rows = await (await connection.execute("SELECT generation FROM graph_overviews")).fetchall()
    assert [row["generation"] for row in rows] == ["g1"]
    assert (await real_stores.seen(change(1))).texts == {"one"}


async def test_a_generation_is_started_with_the_lexical_weights_of_its_models(
    pool: postgres.Pool, table: PostgresReindex, live: Generation
) -> None:
    assert live.lexical == ()
    await table.start(dataclasses.replace(live, id="g2", lexical=(live.model,)))
    found = {each.id: each.lexical for each in await PostgresGenerations(pool=pool).active()}
    assert found == {"g1": (), "g2": (live.model,)}
