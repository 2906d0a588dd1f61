"""Migrations of the database: numbered .sql files, applied once each, in order, by one process at a time."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import TypeVar, cast

from psycopg import errors

from streams.adapters import postgres
from streams.errors import StoreUnavailable, Transient

Result = TypeVar("Result")

BATCH = 200  # documents
_LOG = logging.getLogger(__name__)
_NUMBERED = re.compile(r"^(\d{4})_\w+\.sql$")
_LOCK = 0x72616E6B  # "rank"; an advisory lock of this number is ours
_TABLE = b"CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
_IN_BATCHES = frozenset({"0011_tenants_of_old_rows"})
_DOING = "migrate the database"
_WAIT = b"SET LOCAL lock_timeout = '3s'"
_TRIES = 100  # longer than a writer may hold a document


def names() -> tuple[str, ...]:
    """Return the names of all migrations, without their ending, in the order in which they apply."""
    files = resources.files("streams.adapters").joinpath("sql").iterdir()
    return tuple(sorted(file.name.removesuffix(".sql") for file in files if _NUMBERED.match(file.name)))


async def migrate(url: str) -> tuple[str, ...]:
    """Bring the database up to date; return the migrations applied now; raise ConfigurationError, Transient.

    Each migration is a transaction of its own. What was interrupted goes on where it was.
    """
    pool = await postgres.open_pool(url, size=2)
    try:
        with postgres.translated(_DOING):
            async with pool.connection(timeout=postgres.OPEN_SECONDS) as alone:
                # Another process may work for long. The lock ends with the connection.
                await alone.execute(b"SET lock_timeout = '600s'")
                await alone.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
                return await _apply(pool)
    finally:
        await pool.close()


async def _apply(pool: postgres.Pool) -> tuple[str, ...]:
    pending = await _step(pool, _pending)
    for name in pending:
        if name in _IN_BATCHES:
            await _fill(pool, name)

        async def apply(connection: postgres.Connection, name: str = name) -> None:
            if name not in _IN_BATCHES:
                await connection.execute(postgres.sql(name))
            await connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))

        await _step(pool, apply)
    # The policies come last: rows without a tenant would be hidden.
    await _step(pool, _roles)
    return pending


async def _pending(connection: postgres.Connection) -> tuple[str, ...]:
    await connection.execute(_TABLE)
    rows = await (await connection.execute(b"SELECT name FROM migrations")).fetchall()
    applied = {row["name"] for row in rows}
    return tuple(name for name in names() if name not in applied)


async def _fill(pool: postgres.Pool, name: str) -> None:
    """Run a migration batch by batch, so that no writer waits for more than one."""
    after: int | None = 0

    async def batch(connection: postgres.Connection) -> int | None:
        [row] = await (await connection.execute(postgres.sql(name), {"after": after, "documents": BATCH})).fetchall()
        return cast("int | None", row["last"])

    while after is not None:
        after = await _step(pool, batch)


async def _step(pool: postgres.Pool, work: Callable[[postgres.Connection], Awaitable[Result]]) -> Result:
    """Do something in a transaction; again, where others hold what it needs: a long wait would stop all behind it."""
    for _ in range(_TRIES):
        try:
            async with postgres.transaction(pool, _DOING, seconds=600) as connection:
                await connection.execute(_WAIT)
                return await work(connection)
        except StoreUnavailable:
            raise
        except Transient as error:
            _LOG.info("%s", error)
            await asyncio.sleep(1)
    raise Transient(f"postgres could not {_DOING}: others held its tables or documents for too long; try again")


async def _roles(connection: postgres.Connection) -> None:
    """Make the roles, and give each what it needs; what this user may not do is told, and left to an administrator."""
    connection.add_notice_handler(_warn)
    made = await _allowed(connection, "roles", "the roles are not there, row-level security is off")
    # Below a policy, searches without the mark read the whole table.
    marked = await _allowed(connection, "leakproof", "row-level security is off, the explicit filter stands alone")
    granted = made and all(
        [await _allowed(connection, name, "the roles lack rights") for name in ("schema_usage", "grants")]
    )
    if granted and marked:
        await _allowed(connection, "row_security", "row-level security is off, the explicit filter stands alone")


async def _allowed(connection: postgres.Connection, name: str, otherwise: str) -> bool:
    try:
        async with connection.transaction():
            await connection.execute(postgres.sql(name))
    except errors.InsufficientPrivilege as error:
        why = error.diag.message_primary
        _LOG.warning("%s: %s; `rankstream acls --format postgres` prints what an administrator runs", otherwise, why)
        return False
    return True


def _warn(diagnostic: errors.Diagnostic) -> None:
    if diagnostic.severity_nonlocalized == "WARNING":
        _LOG.warning("%s", diagnostic.message_primary)
