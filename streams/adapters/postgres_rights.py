"""Whether the database is as this release wants it, and what its user may do there; nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import errors

from streams.adapters import migrations, postgres
from streams.adapters.postgres_roles import Grant


async def unready(pool: postgres.Pool) -> tuple[str, ...]:
    """Return the names of migrations that are not applied, and of those that this release does not know."""
    async with postgres.transaction(pool, "read the migrations") as connection:
        try:
            async with connection.transaction():
                rows = await (await connection.execute(b"SELECT name FROM migrations ORDER BY name")).fetchall()
        except errors.UndefinedTable:
            rows = []
    known, applied = migrations.names(), {row["name"] for row in rows}
    missing = tuple(f"{name} is missing" for name in known if name not in applied)
    return missing + tuple(f"{name} is of a later release" for name in sorted(applied - set(known)))


async def lacking(pool: postgres.Pool, wanted: Sequence[Grant]) -> tuple[Grant, ...]:
    """Return what is wanted and not granted to the user, of tables that are there."""
    parameters = {
        "privileges": [grant.privilege for grant in wanted],
        "names": [grant.name for grant in wanted],
        "columns": [grant.column for grant in wanted],
    }
    async with postgres.transaction(pool, "read the privileges") as connection:
        rows = await (await connection.execute(postgres.sql("check_grants"), parameters)).fetchall()
    return tuple(wanted[row["place"] - 1] for row in rows)


def said(grants: Sequence[Grant]) -> str:
    """Return grants in words, those on one table together."""
    by_name: dict[str, list[str]] = {}
    for grant in grants:
        by_name.setdefault(grant.name, []).append(
            f"{grant.privilege} ({grant.column})" if grant.column else grant.privilege
        )
    return "; ".join(f"{', '.join(privileges)} on {name}" for name, privileges in by_name.items())


async def unguarded(pool: postgres.Pool) -> str | None:
    """Return why questions of this user are held to their tenant by their statements alone; none where they are not."""
    async with postgres.transaction(pool, "look at row-level security") as connection:
        [found] = await (await connection.execute(postgres.sql("check_row_security"))).fetchall()
    if not found["enabled"]:
        return "row-level security is off"
    return None if found["member"] else "the user is no member of rankstream_query: row-level security does not hold it"


async def user(pool: postgres.Pool) -> str:
    """Return who this is to Postgres."""
    async with postgres.transaction(pool, "read the user") as connection:
        [row] = await (await connection.execute(b"SELECT current_user AS name")).fetchall()
    return str(row["name"])
