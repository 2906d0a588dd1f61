"""Migrations of the database: numbered .sql files, applied once each, in order, by one process at a time."""

from __future__ import annotations

import logging
import re
from importlib import resources

from psycopg import errors

from streams.adapters import postgres

_LOG = logging.getLogger(__name__)
_NUMBERED = re.compile(r"^(\d{4})_\w+\.sql$")
_LOCK = 0x72616E6B  # "rank"; an advisory lock of this number is ours
_TABLE = b"CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"


def names() -> tuple[str, ...]:
    """Return the names of all migrations, without their ending, in the order in which they apply."""
    files = resources.files("streams.adapters").joinpath("sql").iterdir()
    return tuple(sorted(file.name.removesuffix(".sql") for file in files if _NUMBERED.match(file.name)))


async def migrate(url: str) -> tuple[str, ...]:
    """Bring the database up to date; return the migrations applied now; raise ConfigurationError, StoreUnavailable."""
    pool = await postgres.open_pool(url, size=1)
    try:
        async with postgres.transaction(pool, "migrate the database", seconds=600) as connection:
            return await _apply(connection)
    finally:
        await pool.close()


async def _apply(connection: postgres.Connection) -> tuple[str, ...]:
    # Another process may build an index for longer than a document's lock may take.
    await connection.execute(b"SET LOCAL lock_timeout = 0")
    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    await connection.execute(_TABLE)
    rows = await (await connection.execute(b"SELECT name FROM migrations")).fetchall()
    applied = {row["name"] for row in rows}
    pending = tuple(name for name in names() if name not in applied)
    for name in pending:
        await connection.execute(postgres.sql(name))
        await connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))
    await _roles(connection)
    return pending


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
