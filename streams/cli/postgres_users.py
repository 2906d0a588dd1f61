"""The users of Postgres as an administrator's statements: roles, their members, and who owns the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streams.adapters import postgres, postgres_roles
from streams.errors import ConfigurationError
from streams.processors import store_roles

REFUSED = "\"'$\\"  # in a user's name


def statements(names: Sequence[str], pattern: str) -> Iterator[str]:
    """Yield SQL that makes these users, for none one of each kind; raise ConfigurationError.

    pattern: how a user is called, with {name} in it.
    """
    if any(each in pattern for each in REFUSED):
        raise ConfigurationError(
            f"--principal {pattern!r}: no quotes, $ or \\ may be in the name of a user of Postgres"
        )
    for name in names:
        if name != store_roles.OWNER and store_roles.of_user(name) is None:
            raise ConfigurationError(f"{name!r} has nothing to do in Postgres, or there is no such user")
    yield "-- Run by a superuser in the database of rankstream, as often as you like. Then give the users passwords,"
    yield "-- and run `rankstream topics apply` as the owner: it makes the tables, and gives each role its rights."
    for file in ("roles", "leakproof"):
        yield f"{postgres.sql(file).decode().rstrip()};"
    for name in names or (store_roles.OWNER, *store_roles.ROLES):
        user, role = pattern.replace("{name}", name), store_roles.of_user(name)
        yield f"-- {name}"
        yield _block(f'IF to_regrole(\'"{user}"\') IS NULL THEN CREATE ROLE "{user}" LOGIN; END IF;')
        yield f'GRANT {store_roles.NAMED.format(role) if role else postgres_roles.QUERY} TO "{user}";'
        if role is None:
            grant = "GRANT CREATE, USAGE ON SCHEMA %I TO %I WITH GRANT OPTION"
            yield _block(f"EXECUTE format('{grant}', current_schema(), '{user}');")


def _block(statement: str) -> str:
    return f"DO $$ BEGIN {statement} END $$;"
