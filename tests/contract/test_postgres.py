"""What Postgres alone can show: migrations, lost connections, plans, row-level security."""

from __future__ import annotations

import asyncio
import time
import uuid
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from schemas.documents import Kind
from streams.adapters import migrations, postgres, postgres_rights, postgres_scope
from streams.adapters.passages import PostgresPassages
from streams.adapters.postgres_epochs import PostgresEpochs
from streams.adapters.text_index import FILED, RANKED, PostgresTextIndex, statement
from streams.adapters.versions import PostgresVersions
from streams.domain import lexemes
from streams.embedded import postgres as postgres_server
from streams.embedded.processes import free_port
from streams.errors import ConfigurationError, Invalid, StoreUnavailable, Transient
from tests.contract.broken_network import proxy
from tests.contract.building import KEY, candidate, change, scope, text_rows
from tests.contract.conftest import new_database

# `rows` documents of one parent each; every one has "often", every hundredth "seldom".
FILL = """
WITH d AS (
    INSERT INTO documents (generation, tenant, source, doc_id, accepted_version, accepted_hash, live_version)
    SELECT 'g1', CASE WHEN n <= %(rows)s THEN 'acme' ELSE 'other' END, 'help', 'd' || n + %(first)s, 1, '', 1
    FROM generate_series(1, %(rows)s * 2) AS n RETURNING id, tenant, substr(doc_id, 2)::int AS n
), v AS (
    INSERT INTO document_versions (document, version, tenant, hash, op, kind, title, uri, trust, language, agents,
                                   pinned, tags, metadata, parts, chunks, waits, state)
    SELECT id, 1, tenant, '', 'upsert', 'document', '', '', 'internal', 'en',
           CASE WHEN n %% 100 = 50 THEN '{}' ELSE %(agents)s::text[] END, '{}', '{}', '{}', 1, 1, '{}', 'live' FROM d
), c AS (
    INSERT INTO chunks (chunk_id, document, tenant, level, heading_path, body, lexemes)
    SELECT gen_random_uuid(), id, tenant, %(level)s, '{}', 'b',
           ('often:2 word' || n %% 50 || ':3' || CASE WHEN n %% 100 = 1 THEN ' seldom:4' ELSE '' END
            || ' ''@g1/' || tenant || '''')::tsvector
    FROM d RETURNING chunk_id, document
)
INSERT INTO version_chunks (document, version, tenant, chunk_id, parent_id, level, ordinal)
SELECT c.document, 1, d.tenant, c.chunk_id, c.chunk_id, 'parent', 1 FROM c JOIN d ON d.id = c.document
"""


async def fill(
    pool: postgres.Pool, rows: int, agents: list[str] | None = None, *, kind: Kind = "document", first: int = 0
) -> None:
    async with pool.connection() as connection, connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")  # no checks of foreign keys
        parameters = {"rows": rows, "agents": agents or [], "level": FILED[kind], "first": first}
        await connection.execute(FILL, parameters)
    async with pool.connection() as connection:
        await connection.execute("ANALYZE")


@pytest.mark.parametrize("url", ["postgresql://me:secret@127.0.0.1:1/db", "postgresql://me:secret@[", "nonsense"])
async def test_a_server_that_is_not_there_is_named_within_five_seconds_and_no_password(url: str) -> None:
    begun = time.monotonic()
    with pytest.raises(ConfigurationError, match=r"^DATABASE_URL") as raised:
        await postgres.open_pool(url)
    assert time.monotonic() - begun < 5.5
    assert "secret" not in str(raised.value)


async def test_a_server_that_says_nothing_is_given_up_within_five_seconds() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    begun = time.monotonic()
    with pytest.raises(ConfigurationError, match="DATABASE_URL"):
        await postgres.open_pool(f"postgresql://127.0.0.1:{port}/db")
    assert time.monotonic() - begun < 6
    server.close()


async def test_connections_that_the_server_ended_are_not_lent_again(postgres_url: str) -> None:
    async with new_database(postgres_url) as url:  # of its own: others' connections are not to be ended
        await migrations.migrate(url)
        pool = await postgres.open_pool(url, size=6)
        store = PostgresVersions(pool=pool)
        await asyncio.gather(*(store.accept(candidate(change(1, "a", doc_id=f"d{n}"))) for n in range(12)))
        async with pool.connection() as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        await asyncio.sleep(0.1)
        await asyncio.gather(*(store.accept(candidate(change(1, "a", doc_id=f"e{n}"))) for n in range(12)))
        await pool.close()


async def test_stores_say_so_while_the_server_is_away_and_work_again_after_its_restart(tmp_path: Path) -> None:
    port = free_port()
    server = await postgres_server.start(tmp_path / "data", port=port, log=tmp_path / "log")
    await migrations.migrate(server.url)
    pool = await postgres.open_pool(server.url, size=3)
    versions, passages = PostgresVersions(pool=pool), PostgresPassages(pool=pool)
    await versions.accept(candidate(change(1, "a")))
    await server.child.kill()
    for _ in range(2):
        begun = time.monotonic()
        with pytest.raises(StoreUnavailable, match="postgres"):
            await passages.resolve(scope(), ["6ba7b810-9dad-11d1-80b4-00c04fd430c8"])
        assert time.monotonic() - begun < 3
    with pytest.raises(StoreUnavailable):
        await versions.accept(candidate(change(2, "a")))
    server = await postgres_server.start(tmp_path / "data", port=port, log=tmp_path / "log")
    deadline = time.monotonic() + 15
    while True:
        try:
            admission = await versions.accept(candidate(change(2, "a")))
            break
        except StoreUnavailable:
            assert time.monotonic() < deadline
    assert admission.accepted_version == 2
    await pool.close()
    await server.child.stop(5)


async def test_a_silent_network_costs_a_question_seconds_and_a_cancelled_one_nothing(database: str) -> None:
    port = int(conninfo_to_dict(database)["port"] or 5432)
    async with proxy(port) as between:
        pool = await postgres.open_pool(make_conninfo(database, port=between.port), size=2)
        passages, epochs = PostgresPassages(pool=pool), PostgresEpochs(pool=pool)
        ids = ["6ba7b810-9dad-11d1-80b4-00c04fd430c8"]
        assert await passages.resolve(scope(), ids) == {}
        between.passing.clear()
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await passages.resolve(scope(), ids)
        assert time.monotonic() - begun < 2.0
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await epochs.current("acme")
        assert time.monotonic() - begun < 2.0
        with pytest.raises(StoreUnavailable):
            await passages.resolve(scope(), ids)
        assert time.monotonic() - begun < 5
        between.passing.set()
        deadline = time.monotonic() + 10
        while True:
            try:
                assert await passages.resolve(scope(), ids) == {}
                break
            except StoreUnavailable:
                assert time.monotonic() < deadline
        await pool.close()


async def test_a_query_that_takes_too_long_is_stopped_by_the_server(pool: postgres.Pool) -> None:
    with pytest.raises(Transient, match=r"nap.*statement timeout") as raised:
        await postgres.read(pool, "nap", tenant="acme", statement=b"SELECT pg_sleep(5)", parameters={}, seconds=0.1)
    assert not isinstance(raised.value, StoreUnavailable)
    rows = await postgres.read(pool, "look", tenant="acme", statement=b"SELECT 1 AS one", parameters={})
    assert rows == [{"one": 1}]


REFUSED = [errors.UniqueViolation, errors.NotNullViolation, errors.ForeignKeyViolation, errors.CheckViolation]


@pytest.mark.parametrize("refused", [*REFUSED, errors.ExclusionViolation, errors.RestrictViolation])
def test_what_the_schema_of_another_release_refuses_is_tried_again(refused: type[Exception]) -> None:
    with (
        pytest.raises(Transient, match="postgres could not write: of column tenant") as raised,
        postgres.translated("write"),
    ):
        raise refused("of column tenant")
    assert not isinstance(raised.value, StoreUnavailable)


async def test_what_postgres_cannot_hold_is_invalid(pool: postgres.Pool) -> None:
    with pytest.raises(Invalid):
        await PostgresVersions(pool=pool).accept(candidate(change(1, "a", title="nul \0")))
    with pytest.raises(Invalid):
        await PostgresPassages(pool=pool).resolve(scope(), ["no uuid"])


@pytest.mark.parametrize(("kind", "index"), [("document", "chunks_lexemes"), ("qa", "chunks_pairs")])
async def test_a_search_among_five_thousand_parents_uses_the_index_below_row_security(
    pool: postgres.Pool, kind: Kind, index: str
) -> None:
    await fill(pool, 5_000, kind=kind)
    for name, terms, prefix in (
        ("search", ["often", "word7", "seldom"], False),
        ("search_narrowed", ["seldom"], False),
        ("search_frequencies", ["seldom"], False),
        ("search", ["oft", "word7", "sel"], True),
        ("search_narrowed", ["sel"], True),
        ("search_frequencies", ["sel"], True),
    ):
        plan = await explained(pool, name, terms, kind=kind, prefix=prefix)
        assert f"Bitmap Index Scan on {index}" in plan, plan
        assert plan.count("Bitmap Index Scan on") == plan.count(f"Bitmap Index Scan on {index}"), plan
        assert "Seq Scan on chunks" not in plan, plan
        assert "Index Cond: (lexemes @@" in plan, plan


async def explained(pool: postgres.Pool, name: str, terms: list[str], *, kind: Kind, prefix: bool) -> str:
    parameters = postgres_scope.visible(scope()) | {
        "terms": [lexemes.tsquery([term], prefix=prefix) for term in terms],
        "query": lexemes.tsquery(terms, prefix=prefix),
        "owner": postgres_scope.owner("acme", "g1"),
        "bound": RANKED,
        "limit": 30,
    }
    explain = b"EXPLAIN (COSTS OFF) " + statement(name, kind)
    rows = await postgres.read(pool, "explain", tenant="acme", statement=explain, parameters=parameters)
    return "\n".join(row["QUERY PLAN"] for row in rows)


async def test_rare_words_are_found_among_more_common_ones_than_are_ranked(pool: postgres.Pool) -> None:
    await fill(pool, 3_000)
    await fill(pool, 30, kind="qa", first=6_000)
    texts = PostgresTextIndex(pool=pool)
    hits = (await texts.search(scope(), ["often", "seldom"], 40, kind="document")).hits
    # Thirty have both words; the others have the common one.
    assert [round(hit.score, 4) for hit in hits] == [0.2] * 30 + [0.1] * 10
    for terms, prefix in ((["often"], False), (["oft"], True)):
        found = await texts.search(scope(), terms, RANKED + 100, kind="document", prefix=prefix)
        assert len(found.hits) == RANKED
    hits = (await texts.search(scope(), ["oft", "sel"], 40, kind="document", prefix=True)).hits
    assert [round(hit.score, 4) for hit in hits] == [0.2] * 30 + [0.1] * 10
    # Pairs have a bound of their own, and words of their own.
    found = await texts.search(scope(), ["oft", "word7", "sel"], 40, kind="qa", prefix=True)
    assert (len(found.hits), found.frequencies, found.counted) == (30, (30, 1, 1), 30)


async def test_an_agent_who_sees_one_in_a_hundred_still_finds_them(pool: postgres.Pool) -> None:
    await fill(pool, 4_000, agents=["bot"])
    assert len((await PostgresTextIndex(pool=pool).search(scope(), ["often"], 30, kind="document")).hits) == 30
    assert len((await PostgresTextIndex(pool=pool).search(scope(), ["often"], 100, kind="document")).hits) == 40


async def test_a_forgotten_filter_still_shows_one_tenant_only(pool: postgres.Pool) -> None:
    await fill(pool, 10)
    for table in ("chunks", "documents", "document_versions", "version_chunks", "live_chunks"):
        statement = f"SELECT DISTINCT tenant FROM {table}".encode()
        rows = await postgres.read(pool, "look", tenant="other", statement=statement, parameters={})
        if table == "documents" and len(rows) > 1:
            pytest.skip("the database's user may not set up row-level security")
        assert rows == [{"tenant": "other"}]
    with pytest.raises(ConfigurationError, match="permission denied"):
        await postgres.read(pool, "write", tenant="acme", statement=b"DELETE FROM chunks", parameters={})
    # The role and the tenant end with their transaction.
    async with pool.connection() as connection:
        found = await connection.execute("SELECT current_user = session_user AS own FROM chunks")
        assert len(await found.fetchall()) == 20


async def test_a_user_without_privileges_gets_the_explicit_filter_alone_and_is_told(
    postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    user = f"plain_{uuid.uuid4().hex[:8]}"
    async with new_database(postgres_url) as url, await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        await admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'plain'").format(sql.Identifier(user)))
        await admin.execute(sql.SQL("GRANT ALL ON SCHEMA public TO {}").format(sql.Identifier(user)))
        plain = make_conninfo(url, user=user, password="plain")
        await migrations.migrate(plain)
        assert "row-level security is off" in caplog.text
        pool = await postgres.open_pool(plain)
        await PostgresVersions(pool=pool).accept(candidate(change(1, "a")))
        assert await PostgresPassages(pool=pool).resolve(scope(), [candidate(change(1, "a")).chunks[0].id]) == {}
        assert (await PostgresTextIndex(pool=pool).search(scope(), ["a"], 3, kind="document")).hits == []
        await pool.close()
        await admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(user)))
        await admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(user)))


async def test_roles_that_an_administrator_made_are_enough_for_an_owner_without_rights(postgres_url: str) -> None:
    owner = f"owner_{uuid.uuid4().hex[:8]}"
    async with new_database(postgres_url) as url, await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        for name in ("roles", "leakproof"):
            await admin.execute(postgres.sql(name))
        await admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'plain'").format(sql.Identifier(owner)))
        await admin.execute(sql.SQL("GRANT ALL ON SCHEMA public TO {}").format(sql.Identifier(owner)))
        plain = make_conninfo(url, user=owner, password="plain")
        try:
            await migrations.migrate(plain)
            pool = await postgres.open_pool(plain)
            # It owns the tables, and is told that its own questions are held by their statements alone.
            assert "no member of rankstream_query" in (await postgres_rights.unguarded(pool) or "")
            await admin.execute(sql.SQL("GRANT rankstream_query TO {}").format(sql.Identifier(owner)))
            assert await postgres_rights.unguarded(pool) is None
            await admin.execute(
                "INSERT INTO documents (generation, tenant, source, doc_id) VALUES ('g1', 'acme', 'help', 'd')"
            )
            for tenant, number in (("acme", 1), ("other", 0)):
                count = b"SELECT count(*) AS n FROM documents"
                assert await postgres.read(pool, "count", tenant=tenant, statement=count, parameters={}) == [
                    {"n": number}
                ]
            await pool.close()
        finally:
            await admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(owner)))
            await admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(owner)))


async def test_a_thousand_ids_are_resolved_in_one_statement(pool: postgres.Pool) -> None:
    await fill(pool, 1_000)
    async with pool.connection() as connection:
        found = await connection.execute("SELECT chunk_id::text FROM chunks")
        ids = [row["chunk_id"] for row in await found.fetchall()]
    resolved = await PostgresPassages(pool=pool).resolve(scope(), ids)
    assert len(resolved) == 1_000


async def test_a_database_that_is_not_there_is_named(postgres_url: str) -> None:
    parts = urlsplit(postgres_url)
    with pytest.raises(ConfigurationError, match=r"DATABASE_URL.*no_such"):
        await postgres.open_pool(parts._replace(path="/no_such").geturl())


async def test_writers_of_the_same_chunks_do_not_block_each_other_for_good(pool: postgres.Pool) -> None:
    store, texts = PostgresVersions(pool=pool), PostgresTextIndex(pool=pool)
    versions = [change(number, " | ".join(f"text {n}" for n in range(40)), title="Same") for number in (1, 2)]
    for version in versions:
        await store.accept(candidate(version))
    rows = text_rows(candidate(versions[0]).chunks)
    results = await asyncio.gather(
        *(
            texts.write(KEY, number, "g1", list(order), kind="document")
            for number in (1, 2)
            for order in (rows, reversed(rows))
        )
    )
    assert results == [True] * 4


async def test_the_lock_of_one_document_leaves_others_free(pool: postgres.Pool) -> None:
    store = PostgresVersions(pool=pool)
    await store.accept(candidate(change(1, "a")))
    async with store.hold(KEY, 1, "g1"):
        await store.accept(candidate(change(1, "a", doc_id="other")))
        with pytest.raises(psycopg.errors.LockNotAvailable):
            async with pool.connection() as connection:
                await connection.execute(b"SELECT FROM documents WHERE doc_id = 'billing/refunds.md' FOR UPDATE NOWAIT")


async def test_a_hold_ends_what_it_waits_for_before_the_server_lets_go(
    pool: postgres.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the process was frozen meanwhile: what it would write next is another one's by then."""
    versions = PostgresVersions(pool=pool)
    await versions.accept(candidate(change(1, "a")))
    monkeypatch.setattr(postgres, "HELD_SECONDS", 0.2)
    written: list[str] = []
    with pytest.raises(StoreUnavailable, match=r"more than 0\.2 s to hold a document"):
        async with versions.hold(KEY, 1, "g1"):
            await asyncio.sleep(30)
            written.append("late")
    with pytest.raises(StoreUnavailable, match=r"more than 0\.2 s to hold a document"):
        async with versions.hold(KEY, 1, "g1"):
            time.sleep(0.4)  # noqa: ASYNC251 frozen
            await asyncio.sleep(0)  # a connection is fetched, a name looked up …
            await asyncio.sleep(0)
            written.append("late")
    assert written == []
    with pytest.raises(TimeoutError, match="elsewhere"):
        async with versions.hold(KEY, 1, "g1"):
            raise TimeoutError("elsewhere")
    async with versions.hold(KEY, 1, "g1") as wanted:
        assert wanted


@pytest.mark.parametrize("setting", ["idle_in_transaction_session_timeout", "transaction_timeout"])
async def test_a_session_that_the_server_ended_is_the_store_s_fault_and_not_the_record_s(
    pool: postgres.Pool, setting: str
) -> None:
    async with pool.connection() as connection:
        known = await (await connection.execute("SELECT 1 FROM pg_settings WHERE name = %s", [setting])).fetchone()
    if known is None:
        pytest.skip(f"this server has no {setting}")
    with pytest.raises((StoreUnavailable, Transient)):
        async with postgres.transaction(pool, "hold") as connection:
            await connection.execute(sql.SQL("SET LOCAL {} = 100").format(sql.Identifier(setting)))
            await asyncio.sleep(0.4)
            await connection.execute("SELECT 1")
