"""What is refused before it is published."""

from __future__ import annotations

from typing import Any

import pytest

from schemas import codec
from schemas.documents import DocumentChange
from streams.errors import Invalid
from streams.gateways.publishing import checked


def change(**fields: Any) -> DocumentChange:
    return DocumentChange(**{"tenant": "t", "doc_id": "d", "version": 1, **fields})


def test_a_good_change_is_published_as_it_is() -> None:
    good = change(content="text", metadata={"a": 1}, tags=("x",))
    assert codec.decode(checked(good), DocumentChange) == good


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        (
            {"content": "x" * 2_000_001},
            "content",
            "has 2,000,001 characters; the limit is 2,000,000: split the document",
        ),
        ({"tenant": "T"}, "tenant", "may have only a-z, 0-9, '.', '_' and '-', and at least one of them; it is 'T'"),
        ({"version": -1}, "version", "must be at least 0"),
        ({"doc_id": "a\nb"}, "doc_id", "must not be empty or hold control characters"),
        ({"language": "EN"}, "language", "must be an ISO 639 code"),
        ({"title": "x" * 2_001}, "title", "has 2,001 characters; the limit is 2,000"),
        ({"tags": ("",)}, "tags[0]", "must not be empty"),
        ({"agents": ("No",)}, "agents[0]", "may have only a-z"),
        ({"op": "purge"}, "op", "Invalid enum value 'purge'"),
        ({"uri": "a\0b"}, "uri", "has a NUL character"),
        ({"content": "\ud800"}, None, "cannot be written as JSON"),
    ],
)
def test_a_bad_change_names_its_field_and_the_way_out(fields: dict[str, Any], field: str | None, says: str) -> None:
    with pytest.raises(Invalid) as error:
        checked(change(**fields))
    assert error.value.field == field
    assert error.value.message.startswith(says)
