"""The users of Postgres as an administrator's statements: roles, their members, and who owns the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streams.adapters import postgres, postgres_roles
from streams.errors import ConfigurationError
from streams.processors import store_roles

REFUSED = "\"'$\\"  # in a user's name


def statements(users: Iterable[str], name: str) -> Iterator[str]:
    """Yield SQL; `name` is how a user is called, with {name} in it; raise ConfigurationError."""
    if any(each in name for each in REFUSED):
        raise ConfigurationError(
            f"--principal {name!r}: a user of Postgres may have no quotes, $ or \\ in its name here"
        )
    yield "-- Run by a superuser in the database of rankstream, as often as you like. Then give the users passwords,"
    yield "-- and run `rankstream topics apply` as the owner: it makes the tables, and gives each role its rights."
    for file in ("roles", "leakproof"):
        yield f"{postgres.sql(file).decode().rstrip()};"
    for user in users:
        if user == "operator":
            yield "-- owner: `rankstream topics apply`"
            owner = name.replace("{name}", store_roles.OWNER)
            yield from _made(owner, postgres_roles.QUERY)
            grant = "GRANT CREATE, USAGE ON SCHEMA %I TO %I WITH GRANT OPTION"
            yield _block(f"EXECUTE format('{grant}', current_schema(), '{owner}');")
        role = store_roles.of_user(user)
        if role is not None:
            yield f"-- {user}"
            yield from _made(name.replace("{name}", user), store_roles.NAMED.format(role))


def _made(user: str, role: str) -> Iterator[str]:
    yield _block(f'IF to_regrole(\'"{user}"\') IS NULL THEN CREATE ROLE "{user}" LOGIN; END IF;')
    yield f'GRANT {role} TO "{user}";'


def _block(statement: str) -> str:
    return f"DO $$ BEGIN {statement} END $$;"
