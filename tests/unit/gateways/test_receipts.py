"""Who is told of which receipt."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from schemas import codec
from schemas.documents import DocKey, DocumentStatus
from streams.gateways.receipts import Receipts

KEY = DocKey(tenant="t", source="s", doc_id="d")


def record(version: int, **fields: Any) -> SimpleNamespace:
    named = {"tenant": "t", "source": "s", "doc_id": "d", **fields}
    status = DocumentStatus(version=version, generation="g1", status="searchable", **named)
    return SimpleNamespace(value=codec.encode(status))


@pytest.mark.parametrize(("version", "ends"), [(2, False), (3, True), (4, True)])
async def test_the_wait_ends_with_its_version_or_a_higher_one(version: int, ends: bool) -> None:
    receipts = Receipts()
    with receipts.expect(KEY, 3) as receipt:
        receipts.deliver(record(version))
        assert receipt.done() == ends


@pytest.mark.parametrize("other", [{"tenant": "u"}, {"source": "x"}, {"doc_id": "e"}])
async def test_receipts_of_other_documents_end_nothing(other: dict[str, str]) -> None:
    receipts = Receipts()
    with receipts.expect(KEY, 3) as receipt:
        receipts.deliver(record(3, **other))
        assert not receipt.done()


async def test_several_may_wait_for_versions_of_one_document() -> None:
    receipts = Receipts()
    with receipts.expect(KEY, 1) as first, receipts.expect(KEY, 2) as second:
        receipts.deliver(record(1))
        assert (first.done(), second.done()) == (True, False)
        receipts.deliver(record(2))
        assert second.result().version == 2
        assert first.result().version == 1
    assert len(receipts) == 0


async def test_what_is_no_receipt_is_passed_over() -> None:
    receipts = Receipts()
    with receipts.expect(KEY, 1) as receipt:
        receipts.deliver(SimpleNamespace(value=b"nonsense"))
        receipts.deliver(SimpleNamespace(value=None))
        assert not receipt.done()
