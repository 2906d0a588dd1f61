"""Saying what is wrong with a field in words that tell how to mend it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from schemas import codec
from schemas.codec import InvalidMessage
from schemas.documents import DocKey, DocumentChange
from streams.errors import Invalid

_NAMES = "may have only a-z, 0-9, '.', '_' and '-', and at least one of them"
_PATTERNS = {
    "tenant": _NAMES,
    "source": _NAMES,
    "agent": _NAMES,
    "agents": _NAMES,
    "pinned": _NAMES,
    "sources": _NAMES,
    "profile": "may have only a-z, 0-9 and '-', and at least one of them",
    "language": "must be an ISO 639 code of two or three small letters, such as 'en'",
    "doc_id": "must not be empty or hold control characters such as line breaks",
    "tags": "must not be empty or hold control characters such as line breaks",
    "directory": "must not hold control characters such as line breaks",
    "query_id": "must not be empty or hold spaces, control characters or letters beyond ASCII",
}
_BOUND = re.compile(r"^Expected `(?P<type>\w+)` (?P<length>of length )?(?P<sign><=|>=) (?P<limit>-?\d+)$")


def invalid(error: InvalidMessage, fields: Mapping[str, Any]) -> Invalid:
    """Turn a codec's complaint about `fields` into one that names the field and the way out."""
    return Invalid(_message(error, fields), field=error.field)


def document_key(tenant: str, source: str, doc_id: str) -> DocKey:
    """Return the key of a document as somebody named it; raise Invalid that names the field."""
    fields = {"tenant": tenant, "source": source, "doc_id": doc_id, "version": 0}
    try:
        return codec.from_builtins({"name": "DocumentChange", **fields}, DocumentChange).key
    except InvalidMessage as error:
        raise invalid(error, fields) from error


def _message(error: InvalidMessage, fields: Mapping[str, Any]) -> str:
    path = error.field or ""
    name = re.sub(r"\[[^]]*\]", "", path).rsplit(".", 1)[-1]
    if "matching regex" in error.message and name in _PATTERNS:
        value = fields.get(path)
        return f"{_PATTERNS[name]}" + (f"; it is {value[:80]!r}" if isinstance(value, str) and value else "")
    bound = _BOUND.match(error.message)
    if bound is None:
        return error.message
    limit = int(bound["limit"])
    if bound["length"]:
        if bound["sign"] == ">=":
            return "must not be empty"
        value = fields.get(path)
        has = f"has {len(value):,} characters; " if isinstance(value, str) else ""
        return f"{has}the limit is {limit:,}" + (": split the document" if name in ("content", "answer") else "")
    return f"must be at {'most' if bound['sign'] == '<=' else 'least'} {limit:,}"
