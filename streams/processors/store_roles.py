"""Which role of Postgres each user works with, by its kind of work; who is not named does not go there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from streams.processors import catalogue
from streams.processors.extract import EXTRACT, EXTRACT_BULK
from streams.processors.index_vectors import INDEX_VECTORS
from streams.processors.publish_version import PUBLISH_VERSION

Role = Literal["reader", "writer", "operator", "gateway"]

ROLES: tuple[Role, ...] = get_args(Role)
NAMED = "rankstream_{}"  # a role of Postgres
OWNER = "owner"  # a user: `rankstream topics apply`, who owns the tables
_STORELESS = (EXTRACT, EXTRACT_BULK)
# Who writes to Qdrant; all others read there at most, once the collection is made.
WRITE_VECTORS = frozenset({INDEX_VECTORS.name, PUBLISH_VERSION.name, "operator"})


def of_user(name: str) -> Role | None:
    """Return the role of a processor, of another user of the installation, or of a user called as the role."""
    return _ROLES.get(name)


def of_users(names: Iterable[str]) -> tuple[str, ...]:
    """Return the roles of Postgres of these users, each once."""
    return tuple(dict.fromkeys(NAMED.format(role) for name in names if (role := _ROLES.get(name)) is not None))


_ROLES: dict[str, Role] = {
    **{role: role for role in ROLES},
    **{processor.name: "writer" for processor in catalogue.INGEST if processor not in _STORELESS},
    **{processor.name: "reader" for processor in catalogue.QUERY},
}
