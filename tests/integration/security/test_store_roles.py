"""Each processor works on Postgres as a user of its own role, and says which right it lacks without one of them."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from psycopg.conninfo import make_conninfo

from schemas.documents import DocumentChange
from streams import settings as names
from streams.adapters import postgres, postgres_rights, postgres_roles
from streams.adapters.migrations import migrate
from streams.adapters.postgres_generations import PostgresGenerations, TenantCounts
from streams.adapters.postgres_keys import PostgresKeys
from streams.adapters.postgres_roles import Grant
from streams.app import Worker
from streams.bootstrap import Resources
from streams.cli import acls
from streams.cli.run import _check_store_rights
from streams.embedded import stack as stacks
from streams.embedded.stack import Stack
from streams.errors import ConfigurationError
from streams.gateways import keys
from streams.gateways.client import Client
from streams.processors import catalogue, replay, store_roles
from streams.settings import Settings
from tests.gateway import serving
from tests.pipeline import page
from topics.admin import apply

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """Servers whose Postgres has the users that `rankstream acls --format postgres` makes."""
    started = await stacks.start(tmp_path_factory.mktemp("roles"))
    users = [store_roles.OWNER, *store_roles.ROLES, *(each.name for each in catalogue.ALL)]
    wanted = [f"--processor={name}" for name in users if name == store_roles.OWNER or store_roles.of_user(name)]
    said = CliRunner().invoke(acls.command, ["--format", "postgres", *wanted], catch_exceptions=False).output
    async with await psycopg.AsyncConnection.connect(started.endpoints.postgres, autocommit=True) as admin:
        await admin.execute(said.encode())
        await admin.execute(said.encode())  # as often as you like
    await migrate(as_user(started, "owner"))
    await apply(started.endpoints.kafka)
    yield started
    await started.stop()


def as_user(stack: Stack, name: str) -> str:
    return make_conninfo(stack.endpoints.postgres, user=f"rankstream-{name}")


def settings_of(stack: Stack, name: str, folder: Path) -> Settings:
    at = stack.endpoints
    return Settings(
        data_dir=folder,
        kafka=at.kafka,
        qdrant=at.qdrant,
        postgres=as_user(stack, name),
        redis=at.redis,
        session_timeout=6.0,
        fast_fetch=at.broker == "tansu",
    )


@asynccontextmanager
async def pool_of(stack: Stack, name: str) -> AsyncIterator[postgres.Pool]:
    pool = await postgres.open_pool(as_user(stack, name), size=1)
    try:
        yield pool
    finally:
        await pool.close()


def cli(found: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the settings of a user."""
    given = {
        names.DATA_DIR: str(found.data_dir / "none"),
        names.KAFKA: str(found.kafka),
        names.QDRANT: str(found.qdrant),
        names.POSTGRES: str(found.postgres),
    }
    return subprocess.run(
        [sys.executable, "-m", "streams.cli.main", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **given},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def pair(doc_id: str, question: str, answer: str) -> DocumentChange:
    return replace(page(doc_id, ""), kind="qa", title=question, content="", question=question, answer=answer)


@asynccontextmanager
async def workers(stack: Stack, folder: Path) -> AsyncIterator[None]:
    """Run every processor with stores and models of its own, as the user of its name."""
    opened = {each.name: Resources(settings_of(stack, each.name, folder)) for each in catalogue.ALL}
    found: list[Worker] = []

    async def made(processor: catalogue.Processor) -> None:
        deps = await opened[processor.name].deps(processor)
        if processor.per_generation:  # of one that is dropped before it is filled
            processor, deps = replay.of("g9", processor), dataclasses.replace(deps, generation="g9")
        found.append(Worker(processor, deps, settings_of(stack, processor.name, folder)))

    try:
        # Those who only read begin first: they wait for the first generation.
        asking = [asyncio.create_task(made(each)) for each in catalogue.QUERY]
        await asyncio.sleep(1)
        await asyncio.gather(*(made(each) for each in catalogue.ALL if each not in catalogue.QUERY), *asking)
        await asyncio.gather(*(worker.start() for worker in found))
        async with asyncio.timeout(90):
            await asyncio.gather(*(worker.assigned.wait() for worker in found))
        yield
        assert not [worker.processor.name for worker in found if worker.failed.done()]
    finally:
        await asyncio.gather(*(worker.stop() for worker in found), return_exceptions=True)
        await asyncio.gather(*(resources.close() for resources in opened.values()))


async def test_documents_become_searchable_edited_and_deleted_with_each_processor_as_its_own_user(
    stack: Stack, tmp_path: Path
) -> None:
    kafka = stack.endpoints.kafka
    async with (
        AsyncExitStack() as opened,
        workers(stack, tmp_path),
        Client(bootstrap=kafka, fast_fetch=stack.endpoints.broker == "tansu") as client,
    ):
        for bulk in (False, True):
            for change in (
                page("vpn", "# VPN\n\nThe Harbour Gateway asks the Tide Service for a token."),
                page("vpn", "# VPN\n\nThe Harbour Gateway asks the Moon Service for a token.\n\n## More\n\nA log."),
                pair("mail", "Which port is mail on?", "Port 465."),
                page("gone", "# Gone\n\nThis page will be deleted."),
                replace(page("gone", ""), op="delete", title="", content=""),
            ):
                [status] = [each async for each in client.publish_many([change], bulk=bulk)]
                assert status.status == ("deleted" if change.op == "delete" else "searchable"), status
            for question, doc_id in (
                ("what does the Harbour Gateway ask for?", "vpn"),
                ("Which port is mail on?", "mail"),
            ):
                reply = await client.ask(question, tenant="acme", timeout=20)
                assert reply.error is None, reply.error
                assert [leg for leg, report in reply.legs.items() if report.status == "error"] == []
                assert reply.passages[0].doc_id == doc_id
        # What HTTP needs, and what the operator does beside it.
        kept = PostgresKeys(pool=await opened.enter_async_context(pool_of(stack, "operator")))
        key = await keys.create(kept, tenant="acme", roles=["read", "write"])
        async with serving(settings_of(stack, "gateway", tmp_path)) as front, front.asking(key) as http:
            assert "Moon Service" in (await http.get("/v1/documents/help/vpn")).json()["text"]
            assert (await http.get("/v1/status")).json()["documents"] == 2
            put = await http.put("/v1/documents/help/new?wait=searchable", json={"content": "# New\n\nA lamp."})
            assert put.json()["status"] == "searchable", put.text
        assert {each.tenant for each in await held(stack)} == {"acme"}


async def held(stack: Stack) -> tuple[TenantCounts, ...]:
    """Return what `rankstream status` counts, as the operator."""
    async with pool_of(stack, "operator") as pool:
        return await PostgresGenerations(pool=pool).counts("g1")


def test_check_and_run_name_the_rights_of_the_processor_that_they_are_given(stack: Stack, tmp_path: Path) -> None:
    for user in ("chunk", "fuse", "operator", "gateway"):
        checked = cli(settings_of(stack, user, tmp_path), "check", user).stdout
        assert f"rights on postgres  ok: as rankstream-{user}" in checked, checked
    checked = cli(settings_of(stack, "fuse", tmp_path), "check", "chunk").stdout
    assert re.search(r"rights on postgres +wrong: rankstream-fuse lacks INSERT on generations; ", checked), checked
    refused = cli(settings_of(stack, "chunk", tmp_path), "run", "fuse")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("rankstream: Postgres gives rankstream-chunk no right to SELECT on chunks; ")
    assert len(refused.stderr.splitlines()) == 1


# A row of a tenant in each table that questions read.
ROW_OF_EACH = """
WITH d AS (
    INSERT INTO documents (generation, tenant, source, doc_id, accepted_version, accepted_hash, live_version)
    VALUES ('g1', 'seen', 'help', 'a', 1, '', 1) RETURNING id, tenant
), v AS (
    INSERT INTO document_versions (document, version, tenant, hash, op, kind, title, uri, trust, language, agents,
                                   pinned, tags, metadata, parts, chunks, waits, state)
    SELECT id, 1, tenant, '', 'upsert', 'document', '', '', 'internal', 'en', '{}', '{}', '{}', '{}', 1, 1, '{}', 'live'
    FROM d
), c AS (
    INSERT INTO chunks (chunk_id, document, tenant, level, heading_path, body, lexemes)
    SELECT gen_random_uuid(), id, tenant, 'parent', '{}', 'b', 'word:1' FROM d RETURNING chunk_id, document, tenant
), m AS (
    INSERT INTO version_chunks (document, version, tenant, chunk_id, parent_id, level, ordinal)
    SELECT document, 1, tenant, chunk_id, chunk_id, 'parent', 1 FROM c
), x AS (
    INSERT INTO deletions (tenant, source, doc_id, version) SELECT tenant, 'help', 'gone', 1 FROM c
), g AS (
    INSERT INTO graph_mentions (chunk_id, document, generation, tenant, key, name, kind, mentions)
    SELECT chunk_id, document, 'g1', tenant, 'k', 'K', 'name', 1 FROM c
), r AS (
    INSERT INTO graph_relations (chunk_id, document, generation, tenant, subject, object, label, weight, subject_name,
                                 object_name)
    SELECT chunk_id, document, 'g1', tenant, 'k', 'l', 'asks', 1, 'K', 'L' FROM c
), o AS (
    INSERT INTO graph_overviews (tenant, generation, hash, title, text, language, weight, evidence, lexemes, model)
    SELECT tenant, 'g1', 'h', 't', 'x', 'en', 1, ARRAY[chunk_id], 'word:1', 'm' FROM c
)
INSERT INTO chunk_contexts (chunk_id, document, tenant, context) SELECT chunk_id, document, tenant, 'x' FROM c
"""


@asynccontextmanager
async def row_of_each(stack: Stack) -> AsyncIterator[None]:
    async with await psycopg.AsyncConnection.connect(stack.endpoints.postgres, autocommit=True) as admin:
        await admin.execute(ROW_OF_EACH.encode())
        try:
            yield
        finally:
            for table in ("documents", "deletions", "graph_overviews"):  # the rest goes with its document
                await admin.execute(f"DELETE FROM {table} WHERE tenant = 'seen'".encode())


async def test_who_only_reads_cannot_write_and_sees_one_tenant_without_a_where(stack: Stack, tmp_path: Path) -> None:
    tables = [grant.name for grant in postgres_roles.of_role(postgres_roles.QUERY)]
    async with pool_of(stack, "fuse") as pool, row_of_each(stack):
        for table in tables:
            count = f"SELECT count(*) AS n FROM {table}".encode()
            seen = {}
            for tenant in ("seen", "nobody", None):
                rows = await postgres.read(pool, "look", tenant=tenant, statement=count, parameters={})
                seen[tenant] = rows[0]["n"]
            assert seen == {"seen": 1, "nobody": 0, None: 0}, table
        for statement in (
            "INSERT INTO deletions VALUES ('acme', 'help', 'vpn', 9)",
            "UPDATE generations SET state = 'dropped'",
            "DELETE FROM chunks",
            "SELECT * FROM tenant_epochs",
            "SELECT * FROM documents FOR UPDATE",
            "CREATE TABLE mine (id int)",
            "ALTER TABLE chunks DISABLE ROW LEVEL SECURITY",
            "DROP TABLE garbage",
        ):
            with pytest.raises(ConfigurationError, match=r"permission denied|must be owner"):
                await postgres.read(pool, "write", tenant=None, statement=statement.encode(), parameters={})


@pytest.mark.parametrize("role", ["reader", "writer", "operator", "gateway"])
async def test_each_right_that_is_taken_away_is_named_before_a_processor_starts(
    stack: Stack, tmp_path: Path, role: str
) -> None:
    user = {"reader": "fuse", "writer": "chunk"}.get(role, role)
    wanted = postgres_roles.of_role(store_roles.NAMED.format(role))
    found = settings_of(stack, user, tmp_path)
    async with pool_of(stack, user) as pool:
        assert await postgres_rights.lacking(pool, wanted) == ()
        async with await psycopg.AsyncConnection.connect(stack.endpoints.postgres, autocommit=True) as admin:
            for grant in wanted:
                holders = [postgres_roles.QUERY, store_roles.NAMED.format(role)]
                await run(admin, "REVOKE {} FROM {}", grant, holders)
                try:
                    assert grant in await postgres_rights.lacking(pool, wanted)
                    if role != "operator":
                        with pytest.raises(ConfigurationError) as refused:
                            await _check_store_rights(found, (user,))
                        assert f"Postgres gives rankstream-{user} no right to " in str(refused.value)
                        assert grant.privilege in str(refused.value)
                        assert grant.name in str(refused.value)
                        assert "\n" not in str(refused.value)
                finally:
                    await migrate(as_user(stack, "owner"))
            assert await postgres_rights.lacking(pool, wanted) == ()


async def run(admin: psycopg.AsyncConnection[object], template: str, grant: Grant, roles: list[str]) -> None:
    columns = f" ({grant.column})" if grant.column else ""
    target = f"FUNCTION {grant.name}" if grant.privilege == "EXECUTE" else grant.name
    await admin.execute(template.format(f"{grant.privilege}{columns} ON {target}", ", ".join(roles)).encode())
