"""The servers of the contract tests: given by DATABASE_URL, QDRANT_URL and REDIS_URL, else started here."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from qdrant_client import AsyncQdrantClient

from streams.adapters import migrations, postgres, qdrant
from streams.adapters.contexts import PostgresContexts
from streams.adapters.graph import PostgresGraph
from streams.adapters.memory import MemoryStores
from streams.adapters.overviews import PostgresOutlines, PostgresOverviews
from streams.adapters.passages import PostgresPassages
from streams.adapters.postgres_epochs import PostgresEpochs
from streams.adapters.postgres_generations import PostgresGenerations
from streams.adapters.postgres_reindex import PostgresReindex
from streams.adapters.qdrant import QdrantVectors
from streams.adapters.text_index import PostgresTextIndex
from streams.adapters.versions import PostgresVersions
from streams.domain.generation import Model
from streams.embedded import postgres as postgres_server
from streams.embedded import qdrant as qdrant_server
from streams.embedded import valkey
from streams.embedded.processes import free_port
from tests.contract.stores import Stores

TWO_MODELS = ("memory-hash", 64, (Model(name="second", dimension=48),))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("servers")


@pytest.fixture(scope="session")
async def postgres_url(folder: Path) -> AsyncIterator[str]:
    """A Postgres whose user may create databases."""
    if given := os.environ.get("DATABASE_URL"):
        yield given
        return
    server = await postgres_server.start(folder / "postgres", port=free_port(), log=folder / "postgres.log")
    yield server.url
    await server.child.stop(5)


@pytest.fixture(scope="session")
async def qdrant_url(folder: Path) -> AsyncIterator[str]:
    if given := os.environ.get("QDRANT_URL"):
        yield given
        return
    server = await qdrant_server.start(folder / "qdrant", port=free_port(), log=folder / "qdrant.log")
    yield server.url
    await server.child.stop(5)


@pytest.fixture(scope="session")
async def redis_url(folder: Path) -> AsyncIterator[str]:
    if given := os.environ.get("REDIS_URL"):
        yield given
        return
    server = await valkey.start(folder / "valkey", port=free_port(), log=folder / "valkey.log")
    yield server.url
    await server.child.stop(5)


@pytest.fixture(scope="session")
async def database(postgres_url: str) -> AsyncIterator[str]:
    """The URL of a migrated database of these tests' own."""
    async with new_database(postgres_url) as url:
        await migrations.migrate(url)
        yield url


@pytest.fixture(scope="session")
async def shared_pool(database: str) -> AsyncIterator[postgres.Pool]:
    pool = await postgres.open_pool(database, size=6)
    yield pool
    await pool.close()


@pytest.fixture
async def pool(shared_pool: postgres.Pool) -> postgres.Pool:
    """A pool on an empty database."""
    async with shared_pool.connection() as connection:
        await connection.execute("TRUNCATE generations, documents, deletions, tenant_epochs, graph_overviews CASCADE")
    return shared_pool


@pytest.fixture(scope="session")
async def by_role(database: str, shared_pool: postgres.Pool) -> AsyncIterator[Mapping[str, postgres.Pool]]:
    """A pool for each role, of a user who is its member and no more."""
    async with AsyncExitStack() as opened:
        found = {}
        for role in ("reader", "writer", "operator", "gateway"):
            user = f"contract_{role}_{uuid.uuid4().hex[:8]}"
            await _run(database, "CREATE ROLE {} LOGIN PASSWORD 'contract'", user)
            opened.push_async_callback(_run, database, "DROP ROLE {}", user)
            await _run(database, f"GRANT rankstream_{role} TO {{}}", user)  # type: ignore[arg-type]
            pool = await postgres.open_pool(make_conninfo(database, user=user, password="contract"), size=6)
            opened.push_async_callback(pool.close)
            found[role] = pool
        yield found


class ByRole:
    """A store whose methods run as users of different roles."""

    def __init__(self, methods: Mapping[str, object]) -> None:
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        return getattr(self._methods[name], name)


@pytest.fixture(scope="session")
async def client(qdrant_url: str) -> AsyncIterator[AsyncQdrantClient]:
    client = await qdrant.open_client(qdrant_url)
    yield client
    await client.close()


@pytest.fixture(params=["memory", "real"])
def stores(request: pytest.FixtureRequest) -> Stores:
    """The stores, once in memory and once real; asked for by name, so that the twins need no server."""
    found: Stores = request.getfixturevalue(f"{request.param}_stores")
    return found


@pytest.fixture
def memory_stores() -> Stores:
    return _twins(MemoryStores())


def _twins(twin: MemoryStores) -> Stores:
    async def text_ids() -> set[str]:
        return set(twin.state.texts)

    async def vector_ids(generation: str) -> set[str]:
        return twin.vectors.ids(generation)

    async def epoch(tenant: str) -> int:
        return twin.state.epochs[tenant]

    async def graph_ids() -> set[str]:
        return set(twin.state.graph)

    return Stores(
        versions=twin.versions,
        texts=twin.texts,
        passages=twin.passages,
        vectors=twin.vectors,
        graph=twin.graph,
        outlines=twin.outlines,
        overviews=twin.overviews,
        contexts=twin.contexts,
        generations=twin.generations,
        start=twin.generations.start,
        epochs=twin.epochs,
        text_ids=text_ids,
        vector_ids=vector_ids,
        epoch=epoch,
        graph_ids=graph_ids,
    )


@pytest.fixture
async def real_stores(
    pool: postgres.Pool, by_role: Mapping[str, postgres.Pool], client: AsyncQdrantClient
) -> AsyncIterator[Stores]:
    vectors = QdrantVectors(client=client, prefix=f"contract-{uuid.uuid4().hex[:12]}")
    await vectors.ensure_collection("g1", "memory-hash", 64)
    yield _real(pool, by_role, client, vectors)
    await client.delete_collection(vectors.collection("g1"))


@pytest.fixture(params=["memory", "real"])
def two_models(request: pytest.FixtureRequest) -> Stores:
    """The stores with a generation that has two models, once in memory and once real."""
    found: Stores = request.getfixturevalue(f"{request.param}_two_models")
    return found


@pytest.fixture
async def memory_two_models(memory_stores: Stores) -> Stores:
    await memory_stores.vectors.ensure_collection("g1", *TWO_MODELS)  # type: ignore[attr-defined]
    return memory_stores


@pytest.fixture
async def real_two_models(
    pool: postgres.Pool, by_role: Mapping[str, postgres.Pool], client: AsyncQdrantClient
) -> AsyncIterator[Stores]:
    vectors = QdrantVectors(client=client, prefix=f"contract-{uuid.uuid4().hex[:12]}")
    await vectors.ensure_collection("g1", *TWO_MODELS)
    yield _real(pool, by_role, client, vectors)
    await client.delete_collection(vectors.collection("g1"))


@pytest.fixture(params=["memory", "real"])
def lexical_stores(request: pytest.FixtureRequest) -> Stores:
    """The stores with a generation that has lexical weights, once in memory and once real."""
    found: Stores = request.getfixturevalue(f"{request.param}_lexical_stores")
    return found


@pytest.fixture
async def memory_lexical_stores() -> Stores:
    twin = MemoryStores()
    await twin.vectors.ensure_collection("g1", "memory-hash", 64, lexical=("memory-hash",))
    return _twins(twin)


@pytest.fixture
async def real_lexical_stores(
    pool: postgres.Pool, by_role: Mapping[str, postgres.Pool], client: AsyncQdrantClient
) -> AsyncIterator[Stores]:
    vectors = QdrantVectors(client=client, prefix=f"contract-{uuid.uuid4().hex[:12]}")
    await vectors.ensure_collection("g1", "memory-hash", 64, lexical=("memory-hash",))
    yield _real(pool, by_role, client, vectors)
    await client.delete_collection(vectors.collection("g1"))


def _real(
    pool: postgres.Pool, by_role: Mapping[str, postgres.Pool], client: AsyncQdrantClient, vectors: QdrantVectors
) -> Stores:
    """Return the real stores, each method as a user of the role that calls it; what only tests do, as the owner."""
    reader, writer, operator = (by_role[role] for role in ("reader", "writer", "operator"))
    overviews, asked = PostgresOverviews(pool=operator), PostgresOverviews(pool=reader)

    async def text_ids() -> set[str]:
        async with pool.connection() as connection:
            rows = await (await connection.execute("SELECT chunk_id::text FROM chunks")).fetchall()
        return {row["chunk_id"] for row in rows}

    async def vector_ids(generation: str) -> set[str]:
        points, _ = await client.scroll(vectors.collection(generation), limit=10_000, with_payload=False)
        return {str(point.id) for point in points}

    async def epoch(tenant: str) -> int:
        async with pool.connection() as connection:
            found = await connection.execute("SELECT epoch FROM tenant_epochs WHERE tenant = %s", (tenant,))
            row = await found.fetchone()
        return row["epoch"] if row else 0

    async def graph_ids() -> set[str]:
        async with pool.connection() as connection:
            found = await connection.execute(
                "SELECT chunk_id::text FROM graph_mentions UNION SELECT chunk_id::text FROM graph_relations"
            )
            return {row["chunk_id"] for row in await found.fetchall()}

    return Stores(
        versions=PostgresVersions(pool=writer),
        texts=ByRole({"write": PostgresTextIndex(pool=writer), "search": PostgresTextIndex(pool=reader)}),
        passages=PostgresPassages(pool=reader),
        vectors=vectors,
        graph=ByRole({"write": PostgresGraph(pool=writer), "search": PostgresGraph(pool=reader)}),
        outlines=PostgresOutlines(pool=operator),
        overviews=ByRole(dict.fromkeys(("kept", "put", "retain"), overviews) | {"search": asked}),
        contexts=PostgresContexts(pool=writer),
        generations=ByRole(
            dict.fromkeys(("live", "active", "find", "ensure"), PostgresGenerations(pool=writer))
            | {"counts": PostgresGenerations(pool=operator)}
        ),
        start=PostgresReindex(pool=operator).start,
        epochs=ByRole({"current": PostgresEpochs(pool=reader), "bump": PostgresEpochs(pool=writer)}),
        text_ids=text_ids,
        vector_ids=vector_ids,
        epoch=epoch,
        graph_ids=graph_ids,
    )


@asynccontextmanager
async def new_database(server: str) -> AsyncIterator[str]:
    """The URL of an empty database, dropped at the end."""
    name = f"contract_{uuid.uuid4().hex[:12]}"
    await _run(server, "CREATE DATABASE {}", name)
    try:
        yield make_conninfo(server, dbname=name)
    finally:
        await _run(server, "DROP DATABASE {} WITH (FORCE)", name)


async def _run(url: str, statement: LiteralString, name: str) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(sql.SQL(statement).format(sql.Identifier(name)))
