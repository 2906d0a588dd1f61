"""Lexical weights from a part to a hit: for passages alone, by the question's own model, and never in dense's way."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import pytest

from schemas.chunks import Chunk, ChunkBatch, SparseVector, VectorBatch
from schemas.queries import Expected, LegResult
from streams.adapters import profiles
from streams.adapters.memory import MemoryEmbedder, MemoryVectors
from streams.adapters.memory_lexical import MemoryLexicalModel, weights
from streams.domain import candidates
from streams.domain.generation import Generation
from streams.domain.profile import Profile
from streams.errors import Invalid, StoreUnavailable
from streams.ports import Embedder, VectorIndex
from streams.processors import embed, fuse, retrieve_dense
from tests.unit.domain.questions import expected, passage, prepared, result

GENERATION = Generation(id="g1", model="memory-hash", dimension=64, average_length=100.0, lexical=("memory-hash",))
BODIES = {"p1": "refund the annual plan", "p2": "a plan", "p3": "keys"}
PROFILE = msgspec.structs.replace(profiles.shipped()["knowledge-base"], name="lexical", lexical=True, rerank_depth=None)


def batch() -> ChunkBatch:
    chunks = [
        Chunk(id=f"{name}{level}", level=level, heading_path=(), body=body, parent_id=f"{name}parent")  # type: ignore[arg-type]
        for name, body in BODIES.items()
        for level in ("parent", "child")
    ]
    return ChunkBatch(
        tenant="acme",
        source="help",
        doc_id="d",
        version=1,
        generation="g1",
        part=0,
        parts=1,
        kind="document",
        language="en",
        chunks=tuple(chunks),
    )


async def embedded(embedder: Embedder, generation: Generation = GENERATION) -> VectorBatch:
    (sent,) = await embed.handle(batch(), embed.Deps(embedder=embedder, generation=generation))
    assert isinstance(sent.message, VectorBatch)
    return sent.message


async def index() -> MemoryVectors:
    vectors = MemoryVectors()
    await vectors.ensure_collection("g1", "memory-hash", 64, lexical=("memory-hash",))
    await vectors.upsert(await embedded(MemoryLexicalModel()))
    return vectors


async def search(vectors: VectorIndex, model: Embedder, profile: Profile = PROFILE, **fields: Any) -> LegResult:
    async def embedder(name: str) -> Embedder:
        return model

    known: Mapping[str, Profile] = {profile.name: profile}
    deps = retrieve_dense.Deps(embedder=embedder, vectors=vectors, profiles=known)
    query = prepared(**{"profile": profile.name, "text": "annual plan", "legs": ("dense",), **fields})
    (sent,) = await retrieve_dense.RETRIEVE_DENSE.handle(query, deps)
    assert isinstance(sent.message, LegResult)
    return sent.message


async def test_passages_have_weights_and_their_pieces_have_none() -> None:
    found = await embedded(MemoryLexicalModel())
    assert {each.id: dict(each.lexical) for each in found.vectors} == {
        f"{name}{level}": {"memory-hash": weights(body)} if level == "parent" else {}
        for name, body in BODIES.items()
        for level in ("parent", "child")
    }
    plain = await embedded(MemoryLexicalModel(), dataclasses.replace(GENERATION, lexical=()))
    assert [each.lexical for each in plain.vectors] == [{}] * 6
    assert [each.dense for each in plain.vectors] == [each.dense for each in found.vectors]


async def test_a_model_without_weights_is_refused_where_the_generation_has_them() -> None:
    with pytest.raises(Invalid, match="memory-hash gives no lexical weights, generation g1 has them"):
        await embedded(MemoryEmbedder())


async def test_a_profile_that_wants_them_gets_one_more_list_with_its_own_scores() -> None:
    found = await search(await index(), MemoryLexicalModel())
    assert [(hit.chunk_id, pytest.approx(hit.score)) for hit in found.lexical] == [
        ("p1parent", 0.6 * 0.6 + 0.4 * 0.4),
        ("p2parent", 0.4 * 0.4),
    ]
    assert (found.status, found.reason, len(found.hits)) == ("ok", None, 3)
    off = await search(await index(), MemoryLexicalModel(), msgspec.structs.replace(PROFILE, lexical=False))
    assert (off.lexical, off.hits) == ((), found.hits)


async def test_what_a_follow_up_carries_counts_half() -> None:
    found = await search(await index(), MemoryLexicalModel(), text="annual", carried="keys")
    assert [(hit.chunk_id, pytest.approx(hit.score)) for hit in found.lexical] == [
        ("p1parent", 0.6 * 0.6),
        ("p3parent", 0.4 * 0.4 / 2),
    ]


async def test_other_phrasings_search_by_weights_too() -> None:
    found = await search(await index(), MemoryLexicalModel(), text="annual", phrasings=("keys",))
    assert [hit.chunk_id for hit in found.lexical] == ["p1parent", "p3parent"]


async def test_one_pass_gives_vector_and_weights() -> None:
    class Counted(MemoryLexicalModel):
        passes = 0

        async def weigh_queries(self, texts: Any) -> Any:
            self.passes += 1
            rows = await MemoryEmbedder.embed_queries(self, texts)
            return rows, [weights(text) for text in texts]

        async def embed_queries(self, texts: Any) -> Any:
            raise AssertionError("a second pass")

    model = Counted()
    await search(await index(), model)
    assert model.passes == 1


class Failing(MemoryVectors):
    """A store that finds vectors and no weights."""

    async def search_sparse(self, *_: Any, **__: Any) -> Any:
        raise StoreUnavailable("away")


@pytest.mark.parametrize(
    ("made", "model", "says"),
    [
        (("memory-hash",), MemoryEmbedder(), "memory-hash gives no lexical weights"),
        ((), MemoryLexicalModel(), "no lexical weights of memory-hash in generation g1"),
        (None, MemoryLexicalModel(), "the lexical weights were not searched"),
    ],
)
async def test_a_search_without_weights_says_why_and_keeps_its_dense_hits(
    made: tuple[str, ...] | None, model: Embedder, says: str
) -> None:
    vectors = Failing() if made is None else MemoryVectors()
    kept = ("memory-hash",) if made is None else made
    await vectors.ensure_collection("g1", "memory-hash", 64, lexical=kept)
    await vectors.upsert(await embedded(MemoryLexicalModel(), dataclasses.replace(GENERATION, lexical=kept)))
    found = await search(vectors, model)
    assert (found.status, found.reason, found.lexical, len(found.hits)) == ("ok", says, (), 3)


def test_the_list_is_fused_and_shown_beside_the_others() -> None:
    known = {name: passage(name) for name in "abc"}
    lists = candidates.gather(
        {"dense": result("dense", "a", "b", lexical=result("dense", "c", "gone", "b").hits)}, known
    )
    assert {name: list(of) for name, of in lists.lists.items()} == {"dense": [0, 1], "lexical": [2, 1]}
    assert lists.stale == {"dense": 1}
    assert lists.legs(1)["lexical"].rank == 2


async def test_a_passage_that_only_the_weights_found_is_in_the_answer_with_its_score() -> None:
    class Passages:
        async def resolve(self, scope: Any, chunk_ids: Any, terms: Any = ()) -> Any:
            return {each: passage(each) for each in chunk_ids}

        async def gone(self, *_: Any) -> bool:
            return False

    known: Any = Passages()
    deps = fuse.Deps(passages=known, pinned=known, profiles={"lexical": PROFILE}, clock=lambda: 100.0)
    asked: Expected = expected(query=prepared(profile="lexical", legs=("dense",)))
    leg = result("dense", "a", lexical=result("dense", "b").hits)
    await fuse.handle(leg, deps)
    (sent,) = await fuse.handle(asked, deps)
    reply: Any = sent.message
    assert [(each.passage_id, list(each.legs)) for each in reply.passages] == [("a", ["dense"]), ("b", ["lexical"])]
    assert reply.passages[1].fused == reply.passages[0].fused == pytest.approx(1 / 2)
    assert reply.legs["dense"].candidates == 2


async def test_weights_of_the_twin_are_those_of_the_text_alone() -> None:
    rows, found = await MemoryLexicalModel().weigh_passages(["a plan", "", "plan"])
    assert (rows.shape, rows.dtype) == ((3, 64), np.float32)
    assert found == [weights("a plan"), SparseVector(indices=(), values=()), weights("plan")]
