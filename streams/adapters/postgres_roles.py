"""The roles of Postgres, by the kind of work that each is for, and what each may do: the lines of sql/grants.sql."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from streams.adapters import postgres

QUERY = "rankstream_query"  # what questions run as; each that asks is a member
READER = "rankstream_reader"
WRITER = "rankstream_writer"
OPERATOR = "rankstream_operator"
GATEWAY = "rankstream_gateway"
ASKING = (READER, OPERATOR, GATEWAY)

_LINE = re.compile(rb"^GRANT (?P<privileges>.+) ON (?P<function>FUNCTION )?(?P<name>\S+) TO (?P<roles>.+);$", re.M)
_PRIVILEGE = re.compile(r"(?P<privilege>[A-Z]+)(?: \((?P<columns>[^)]*)\))?")


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A privilege on a table, on one of its columns, or on a function."""

    privilege: str
    name: str
    column: str = ""

    def __str__(self) -> str:
        return f"{self.privilege}{f' ({self.column})' if self.column else ''} on {self.name}"


@functools.cache
def of_role(role: str) -> tuple[Grant, ...]:
    """Return what a role may do by itself and, where its members ask questions, as rankstream_query."""
    asked = of_role(QUERY) if role in ASKING else ()
    return (*asked, *_read(role))


def of_roles(roles: Iterable[str]) -> tuple[Grant, ...]:
    """Return what roles may do together, each once."""
    return tuple(dict.fromkeys(grant for role in roles for grant in of_role(role)))


def _read(role: str) -> Iterator[Grant]:
    for line in _LINE.finditer(postgres.sql("grants")):
        if role not in line["roles"].decode().split(", "):
            continue
        name = line["name"].decode()
        for privilege in _PRIVILEGE.finditer(line["privileges"].decode()):
            for column in (privilege["columns"] or "").split(", "):
                yield Grant(privilege=privilege["privilege"], name=name, column=column)
