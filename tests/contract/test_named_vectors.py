"""Vectors of several models beside each other: each is searched alone, all are written, none may be missing."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from streams.domain.generation import Model
from streams.errors import ConfigurationError, Invalid, NoVectors
from tests.contract.building import change, cut, dense, encoded, scope, vector_batch
from tests.contract.stores import Stores

SECOND = Model(name="second", dimension=48)
PAGE = change(1, "one | two | three")


@pytest.fixture
async def both(two_models: Stores) -> Stores:
    """Stores whose generation has two models, with a page in them."""
    await two_models.vectors.upsert(vector_batch(PAGE, cut(PAGE), also={"second": 48}))
    return two_models


@pytest.mark.parametrize(("model", "prefix", "size"), [("memory-hash", "", 64), ("second", "second", 48)])
async def test_a_search_looks_at_the_vectors_of_its_model(both: Stores, model: str, prefix: str, size: int) -> None:
    wanted = dense(prefix + "two", size)
    hits = await both.vectors.search_dense(scope(), wanted.tolist(), ("child",), 10, model=model)
    rows = {chunk.id: dense(prefix + chunk.body, size) for chunk in cut(PAGE) if chunk.level == "child"}
    cosines = {key: float(row @ wanted / np.linalg.norm(row) / np.linalg.norm(wanted)) for key, row in rows.items()}
    assert [hit.chunk_id for hit in hits] == sorted(cosines, key=lambda key: (-cosines[key], key))
    assert [hit.score for hit in hits] == [pytest.approx(cosines[hit.chunk_id], abs=1e-3) for hit in hits]


async def test_a_search_without_a_model_is_by_the_main_one(both: Stores) -> None:
    vector = dense("two").tolist()
    named = await both.vectors.search_dense(scope(), vector, (), 10, model="memory-hash")
    assert await both.vectors.search_dense(scope(), vector, (), 10) == named


async def test_a_model_without_vectors_is_named(both: Stores) -> None:
    with pytest.raises(NoVectors, match=r"^no vectors for third in generation g1$"):
        await both.vectors.search_dense(scope(), [1.0] * 64, (), 10, model="third")


@pytest.mark.parametrize(
    ("also", "says"),
    [
        ({}, r"memory-hash \(64 dimensions\), the index holds .*second \(48 dimensions\)"),
        ({"second": encoded(dense("x", 47))}, r"second \(47 dimensions\)"),
        ({"second": encoded(dense("x", 48)), "third": encoded(dense("x", 48))}, "third"),
        ({"second": encoded(np.full(48, np.nan, dtype=np.float32))}, "second that is not finite"),
        ({"second": "***"}, "base64"),
    ],
    ids=["missing", "short", "unknown", "not finite", "not base64"],
)
async def test_a_batch_with_a_wrong_or_missing_vector_of_a_further_model_is_refused_whole(
    both: Stores, also: dict[str, str], says: str
) -> None:
    before = await both.vector_ids("g1")
    other = change(2, "four | five")
    batch = vector_batch(other, cut(other), also={"second": 48})
    last = msgspec.structs.replace(batch.vectors[-1], also=also)
    with pytest.raises(Invalid, match=says):
        await both.vectors.upsert(msgspec.structs.replace(batch, vectors=(*batch.vectors[:-1], last)))
    assert await both.vector_ids("g1") == before


@pytest.mark.parametrize(
    "also", [(), (SECOND, Model(name="third", dimension=8)), (Model(name="second", dimension=47),)], ids=str
)
async def test_other_further_models_than_the_index_was_made_for_are_refused(
    both: Stores, also: tuple[Model, ...]
) -> None:
    with pytest.raises(ConfigurationError, match=r"embedder: .*memory-hash.* has .*second \(48 dimensions\)"):
        await both.vectors.ensure_collection("g1", "memory-hash", 64, also)  # type: ignore[attr-defined]
    await both.vectors.ensure_collection("g1", "memory-hash", 64, (SECOND,))  # type: ignore[attr-defined]


async def test_removing_and_rewriting_touch_all_vectors_of_a_chunk(both: Stores) -> None:
    gone, hidden, *_ = (chunk.id for chunk in cut(PAGE) if chunk.level == "child")
    await both.vectors.remove("g1", [gone])
    await both.vectors.rewrite("g1", [hidden], ("bot",), ())
    for model, size in (("memory-hash", 64), ("second", 48)):
        hits = await both.vectors.search_dense(scope(), [1.0] * size, ("child",), 10, model=model)
        assert len(hits) == 1
        assert {gone, hidden}.isdisjoint(hit.chunk_id for hit in hits)
