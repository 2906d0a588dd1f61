"""What the processors of one part of a version share: its identity, and its receipt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from schemas.chunks import Part
from schemas.documents import Receipt
from streams.processor import Failure
from streams.wire import Outgoing
from topics import catalogue


def record_key(part: Part) -> bytes:
    """Return the record key of a part's document."""
    return catalogue.document_key(part.tenant, part.source, part.doc_id)


def fields(part: Part) -> dict[str, Any]:
    """Return what a part carries on to the next message about it."""
    return {name: getattr(part, name) for name in Part.__struct_fields__ if name != "schema_version"}


def receipt(part: Part, writer: Literal["text", "vectors"], error: str | None = None) -> Outgoing:
    """Return the receipt of a part that a writer finished, or gave up with an error."""
    message = Receipt.of(part, writer, part.part, error)
    return Outgoing(topic=catalogue.RECEIPTS, key=record_key(part), message=message)


def failed_as(writer: Literal["text", "vectors"]) -> Callable[[Failure, Any], Sequence[Outgoing]]:
    """Return what turns a dead-lettered part into a `failed` receipt."""

    def failed(failure: Failure, _: Any) -> Sequence[Outgoing]:
        if not isinstance(failure.message, Part):
            return ()
        return [receipt(failure.message, writer, f"{failure.error_class}: {failure.error}"[:1000])]

    return failed
