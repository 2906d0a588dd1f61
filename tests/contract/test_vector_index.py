"""Vectors: what is near, what shares words, and what is refused."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from schemas.chunks import SparseVector
from schemas.queries import Filters
from streams.domain import bm25
from streams.errors import ConfigurationError, Invalid
from tests.contract.building import change, cut, dense, encoded, scope, sparse, vector_batch
from tests.contract.stores import Stores


async def test_dense_hits_are_scored_by_cosine(stores: Stores) -> None:
    first = change(1, "one | two | three")
    await stores.vectors.upsert(vector_batch(first, cut(first)))
    wanted = dense("two")
    hits = await stores.vectors.search_dense(scope(), wanted.tolist(), ("child",), 10)
    children = {chunk.id: dense(chunk.body) for chunk in cut(first) if chunk.level == "child"}
    cosines = {key: float(row @ wanted / np.linalg.norm(row) / np.linalg.norm(wanted)) for key, row in children.items()}
    assert [hit.chunk_id for hit in hits] == sorted(cosines, key=lambda key: (-cosines[key], key))
    assert [hit.score for hit in hits] == [pytest.approx(cosines[hit.chunk_id], abs=1e-3) for hit in hits]


async def test_levels_narrow_a_dense_search(stores: Stores) -> None:
    first = change(1, "one")
    parent, child = cut(first)
    await stores.vectors.upsert(vector_batch(first, cut(first)))
    assert [h.chunk_id for h in await stores.vectors.search_dense(scope(), [1.0] * 64, ("parent",), 9)] == [parent.id]
    both = await stores.vectors.search_dense(scope(), [1.0] * 64, ("parent", "child", "document"), 9)
    assert [hit.chunk_id for hit in both] == sorted((parent.id, child.id))


async def test_the_questions_of_pairs_are_searched_apart_and_have_no_words(stores: Stores) -> None:
    pair, page = change(1, "refund", doc_id="pair", kind="qa"), change(1, "refund", doc_id="page")
    await stores.put(pair)
    await stores.put(page)
    parent, question = cut(pair)
    assert question.level == "question"
    for levels, kinds, found in (
        (("question",), (), {question.id}),
        (("question",), ("document",), set()),
        (("parent", "child"), (), {parent.id, *(chunk.id for chunk in cut(page))}),
    ):
        where = scope(filters=Filters(kinds=kinds))  # type: ignore[arg-type]
        hits = await stores.vectors.search_dense(where, dense("refund").tolist(), levels, 9)  # type: ignore[arg-type]
        assert {hit.chunk_id for hit in hits} == found
    words = await stores.vectors.search_sparse(scope(), sparse("refund"), 9)
    assert {hit.chunk_id for hit in words} == {parent.id, cut(page)[0].id}


async def test_sparse_hits_are_scored_by_bm25_over_the_tenants_own_passages(stores: Stores) -> None:
    bodies = ["refund invoice", "refund", "seats"]
    first = change(1, " | ".join(bodies))
    await stores.vectors.upsert(vector_batch(first, cut(first)))
    # Another tenant's passages count nowhere: a score must not tell what others write about.
    other = change(1, "refund", tenant="other")
    await stores.vectors.upsert(vector_batch(other, cut(other)))
    hits = await stores.vectors.search_sparse(scope(), bm25.query_vector("invoice refund", "en"), 10)
    idf = {"refund": math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)), "invoic": math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))}
    expected = []
    for body in bodies[:2]:
        vector = sparse(body)
        weights = dict(zip(vector.indices, vector.values, strict=True))
        parent = next(chunk.id for chunk in cut(first) if chunk.body == body and chunk.level == "parent")
        expected.append((parent, sum(idf[term] * weights.get(bm25.term_id(term), 0) for term in idf)))
    assert [(hit.chunk_id, pytest.approx(hit.score, rel=1e-4)) for hit in hits] == sorted(expected, key=lambda e: -e[1])


async def test_a_sparse_search_without_terms_finds_nothing(stores: Stores) -> None:
    assert await stores.vectors.search_sparse(scope(), SparseVector(indices=(), values=()), 10) == []


async def test_writing_again_changes_nothing(stores: Stores) -> None:
    batch = vector_batch(change(1, "one"), cut(change(1, "one")))
    await stores.vectors.upsert(batch)
    before = await stores.vectors.search_dense(scope(), [1.0] * 64, (), 10)
    await stores.vectors.upsert(batch)
    assert await stores.vectors.search_dense(scope(), [1.0] * 64, (), 10) == before


async def test_a_rewrite_changes_who_finds_a_chunk(stores: Stores) -> None:
    first = change(1, "one", tags=("old",))
    parent, child = cut(first)
    await stores.vectors.upsert(vector_batch(first, cut(first)))
    await stores.vectors.rewrite("g1", [parent.id, "6ba7b810-9dad-11d1-80b4-00c04fd430c8"], ("bot",), ("new",))
    found = await stores.vectors.search_dense(scope(), [1.0] * 64, (), 10)
    assert [hit.chunk_id for hit in found] == [child.id]
    found = await stores.vectors.search_dense(scope(agent="bot"), [1.0] * 64, ("parent",), 10)
    assert [hit.chunk_id for hit in found] == [parent.id]
    assert "6ba7b810-9dad-11d1-80b4-00c04fd430c8" not in await stores.vector_ids("g1")


async def test_removing_takes_only_what_is_named(stores: Stores) -> None:
    first = change(1, "one")
    parent, child = cut(first)
    await stores.vectors.upsert(vector_batch(first, cut(first)))
    await stores.vectors.remove("g1", [child.id, "6ba7b810-9dad-11d1-80b4-00c04fd430c8"])
    await stores.vectors.remove("g1", [])
    assert await stores.vector_ids("g1") == {parent.id}


async def test_many_vectors_are_written_in_one_go(stores: Stores) -> None:
    first = change(1, " | ".join(f"passage {number}" for number in range(300)))
    await stores.vectors.upsert(vector_batch(first, cut(first)))
    assert len(await stores.vector_ids("g1")) == 600
    await stores.vectors.rewrite("g1", [chunk.id for chunk in cut(first)], ("bot",), ())
    assert await stores.vectors.search_dense(scope(), [1.0] * 64, (), 10) == []
    await stores.vectors.remove("g1", [chunk.id for chunk in cut(first)])
    assert await stores.vector_ids("g1") == set()


@pytest.mark.parametrize("wrong", ["short", "not base64", "not a float", "infinite"])
async def test_a_batch_with_one_wrong_vector_is_refused_whole(stores: Stores, wrong: str) -> None:
    first = change(1, "one | two")
    await stores.vectors.upsert(vector_batch(first, cut(first)[:1]))
    before = await stores.vector_ids("g1")
    batch = vector_batch(first, cut(first))
    text = {
        "short": encoded(dense("x", 63)),
        "not base64": "***",
        "not a float": encoded(dense("x"))[:-4],
        "infinite": encoded(np.full(64, np.inf, dtype=np.float32)),
    }[wrong]
    last = msgspec.structs.replace(batch.vectors[-1], dense=text)
    with pytest.raises(Invalid):
        await stores.vectors.upsert(msgspec.structs.replace(batch, vectors=(*batch.vectors[:-1], last)))
    assert await stores.vector_ids("g1") == before


async def test_vectors_of_another_model_are_refused(stores: Stores) -> None:
    first = change(1, "one")
    await stores.vectors.upsert(vector_batch(first, cut(first)))
    with pytest.raises(Invalid, match="memory-hash"):
        await stores.vectors.upsert(msgspec.structs.replace(vector_batch(first, cut(first)), model="other"))
    with pytest.raises(ConfigurationError, match="embedder"):
        await stores.vectors.ensure_collection("g1", "other", 64)  # type: ignore[attr-defined]
    with pytest.raises(ConfigurationError, match="embedder"):
        await stores.vectors.ensure_collection("g1", "memory-hash", 65)  # type: ignore[attr-defined]
    await stores.vectors.ensure_collection("g1", "memory-hash", 64)  # type: ignore[attr-defined]


async def test_generations_have_vectors_of_their_own(stores: Stores) -> None:
    await stores.vectors.upsert(vector_batch(change(1, "one"), cut(change(1, "one"))))
    assert await stores.vector_ids("g1")
    # A twin knows every generation, Qdrant only those that were prepared.
    try:
        assert await stores.vectors.search_dense(scope(generation="g9"), [1.0] * 64, (), 9) == []
    except Invalid as error:
        assert "g9" in str(error)
