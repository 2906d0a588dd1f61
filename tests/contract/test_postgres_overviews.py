"""What Postgres alone can show of overviews: row-level security, how they are read, and races with deletions."""

from __future__ import annotations

import asyncio

import pytest

from streams.adapters import postgres, postgres_scope
from streams.adapters.overviews import PostgresOutlines, PostgresOverviews
from streams.domain import clusters
from tests.contract.building import candidate, deletion, scope
from tests.contract.stores import Stores
from tests.contract.test_graph import parents, put
from tests.contract.test_overviews import AT, made
from tests.contract.test_postgres_graph import fill_graph

OVERVIEWS = """
INSERT INTO graph_overviews (tenant, generation, hash, title, text, language, weight, evidence, lexemes, model)
SELECT c.tenant, 'g1', 'h' || n, 't', 'x', 'en', n, array_agg(c.chunk_id), 'relay', 'm'
FROM generate_series(1, 700) AS n
JOIN (SELECT tenant, chunk_id, row_number() OVER (ORDER BY chunk_id) AS place FROM chunks WHERE tenant = 'acme') c
  ON c.place %% 240 BETWEEN n %% 240 AND n %% 240 + 1
GROUP BY c.tenant, n
"""


async def test_a_forgotten_filter_still_shows_one_tenant_only(real_stores: Stores, pool: postgres.Pool) -> None:
    for tenant in ("acme", "other"):
        of = await put(real_stores, "a", "relay", tenant=tenant)
        await real_stores.overviews.put(tenant, "g1", made("x", *parents(of)))
    rows = await postgres.read(
        pool, "look", tenant="other", statement=b"SELECT tenant FROM graph_overviews", parameters={}
    )
    if len(rows) > 1:
        pytest.skip("the database's user may not set up row-level security")
    assert rows == [{"tenant": "other"}]


async def test_as_many_overviews_as_there_may_be_are_read_to_the_bound_and_collected_by_the_index(
    pool: postgres.Pool,
) -> None:
    await fill_graph(pool, 500)
    async with pool.connection() as connection:
        await connection.execute(OVERVIEWS.replace("%%", "%").encode())
        await connection.execute("ANALYZE graph_overviews")
    parameters = postgres_scope.visible(scope()) | {"terms": [], "limit": 12}
    explain = b"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + postgres.sql("overview_search")
    rows = await postgres.read(pool, "explain", tenant="acme", statement=explain, parameters=parameters)
    plan = "\n".join(row["QUERY PLAN"] for row in rows)
    # The chunks of the first ones alone are looked at, not those of all 700.
    assert "Seq Scan on version_chunks" not in plan, plan
    assert "Subquery Scan on o (actual rows=12" in plan and "top-N" not in plan, plan
    async with pool.connection() as connection:
        await connection.execute("SET enable_seqscan = off")
        found = await connection.execute(
            "EXPLAIN (COSTS OFF) DELETE FROM graph_overviews WHERE evidence && ARRAY(SELECT chunk_id FROM garbage)"
        )
        plan = "\n".join(row["QUERY PLAN"] for row in await found.fetchall())
        await connection.execute("SET enable_seqscan = on")
    assert "graph_overviews_of_chunk" in plan, plan


async def test_a_graph_of_thousands_of_passages_falls_into_clusters_that_have_passages(pool: postgres.Pool) -> None:
    await fill_graph(pool, 2_000)
    outlines = PostgresOutlines(pool=pool)
    assert await outlines.audiences(*AT) == [()]
    bonds = await outlines.bonds(*AT, (), clusters.MOST_BONDS)
    assert 1_000 < len(bonds) <= clusters.MOST_BONDS
    assert bonds == await outlines.bonds(*AT, (), clusters.MOST_BONDS)
    found = clusters.clusters(bonds)
    assert 1 < len(found) <= clusters.MOST_CLUSTERS
    assert len(await outlines.sources(*AT, (), found[0].keys[: clusters.KEYS], 8)) == 8


async def test_of_a_deletion_and_an_overview_at_once_none_is_left(real_stores: Stores, pool: postgres.Pool) -> None:
    overviews = PostgresOverviews(pool=pool)
    for number in range(6):
        of = await put(real_stores, f"d{number}", "relay")
        gone = deletion(2, doc_id=f"d{number}")
        await asyncio.gather(
            overviews.put(*AT, made(f"x{number}", *parents(of))), real_stores.versions.accept(candidate(gone))
        )
        await real_stores.put(gone)
    assert await overviews.retain(*AT, ()) == 0
