"""What Postgres alone can show of the graph: its plan below row-level security, its bounds, and late writers."""

from __future__ import annotations

import asyncio

import pytest

from streams.adapters import graph as adapter
from streams.adapters import postgres, postgres_scope
from streams.adapters.graph import PostgresGraph
from streams.adapters.versions import PostgresVersions
from streams.domain import graph
from tests.contract.building import candidate, change, scope
from tests.contract.test_graph import batch
from tests.contract.test_postgres import fill

# A graph over the chunks of `fill`: every chunk mentions "often", one in fifty "word<n>" and every hundredth "seldom".
GRAPH = """
WITH numbered AS (
    SELECT c.chunk_id, c.document, c.tenant, substr(d.doc_id, 2)::int AS n
    FROM chunks c JOIN documents d ON d.id = c.document
), said AS (
    SELECT n.*, said.key FROM numbered n CROSS JOIN LATERAL (
        VALUES ('often'), ('word' || n.n % 50), ('thing' || n.n % 997), ('rare' || n.n)
    ) AS said (key)
    UNION ALL SELECT n.*, 'seldom' FROM numbered n WHERE n.n % 100 = 1
), mentions AS (
    INSERT INTO graph_mentions (chunk_id, document, generation, tenant, key, name, kind, mentions)
    SELECT chunk_id, document, 'g1', tenant, key, key, 'name', 1 + n % 5 FROM said
)
INSERT INTO graph_relations (
    chunk_id, document, generation, tenant, subject, object, label, weight, subject_name, object_name
)
SELECT a.chunk_id, a.document, 'g1', a.tenant, a.key, b.key, 'uses', (1 + a.n % 10) / 10.0, a.key, b.key
FROM said a JOIN said b ON b.chunk_id = a.chunk_id AND a.key < b.key
"""


async def fill_graph(pool: postgres.Pool, rows: int, agents: list[str] | None = None) -> None:
    await fill(pool, rows, agents)
    async with pool.connection() as connection, connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")  # no checks of foreign keys
        await connection.execute(GRAPH.encode())
    async with pool.connection() as connection:
        await connection.execute("ANALYZE")


async def explained(pool: postgres.Pool, keys: list[str]) -> str:
    parameters = postgres_scope.visible(scope()) | {
        "keys": keys,
        "pairs": keys,
        "chunk_ids": [],
        "completed": keys,
        "mentions": adapter.MENTIONS,
        "relations": adapter.RELATIONS,
        "scanned": adapter.SCANNED,
        "frequent": graph.FREQUENT,
    }
    explain = b"EXPLAIN (COSTS OFF) " + postgres.sql("graph_around")
    rows = await postgres.read(pool, "explain", tenant="acme", statement=explain, parameters=parameters)
    return "\n".join(row["QUERY PLAN"] for row in rows)


async def test_a_search_reads_its_lists_from_the_indexes_below_row_security(pool: postgres.Pool) -> None:
    await fill_graph(pool, 2_000)
    plan = await explained(pool, ["often", "word7", "seldom"])
    for index in ("mentions_of_key", "relations_of_subject", "relations_of_object", "relations_of_pair"):
        assert f"using graph_{index}" in plan, plan
    for table in ("graph_mentions", "graph_relations", "version_chunks", "documents", "document_versions"):
        assert f"Seq Scan on {table}" not in plan, plan
    assert "Hash Join" not in plan, plan


async def test_a_search_is_planned_once_a_connection_and_that_plan_reads_the_indexes(
    pool: postgres.Pool, database: str
) -> None:
    await fill_graph(pool, 2_000)
    one = await postgres.open_pool(database, size=1)
    for word in range(3):
        assert (await PostgresGraph(pool=one).search(scope(), ["often", f"word{word}"], 10)).hits
    async with one.connection() as connection, connection.transaction():
        session = {"tenant": "acme", "timeout": "2s", "plans": "force_generic_plan"}
        await connection.execute(postgres.sql("as_tenant"), session)
        found = await connection.execute(
            "SELECT name, cardinality(parameter_types) AS parameters, custom_plans, generic_plans "
            "FROM pg_prepared_statements WHERE statement LIKE '%graph_relations%'"
        )
        (row,) = await found.fetchall()
        assert (row["custom_plans"], row["generic_plans"]) == (0, 6)
        nulls = ", ".join(["NULL"] * row["parameters"])
        found = await connection.execute(f'EXPLAIN (COSTS OFF) EXECUTE "{row["name"]}" ({nulls})'.encode())
        plan = "\n".join(line["QUERY PLAN"] for line in await found.fetchall())
    await one.close()
    assert "key = a" in plan and "tenant = $" in plan, plan
    for index in ("mentions_of_key", "relations_of_subject", "relations_of_object", "relations_of_pair"):
        assert f"using graph_{index}" in plan, plan
    assert "Seq Scan" not in plan and "Hash Join" not in plan, plan


async def test_a_key_of_every_chunk_is_read_to_its_bounds_and_counts_little(pool: postgres.Pool) -> None:
    await fill_graph(pool, 2_000)
    store = PostgresGraph(pool=pool)
    found = await store.search(scope(), ["often"], 100)
    assert adapter.MENTIONS <= len(found.hits) <= 100
    assert max(hit.score for hit in found.hits) < 0.25
    rare = await store.search(scope(), ["often", "rare7"], 100)
    assert rare.hits[0].score > 0.5


async def test_an_agent_who_sees_one_in_a_hundred_still_finds_them(pool: postgres.Pool) -> None:
    await fill_graph(pool, 1_000, agents=["bot"])
    assert len((await PostgresGraph(pool=pool).search(scope(), ["often"], 100)).hits) == 10


async def test_a_forgotten_filter_still_shows_one_tenant_only(pool: postgres.Pool) -> None:
    await fill_graph(pool, 10)
    for table in ("graph_mentions", "graph_relations"):
        statement = f"SELECT DISTINCT tenant FROM {table}".encode()
        rows = await postgres.read(pool, "look", tenant="other", statement=statement, parameters={})
        if len(rows) > 1:
            pytest.skip("the database's user may not set up row-level security")
        assert rows == [{"tenant": "other"}]


async def test_writers_of_the_same_chunks_do_not_block_each_other_for_good(pool: postgres.Pool) -> None:
    versions, store = PostgresVersions(pool=pool), PostgresGraph(pool=pool)
    content = " | ".join(f"text {n}" for n in range(40))
    both = [change(number, content, title="Same") for number in (1, 2)]
    for version in both:
        await versions.accept(candidate(version))
    said = [f"a{n} b{n} c{n} a{n}>is>b{n}" for n in range(40)]
    batches = [batch(version, *said) for version in both for _ in range(3)]
    assert await asyncio.gather(*(store.write(each) for each in batches)) == [True] * 6
