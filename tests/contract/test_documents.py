"""Live documents as a whole: fenced like a search."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from streams.adapters.live_documents import PostgresDocuments
from streams.adapters.memory_documents import MemoryDocuments
from streams.adapters.postgres import Pool
from streams.domain.live_document import Holdings
from streams.ports import DocumentReader
from tests.contract.building import GENERATION, KEY, change, deletion, scope
from tests.contract.stores import Stores

Both = tuple[Stores, DocumentReader]


@pytest.fixture(params=["memory", "real"])
def both(request: pytest.FixtureRequest) -> Both:
    """The stores, to write with, and the reader on them."""
    found: Both = request.getfixturevalue(f"{request.param}_both")
    return found


@pytest.fixture
def memory_both(memory_stores: Stores) -> Both:
    return memory_stores, MemoryDocuments(memory_stores.versions._state)  # type: ignore[attr-defined]


@pytest.fixture
def real_both(real_stores: Stores, by_role: Mapping[str, Pool]) -> Both:
    return real_stores, PostgresDocuments(pool=by_role["gateway"])


async def test_a_live_document_is_read_with_its_passages_in_order(both: Both) -> None:
    stores, reader = both
    await stores.put(change(3, "one | two", uri="https://a", tags=("x",), trust="external"))
    found = await reader.read(scope(), KEY.source, KEY.doc_id)
    assert found is not None
    assert [part.body for part in found.parts] == ["one", "two"]
    assert {part.heading_path for part in found.parts} == {("Refunds",)}
    named = (found.source, found.doc_id, found.version, found.kind, found.title, found.uri, found.trust, found.language)
    assert named == (KEY.source, KEY.doc_id, 3, "document", "Refunds", "https://a", "external", "en")
    assert found.tags == ("x",)


async def test_a_pair_and_a_document_without_text_are_read_too(both: Both) -> None:
    stores, reader = both
    await stores.put(change(1, "the answer", kind="qa", doc_id="pair"))
    await stores.put(change(1, "", doc_id="empty"))
    pair = await reader.read(scope(), KEY.source, "pair")
    empty = await reader.read(scope(), KEY.source, "empty")
    assert pair is not None
    assert empty is not None
    assert ([part.body for part in pair.parts], empty.parts) == (["the answer"], ())


async def test_what_a_search_may_not_see_is_not_there(both: Both) -> None:
    stores, reader = both
    await stores.put(change(1, "one", agents=("sales",)))
    for seen in (
        scope(),
        scope(agent="legal"),
        scope(tenant="other", agent="sales"),
        scope(generation="g2", agent="sales"),
    ):
        assert await reader.read(seen, KEY.source, KEY.doc_id) is None
    assert await reader.read(scope(agent="sales"), KEY.source, KEY.doc_id) is not None
    assert await reader.read(scope(agent="sales"), KEY.source, "billing/refunds") is None
    assert await reader.read(scope(agent="sales"), "hel", KEY.doc_id) is None


async def test_a_pending_version_is_not_shown_and_an_accepted_deletion_hides_at_once(both: Both) -> None:
    stores, reader = both
    await stores.accept(change(1, "one"))
    assert await reader.read(scope(), KEY.source, KEY.doc_id) is None
    await stores.put(change(1, "one"))
    await stores.accept(change(2, "two"))
    found = await reader.read(scope(), KEY.source, KEY.doc_id)
    assert found is not None
    assert found.version == 1
    await stores.accept(deletion(3))
    assert await reader.read(scope(), KEY.source, KEY.doc_id) is None


async def test_holdings_are_a_tenants_own(both: Both) -> None:
    stores, reader = both
    assert await reader.holdings("acme", GENERATION) == Holdings(documents=0, chunks=0)
    await stores.put(change(1, "one | two"))
    await stores.put(change(1, "one", tenant="other"))
    assert await reader.holdings("acme", GENERATION) == Holdings(documents=1, chunks=4)
    assert await reader.holdings("other", GENERATION) == Holdings(documents=1, chunks=2)
