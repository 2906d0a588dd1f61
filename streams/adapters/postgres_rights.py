"""Whether the database is as this release wants it, and what its user may do there; nothing is changed."""

from __future__ import annotations

from psycopg import errors

from streams.adapters import migrations, postgres


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


async def lacking(pool: postgres.Pool) -> tuple[str, ...]:
    """Return a line for each table on which the user may not do all, and one where tenants are not kept apart twice."""
    async with postgres.transaction(pool, "read the privileges") as connection:
        rows = await (await connection.execute(postgres.sql("check_tables"))).fetchall()
        [role] = await (await connection.execute(postgres.sql("check_query_role"))).fetchall()
    found = tuple(f"{', '.join(row['lacking'])} on table {row['name']}" for row in rows)
    if not role["member"]:
        found += ("membership of rankstream_query, without which row-level security is off",)
    return found
