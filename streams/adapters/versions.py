"""Versions of documents in Postgres.

Every transaction locks its document's row first, then touches that document only, and the tenant's epoch last: with one
order for all there are no deadlocks.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg.types.json import Jsonb

from schemas.documents import DocKey, DocumentStatus, Receipt
from streams.adapters import postgres, versions_rules
from streams.adapters.postgres import Connection, Parameters, sql
from streams.adapters.versions_rules import Step
from streams.domain.versions import Admission, Candidate, Publication, Verdict
from streams.telemetry.calls import traced

HISTORY = 10  # superseded versions kept of a document

Row = dict[str, Any]


@traced("postgresql", "accept", "hold", "last", "complete", "collect", "unreplayed", "standing")
class PostgresVersions:
    """The VersionStore port on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def accept(self, candidate: Candidate) -> Admission:
        """Judge a version; record a new one, and reopen a repeated one that is not live."""
        change = candidate.change
        named = key_of(change.key, candidate.generation)
        async with postgres.transaction(self._pool, "accept a version") as connection:
            await connection.execute(sql("document_insert"), named)
            document = await _first(connection, "document_lock", named)
            if document is None:  # the generation was dropped: what comes now is late for all of it
                return Admission(verdict=Verdict.STALE)
            verdict = versions_rules.judge(candidate, document["accepted_version"], document["accepted_hash"])
            if verdict in (Verdict.STALE, Verdict.CONFLICT):
                return Admission(verdict=verdict, accepted_version=document["accepted_version"])
            version = {"document": document["id"], "version": change.version, "tenant": change.tenant}
            if verdict is Verdict.NEW:
                await connection.execute(sql("version_insert"), _version_row(candidate) | version)
                await connection.execute(sql("members_insert"), _members(candidate) | version)
            elif document["live_version"] != change.version:
                await _reopen(connection, candidate, version)
            live = await _ids(connection, "members_read", version | {"version": document["live_version"]})
            if verdict is Verdict.NEW and change.op == "delete":
                await connection.execute(sql("deletion_insert"), named | version)
                await connection.execute(sql("epoch_bump"), named)
        return Admission(
            verdict=verdict,
            live=document["live_version"] == change.version,
            live_chunks=frozenset(live) & {chunk.id for chunk in candidate.chunks},
            accepted_version=change.version,
        )

    @asynccontextmanager
    async def hold(self, key: DocKey, version: int, generation: str) -> AsyncIterator[bool]:
        """Share the document's row while a writer works: other writers may too, but nothing flips or is collected."""
        async with postgres.held(self._pool, "hold a document") as connection:
            yield await share(connection, key, version, generation) is not None

    @asynccontextmanager
    async def last(self, key: DocKey, version: int) -> AsyncIterator[bool]:
        """Share the document's rows, of all generations, while its version is logged: `accept` waits for them."""
        named = {"tenant": key.tenant, "source": key.source, "doc_id": key.doc_id}
        async with postgres.held(self._pool, "log a version") as connection:
            rows = await (await connection.execute(sql("document_share_all"), named)).fetchall()
            yield version == max((row["accepted_version"] for row in rows), default=None)

    async def complete(self, receipt: Receipt) -> Publication | None:
        """Record a receipt; flip its version when it was the last one."""
        named = key_of(receipt.key, receipt.generation)
        async with postgres.transaction(self._pool, "record a receipt") as connection:
            document = await _first(connection, "document_lock", named)
            if document is None:
                return None
            at = {"document": document["id"], "version": receipt.version}
            version = await _first(connection, "version_read", at)
            if version is None:
                return None
            step = versions_rules.settle(receipt, live_version=document["live_version"], waiting=version["waits"])
            if step is Step.WAITING:
                left = versions_rules.remaining(version["waits"], receipt)
                await connection.execute(sql("version_wait"), at | {"waits": left})
            elif step is Step.FAILED:
                return await _fail(connection, receipt, document)
            elif step is Step.FLIPPED:
                shared = await _ids(connection, "shared", at)
                await connection.execute(sql("flip"), at | {"rewrite": shared, "history": HISTORY})
                await connection.execute(sql("epoch_bump"), named)
                version = await _one(connection, "version_read", at)
            if step not in (Step.FLIPPED, Step.REPEATED):
                return None
            return versions_rules.publication(
                receipt,
                op=version["op"],
                chunks=version["chunks"],
                agents=version["agents"],
                tags=version["tags"],
                rewrite=version["rewrite"],
                overtaken=version["overtaken"],
            )

    async def collect(self, key: DocKey, generation: str, remove: Callable[[Sequence[str]], Awaitable[None]]) -> None:
        """Remove, here and by `remove`, what flips took out; repeated in full when it did not come to its end."""
        async with postgres.held(self._pool, "collect replaced chunks") as connection:
            document = await _first(connection, "document_lock", key_of(key, generation))
            if document is None:
                return
            unwanted = await _ids(connection, "collect", {"document": document["id"]})
            if unwanted:
                await remove(unwanted)

    async def unreplayed(self, key: DocKey, version: int, generation: str) -> bool:
        """Tell whether a version of the log has still to be brought into a generation."""
        named = key_of(key, generation) | {"version": version}
        async with postgres.transaction(self._pool, "look for a version") as connection:
            return bool((await _one(connection, "version_unreplayed", named))["unreplayed"])

    async def standing(self, key: DocKey, version: int, generation: str) -> DocumentStatus | None:
        """Return what is to be said of a version in a generation."""
        named = key_of(key, generation) | {"version": version}
        async with postgres.transaction(self._pool, "read a version") as connection:
            row = await _first(connection, "version_standing", named)
        return None if row is None else versions_rules.standing(key, version, generation, **row)


def key_of(key: DocKey, generation: str) -> Row:
    """Return the parameters that name a document in the statements."""
    return {"tenant": key.tenant, "source": key.source, "doc_id": key.doc_id, "generation": generation}


async def share(connection: Connection, key: DocKey, version: int, generation: str) -> int | None:
    """Lock a document's row against flips and return its id; none when the version cannot become live any more."""
    row = await _first(connection, "document_share", key_of(key, generation))
    if row is None or row["accepted_version"] < version or version < (row["live_version"] or 0):
        return None
    return int(row["id"])


async def _reopen(connection: Connection, candidate: Candidate, version: Row) -> None:
    """Make a repeated version pending again; it waits for what it still waited for, if it is cut as before."""
    row = await _one(connection, "version_read", version)
    members = await _ids(connection, "members_read", version)
    waiting = row["waits"]
    if row["parts"] != candidate.parts or members != [chunk.id for chunk in candidate.chunks]:
        # Cut by another release: nothing that was reported about the old parts holds for the new ones.
        await connection.execute(sql("members_forget"), version)
        await connection.execute(sql("members_insert"), _members(candidate) | version)
        waiting = versions_rules.waits(candidate.parts)
    counts = {"parts": candidate.parts, "chunks": len(candidate.chunks), "waits": waiting}
    await connection.execute(sql("version_reopen"), version | counts)


async def _fail(connection: Connection, receipt: Receipt, document: Row) -> Publication:
    at = {"document": document["id"], "version": receipt.version}
    await connection.execute(sql("version_fail"), at | {"reason": receipt.error})
    live = at | {"version": document["live_version"]}
    row = await _first(connection, "version_read", live)
    if row is None:
        return versions_rules.failure(receipt)
    shared = await _ids(connection, "shared", live)
    return versions_rules.failure(receipt, agents=row["agents"], tags=row["tags"], rewrite=shared)


def _members(candidate: Candidate) -> Row:
    return {
        "chunk_ids": [chunk.id for chunk in candidate.chunks],
        "parent_ids": [chunk.parent_id for chunk in candidate.chunks],
        "levels": [chunk.level for chunk in candidate.chunks],
    }


def _version_row(candidate: Candidate) -> Row:
    change = candidate.change
    return {
        "hash": candidate.content_hash,
        "op": change.op,
        "kind": change.kind,
        "title": change.title,
        "uri": change.uri,
        "trust": change.trust,
        "language": candidate.language,
        "agents": sorted(set(change.agents)),
        "pinned": sorted(set(change.pinned)),
        "tags": sorted(set(change.tags)),
        "metadata": Jsonb(dict(change.metadata), dumps=json.dumps),
        "updated_at": change.updated_at,
        "parts": candidate.parts,
        "chunks": len(candidate.chunks),
        "waits": versions_rules.waits(candidate.parts),
        "replayed": candidate.replayed,
    }


async def _first(connection: Connection, name: str, parameters: Parameters) -> Row | None:
    return await (await connection.execute(sql(name), parameters)).fetchone()


async def _one(connection: Connection, name: str, parameters: Parameters) -> Row:
    row = await _first(connection, name, parameters)
    if row is None:
        raise LookupError(f"{name} found nothing for {dict(parameters)}")
    return row


async def _ids(connection: Connection, name: str, parameters: Parameters) -> list[str]:
    rows = await (await connection.execute(sql(name), parameters)).fetchall()
    return [row["chunk_id"] for row in rows]
