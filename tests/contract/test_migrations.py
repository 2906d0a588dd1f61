"""Migrations: applied once, beside a release that works on, and however large the tables are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import psycopg
import pytest

from streams.adapters import migrations, postgres
from streams.adapters.postgres_generations import PostgresGenerations
from streams.errors import ConfigurationError
from tests.contract.conftest import new_database
from tests.contract.test_postgres import FILL


async def test_migrations_apply_once_even_when_two_processes_apply_them(postgres_url: str) -> None:
    async with new_database(postgres_url) as url:
        applied = await asyncio.gather(*(migrations.migrate(url) for _ in range(3)))
        assert sorted(applied) == [(), (), migrations.names()]
        assert await migrations.migrate(url) == ()


async def apply(connection: psycopg.AsyncConnection[object], names: Sequence[str]) -> None:
    for name in names:
        await connection.execute(postgres.sql(name))
        await connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))


WAITING = """
SELECT FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
  AND query LIKE '%FOR NO KEY UPDATE%' AND pid <> pg_backend_pid()
"""
# As the release before wrote them.
WITHOUT_TENANT = """
INSERT INTO version_chunks (document, version, chunk_id, parent_id, level, ordinal)
SELECT id, 1, gen_random_uuid(), gen_random_uuid(), 'parent', 2 FROM documents
"""


@pytest.mark.parametrize("until", ["0010_tenants", "0011_tenants_of_old_rows"])
async def test_rows_from_before_and_of_the_release_before_get_their_tenant(postgres_url: str, until: str) -> None:
    assert migrations.BATCH * 2 < 500  # so that it takes several batches
    async with new_database(postgres_url) as url:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as before:
            names = migrations.names()
            start = names.index("0010_tenants")
            await before.execute(migrations._TABLE)
            await apply(before, names[:start])
            old = FILL.replace("version, tenant, chunk_id, parent", "version, chunk_id, parent").replace(
                "c.document, 1, d.tenant, c.", "c.document, 1, c."
            )
            async with before.transaction():
                await before.execute("SET LOCAL session_replication_role = replica")
                await before.execute(old.encode(), {"rows": 250, "agents": [], "level": "parent", "first": 0})
            # Interrupted between the two, it goes on.
            left = names.index(until)
            await apply(before, names[start:left])
            assert await migrations.migrate(url) == names[left:]
            await before.execute(WITHOUT_TENANT)
            # A version that the release before cut while its rows were being filled.
            await before.execute("UPDATE version_chunks SET tenant = NULL")
            await before.execute("DELETE FROM migrations WHERE name = '0011_tenants_of_old_rows'")
            async with before.transaction(force_rollback=True):
                await before.execute("SELECT FROM documents ORDER BY id DESC LIMIT 1 FOR UPDATE")
                await before.execute(WITHOUT_TENANT)
                migrating = asyncio.create_task(migrations.migrate(url))
                async with await psycopg.AsyncConnection.connect(url, autocommit=True) as beside, asyncio.timeout(30):
                    while not await (await beside.execute(WAITING)).fetchall():
                        assert not migrating.done()
                        await asyncio.sleep(0.05)
            assert await migrating == ("0011_tenants_of_old_rows",)
            await before.execute(WITHOUT_TENANT)
        pool = await postgres.open_pool(url, size=1)
        for tenant in ("acme", "other"):
            count = b"SELECT count(*) AS n, count(DISTINCT tenant) AS tenants FROM version_chunks"
            rows = await postgres.read(pool, "count", tenant=tenant, statement=count, parameters={})
            assert rows == [{"n": 750, "tenants": 1}]
        await pool.close()


async def test_a_database_without_migrations_is_a_matter_of_configuration(postgres_url: str) -> None:
    async with new_database(postgres_url) as url:
        pool = await postgres.open_pool(url)
        with pytest.raises(ConfigurationError, match=r"DATABASE_URL.*topics apply"):
            await PostgresGenerations(pool=pool).live()
        await pool.close()


async def test_a_table_that_is_read_for_long_is_waited_for_without_stopping_others(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(migrations, "_WAIT", b"SET LOCAL lock_timeout = '50ms'")
    caplog.set_level("INFO", "streams.adapters.migrations")
    async with new_database(postgres_url) as url, await psycopg.AsyncConnection.connect(url, autocommit=True) as before:
        names = migrations.names()
        start = names.index("0010_tenants")
        await before.execute(migrations._TABLE)
        await apply(before, names[:start])
        async with before.transaction():
            await before.execute("SELECT FROM version_chunks")
            migrating = asyncio.create_task(migrations.migrate(url))
            async with asyncio.timeout(30):
                while caplog.text.count("lock timeout") < 2:
                    assert not migrating.done()
                    await asyncio.sleep(0.05)
            # It queues no longer than that: who comes after it reads meanwhile.
            async with await psycopg.AsyncConnection.connect(url) as beside:
                await beside.execute("SELECT FROM version_chunks")
        assert await migrating == names[start:]
