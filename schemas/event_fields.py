"""From the attributes and the data of a CloudEvent to the fields of a document change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from schemas.base import NAME_PATTERN
from schemas.codec import InvalidMessage, from_builtins
from schemas.documents import DocumentChange, Op

TYPES: Mapping[str, Op] = {"dev.rankstream.document.upsert": "upsert", "dev.rankstream.document.delete": "delete"}
TEXT_TYPES = ("text/markdown", "text/html", "text/plain")

_REQUIRED = ("specversion", "type", "source", "id")
# CloudEvents allows only [a-z0-9] in the name of an extension; `docsource` is for a `source` that is a URI.
_WORDS = {"subject": "doc_id", "docsource": "source"} | {
    name: name for name in ("tenant", "title", "uri", "language", "kind", "trust", "question", "answer")
}
_LISTS = ("agents", "pinned", "tags")  # comma-separated
_IDENTITY = ("tenant", "source", "doc_id", "version", "op")


@dataclass(frozen=True, kw_only=True)
class Event:
    """A CloudEvent of either mode; the prefix and the two field names are for errors, as its sender knows them."""

    attributes: Mapping[str, Any]  # by CloudEvents' names, nulls left out
    prefix: str
    content_type: str  # of the data
    content_type_field: str
    data: Any  # bytes, text, dict or None
    data_field: str


def to_change(event: Event) -> DocumentChange:
    """Return the document change that an event means; raise InvalidMessage."""
    _check_envelope(event)
    said, origins = _attribute_fields(event)
    data, is_text = _data_fields(event, delete=said["op"] == "delete")
    for name in _IDENTITY:
        if name in said and name in data and said[name] != data[name]:
            raise _wrong(event, origins[name], f"says {said[name]!r}, but `{name}` in the data says {data[name]!r}")
    fields = said | data
    if "source" not in fields:
        fields["source"] = _source(event)
    try:
        return from_builtins(fields, DocumentChange)
    except InvalidMessage as error:
        name = re.split(r"[.\[]", error.field or "")[0]
        if name in origins and name not in data:
            raise _wrong(event, origins[name], error.message) from error
        # Without JSON data there is only one place where a required field could have been.
        if name in ("tenant", "doc_id", "version") and (is_text or not data):
            raise _wrong(event, {"doc_id": "subject"}.get(name, name), "missing") from error
        raise


def _check_envelope(event: Event) -> None:
    for name in _REQUIRED:
        if not event.attributes.get(name):
            raise _wrong(event, name, "missing, and CloudEvents requires it")
        if not isinstance(event.attributes[name], str):
            raise _wrong(event, name, f"expected text, got {event.attributes[name]!r}")
    if event.attributes["specversion"] != "1.0":
        raise _wrong(event, "specversion", f"{event.attributes['specversion']!r} is not read; use 1.0")
    if event.attributes["type"] not in TYPES:
        raise _wrong(event, "type", f"unknown type {event.attributes['type']!r}; use {' or '.join(TYPES)}")


def _attribute_fields(event: Event) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the fields that the attributes give, and by field the attribute it came from."""
    given = event.attributes
    said: dict[str, Any] = {"op": TYPES[given["type"]]}
    origins = {"op": "type"}
    for attribute, field in _WORDS.items():
        if attribute in given:
            said[field], origins[field] = given[attribute], attribute
    for name in _LISTS:
        if name in given:
            if not isinstance(given[name], str):
                raise _wrong(event, name, f"expected comma-separated text, got {given[name]!r}")
            said[name], origins[name] = [part.strip() for part in given[name].split(",") if part.strip()], name
    if "version" in given:
        said["version"], origins["version"] = _version(event), "version"
    if "time" in given:
        if not isinstance(given["time"], str) or not is_timestamp(given["time"]):
            raise _wrong(event, "time", f"{given['time']!r} is not an RFC 3339 timestamp")
        said["updated_at"], origins["updated_at"] = given["time"], "time"
    return said, origins


def _version(event: Event) -> int:
    given = event.attributes["version"]
    # CloudEvents' integers have 32 bits, so that larger versions come as text.
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    if isinstance(given, str) and re.fullmatch(r"[0-9]{1,19}", given):
        return int(given)
    raise _wrong(event, "version", f"{given!r} is not a whole number from 0 to 2^63 - 1")


def _source(event: Event) -> str:
    source: str = event.attributes["source"]
    if not re.match(NAME_PATTERN, source):
        remedy = f"add `source` to the data or set {event.prefix}docsource"
        raise _wrong(event, "source", f"{source!r} is not a source's name ([a-z0-9._-]+); {remedy}")
    return source


def _data_fields(event: Event, *, delete: bool) -> tuple[dict[str, Any], bool]:
    """Return the fields that the data gives, and whether the data is a document's text."""
    media = media_type(event.content_type)
    if event.data is None or (event.data == b"" and media not in TEXT_TYPES):
        # The type and the attributes say which version a deletion without data is; nothing else may come without.
        if delete:
            return {}, False
        raise no_value(event.data_field)
    charset = re.search(r';\s*charset="?([^";\s]+)', event.content_type, re.IGNORECASE)
    if charset and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        raise InvalidMessage("validation", event.content_type_field, f"charset {charset[1]} is not read; use utf-8")
    if media in TEXT_TYPES:
        text = decode_text(event.data, "content") if isinstance(event.data, bytes) else event.data
        if not isinstance(text, str):
            raise InvalidMessage("validation", event.data_field, f"expected text, got {type(text).__name__}")
        return {"content": text, "content_type": media}, True
    if media == "application/json" or media.endswith("+json"):
        return json_object(event.data, event.data_field), False
    accepted = ", ".join(("application/json", *TEXT_TYPES))
    raise InvalidMessage("validation", event.content_type_field, f"{media!r} is not read; use one of {accepted}")


def json_object(data: Any, field: str | None) -> dict[str, Any]:
    """Return `data`, decoded where it is bytes, as an object; raise InvalidMessage."""
    if isinstance(data, bytes):
        try:
            data = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidMessage("decode", field, f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise InvalidMessage("validation", field, f"expected a JSON object, got {type(data).__name__}")
    return data


def decode_text(data: bytes, field: str) -> str:
    """Decode UTF-8, leaving out a byte order mark; raise InvalidMessage."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidMessage("decode", field, f"not UTF-8: {error.reason} at byte {error.start}") from error


def media_type(content_type: str) -> str:
    """Return a content type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_timestamp(text: str) -> bool:
    """Tell whether `text` is a time with a zone, as CloudEvents requires."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def no_value(field: str) -> InvalidMessage:
    """Return the error for a record or event without data: a tombstone has no version, so it is no deletion."""
    return InvalidMessage(
        "validation", field, "null; a deletion is `op: delete` with its version, which gives it its place in order"
    )


def _wrong(event: Event, attribute: str, message: str) -> InvalidMessage:
    return InvalidMessage("validation", f"{event.prefix}{attribute}", message)
