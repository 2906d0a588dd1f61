"""Document changes as CloudEvents 1.0 over Kafka: binary and structured mode, beside our own plain JSON.

Source: CloudEvents 1.0.2, its Kafka protocol binding (header names `ce_*`, values in UTF-8) and its JSON format.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from schemas.codec import InvalidMessage, decode, encode
from schemas.documents import DocumentChange
from schemas.event_fields import TYPES, Event, decode_text, is_timestamp, json_object, media_type, no_value, to_change
from schemas.generate import schema_id

_STRUCTURED = "application/cloudevents+json"


def read_document_change(value: bytes | None, headers: Mapping[str, bytes]) -> DocumentChange:
    """Read a record of `document-changes`: plain JSON, or a CloudEvent in binary or structured mode.

    `headers` are the record's, the last of each name. With a text content type the data is the document's text and its
    other fields are extension attributes (`ce_tenant`, `ce_version`, `ce_title`, ...); the subject is the doc id, the
    type the op, the time `updated_at`. JSON data comes first, attributes fill what it leaves out, and an identity said
    twice must agree. Of repeated JSON keys the last one counts, as in every message.

    Raises InvalidMessage, which names the field, header or attribute.
    """
    content_type = _header(headers, "content-type")
    media = media_type(content_type)
    if media.startswith("application/cloudevents"):
        change = to_change(_structured(value, media))
    elif any(name.startswith("ce_") for name in headers):
        change = to_change(_binary(value, headers, content_type))
    elif value is None:
        raise no_value("value")
    else:
        change = decode(value, DocumentChange)
    _refuse_nul(change)
    return change


def to_cloudevent(change: DocumentChange) -> tuple[bytes, dict[str, bytes]]:
    """Return the value and headers of `change` as a CloudEvent in binary mode with JSON data.

    The event's id names tenant, doc id and version: the same version sent twice is the same event.
    """
    attributes = {
        "specversion": "1.0",
        "type": next(name for name, op in TYPES.items() if op == change.op),
        "source": change.source,
        "id": f"{change.tenant}/{change.doc_id}/{change.version}",
        "subject": change.doc_id,
        "dataschema": schema_id("DocumentChange", change.schema_version),
    }
    if change.updated_at is not None and is_timestamp(change.updated_at):
        attributes["time"] = change.updated_at
    headers = {f"ce_{name}": text.encode() for name, text in attributes.items()}
    return encode(change), headers | {"content-type": b"application/json"}


def _binary(value: bytes | None, headers: Mapping[str, bytes], content_type: str) -> Event:
    names = [name for name, raw in headers.items() if name.startswith("ce_") and raw is not None]
    return Event(
        attributes={name.removeprefix("ce_"): _header(headers, name) for name in names},
        prefix="ce_",
        content_type=content_type or "application/json",
        content_type_field="content-type",
        data=value,
        data_field="value",
    )


def _structured(value: bytes | None, media: str) -> Event:
    if media != _STRUCTURED:
        raise InvalidMessage("validation", "content-type", f"{media} is not read; use {_STRUCTURED}")
    if value is None:
        raise no_value("value")
    envelope = json_object(value, None)
    content_type = envelope.get("datacontenttype") or "application/json"
    if not isinstance(content_type, str):
        raise InvalidMessage("validation", "datacontenttype", f"expected text, got {content_type!r}")
    data = envelope.get("data")
    if (encoded := envelope.get("data_base64")) is not None:
        if data is not None:
            raise InvalidMessage("validation", "data_base64", "given beside `data`; send one of them")
        try:
            data = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError, TypeError):
            raise InvalidMessage("validation", "data_base64", "not base64") from None
    return Event(
        attributes={name: item for name, item in envelope.items() if item is not None},
        prefix="",
        content_type=content_type,
        content_type_field="datacontenttype",
        data=data,
        data_field="data",
    )


def _header(headers: Mapping[str, bytes], name: str) -> str:
    raw = headers.get(name)
    if raw is None and name == "content-type":
        raw = next((value for other, value in headers.items() if other.lower() == name), None)
    return "" if raw is None else decode_text(raw, name)


_CLEANED = frozenset({"title", "content", "question", "answer"})  # a NUL in them is removed when they are normalised


def _refuse_nul(change: DocumentChange) -> None:
    """Refuse a NUL character where it would be part of a name; Postgres cannot store it."""
    for field in change.__struct_fields__:
        if field in _CLEANED:
            continue
        value = getattr(change, field)
        parts = (*value, *value.values()) if isinstance(value, dict) else value
        for part in parts if isinstance(parts, tuple) else (parts,):
            if isinstance(part, str) and "\0" in part:
                raise InvalidMessage("validation", field, "has a NUL character; remove it")
