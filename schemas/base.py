"""The base of every message and the value types they share."""

from __future__ import annotations

from typing import Annotated

import msgspec

# `$` alone would let a trailing newline pass in Python's `re`.
END = r"$(?!\n)"
NAME_PATTERN = rf"^[a-z0-9._-]+{END}"

Tenant = Annotated[
    str, msgspec.Meta(pattern=NAME_PATTERN, max_length=128, description="an organization, the unit of isolation")
]
Source = Annotated[str, msgspec.Meta(pattern=NAME_PATTERN, max_length=128, description="where a document comes from")]
# No control character: an id is printed in terminals and sent in URLs.
DocId = Annotated[str, msgspec.Meta(pattern=rf"^[^\x00-\x1f\x7f]+{END}", max_length=512)]
Agent = Annotated[str, msgspec.Meta(pattern=NAME_PATTERN, max_length=128, description="an assistant of a tenant")]
Version = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1, description="a monotonic integer given by the source")]
Metadata = dict[str, str | int | float | bool | None]


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="name"):
    """A thing that travels on a topic.

    Its JSON carries `name` (the class) and a schema version. Messages about documents, which have a `version` of their
    own, call that number `schema_version`; all others call it `version`.
    """


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a message; it has no name and no version of its own."""


class Schema:
    """The schema version that this code writes, by message name; older ones are read, newer ones refused."""

    CURRENT = 1
