"""Two sparse vectors of a passage, BM25's and a model's lexical weights: each is searched and scored alone."""

from __future__ import annotations

import msgspec
import pytest

from schemas.chunks import SparseVector, VectorBatch
from schemas.documents import DocumentChange
from streams.adapters.memory_lexical import weights
from streams.errors import ConfigurationError, Invalid, NoVectors
from tests.contract.building import MODEL, change, cut, scope, sparse, vector_batch
from tests.contract.stores import Stores

PAGE = change(1, "refund the annual plan | a plan | keys")


def batch(of: DocumentChange) -> VectorBatch:
    """Vectors of a page, its passages with lexical weights too."""
    chunks = cut(of)
    plain = vector_batch(of, chunks)
    weighed = tuple(
        msgspec.structs.replace(each, lexical={MODEL: weights(chunk.body)} if chunk.level == "parent" else {})
        for each, chunk in zip(plain.vectors, chunks, strict=True)
    )
    return msgspec.structs.replace(plain, vectors=weighed)


def parents(of: DocumentChange) -> list[str]:
    return [chunk.id for chunk in cut(of) if chunk.level == "parent"]


@pytest.fixture
async def filled(lexical_stores: Stores) -> Stores:
    await lexical_stores.vectors.upsert(batch(PAGE))
    return lexical_stores


async def test_weights_are_multiplied_as_they_are_and_bm25_beside_them_has_its_own_scores(filled: Stores) -> None:
    """A word counts a tenth a letter on both sides; how rare it is does not count."""
    first, second, _ = parents(PAGE)
    found = await filled.vectors.search_sparse(scope(), weights("annual plan"), 10, model=MODEL)
    assert [(hit.chunk_id, pytest.approx(hit.score, abs=1e-4)) for hit in found] == [
        (first, 0.6 * 0.6 + 0.4 * 0.4),
        (second, 0.4 * 0.4),
    ]
    by_bm25 = await filled.vectors.search_sparse(scope(), sparse("annual plan"), 10)
    assert [hit.chunk_id for hit in by_bm25] == [first, second]
    assert by_bm25[0].score != pytest.approx(found[0].score, abs=0.05)
    assert await filled.vectors.search_sparse(scope(), weights("annual plan"), 1, model=MODEL) == found[:1]


async def test_a_token_of_one_vector_never_meets_a_term_of_the_other(filled: Stores) -> None:
    assert await filled.vectors.search_sparse(scope(), sparse("annual plan"), 10, model=MODEL) == []
    assert await filled.vectors.search_sparse(scope(), weights("annual plan"), 10) == []
    nothing = SparseVector(indices=(), values=())
    assert await filled.vectors.search_sparse(scope(), nothing, 10, model=MODEL) == []


async def test_the_scope_holds_for_lexical_weights_too(filled: Stores) -> None:
    theirs = change(1, "refund the annual plan", tenant="other")
    hidden = change(1, "refund the annual plan", doc_id="hidden", agents=("bot",))
    await filled.vectors.upsert(batch(theirs))
    await filled.vectors.upsert(batch(hidden))

    async def seen(**fields: str) -> set[str]:
        hits = await filled.vectors.search_sparse(scope(**fields), weights("annual"), 10, model=MODEL)
        return {hit.chunk_id for hit in hits}

    assert await seen() == {parents(PAGE)[0]}
    assert await seen(tenant="other") == set(parents(theirs))
    assert await seen(agent="bot") == {parents(PAGE)[0], *parents(hidden)}
    await filled.vectors.rewrite("g1", parents(hidden), (), ())
    assert await seen() == {parents(PAGE)[0], *parents(hidden)}
    await filled.vectors.remove("g1", [*parents(PAGE), *parents(hidden)])
    assert await seen() == set()


async def test_weights_that_are_not_kept_are_named(filled: Stores, stores: Stores) -> None:
    with pytest.raises(NoVectors, match=r"^no vectors for other in generation g1$"):
        await filled.vectors.search_sparse(scope(), weights("plan"), 10, model="other")
    with pytest.raises(NoVectors, match=f"^no vectors for {MODEL} in generation g1$"):
        await stores.vectors.search_sparse(scope(), weights("plan"), 10, model=MODEL)


@pytest.mark.parametrize("given", [{}, {"other": weights("x")}, {MODEL: weights("x"), "other": weights("x")}], ids=len)
async def test_a_passage_without_its_weights_or_with_others_is_refused_with_its_batch(
    filled: Stores, given: dict[str, SparseVector]
) -> None:
    before = await filled.vector_ids("g1")
    whole = batch(change(1, "four | five", doc_id="new"))
    broken = tuple(
        msgspec.structs.replace(each, lexical=given) if place == 2 else each for place, each in enumerate(whole.vectors)
    )
    with pytest.raises(Invalid, match=f"lexical weights of .*, the index holds those of {MODEL}"):
        await filled.vectors.upsert(msgspec.structs.replace(whole, vectors=broken))
    assert await filled.vector_ids("g1") == before


async def test_an_index_keeps_to_the_weights_that_it_was_made_for(filled: Stores) -> None:
    ensure = filled.vectors.ensure_collection  # type: ignore[attr-defined]
    await ensure("g1", MODEL, 64, lexical=(MODEL,))
    with pytest.raises(ConfigurationError, match="embedder: lexical weights of no model do not fit"):
        await ensure("g1", MODEL, 64)


async def test_a_generation_keeps_whose_weights_it_has_and_refuses_other_settings(stores: Stores) -> None:
    given = {"model": "m", "dimension": 3, "average_length": 120.0}
    made = await stores.generations.ensure(**given, lexical=("m",))
    assert (made.lexical, await stores.generations.live()) == (("m",), made)
    assert await stores.generations.ensure(**given, lexical=["m"]) == made
    says = r"embedders\.m\.lexical: the live generation g1 has its lexical weights, .*: set lexical = true, or first"
    with pytest.raises(ConfigurationError, match=says):
        await stores.generations.ensure(**given)


async def test_a_model_may_give_weights_that_a_generation_was_made_without(stores: Stores) -> None:
    """Another one, that has them, can be built beside it only if processes start with that setting."""
    given = {"model": "m", "dimension": 3, "average_length": 120.0}
    made = await stores.generations.ensure(**given)
    assert made.lexical == ()
    assert await stores.generations.ensure(**given, lexical=("m",)) == made
