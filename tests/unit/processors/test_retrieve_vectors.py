"""The two vector legs: a question is looked up with its synonyms where it has any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from schemas.chunks import SparseVector
from schemas.queries import Filters, Hit, PreparedQuery
from streams.domain import bm25
from streams.domain.profile import Profile
from streams.processors import retrieve_dense, retrieve_sparse


class Embedder:
    """Remembers what it is asked to embed."""

    model = "m"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def named(self, _: str) -> Embedder:
        return self

    async def embed_queries(self, texts: list[str]) -> Any:
        self.asked += texts
        return np.ones((len(texts), 2), dtype=np.float32)

    async def embed_passages(self, texts: list[str]) -> Any:
        raise AssertionError("a question is no passage")


class Vectors:
    """Remembers the sparse vector that it is searched with."""

    def __init__(self) -> None:
        self.asked: list[SparseVector] = []

    async def search_dense(self, *_: Any, **__: Any) -> list[Hit]:
        return []

    async def search_sparse(self, _: Any, vector: SparseVector, __: int) -> list[Hit]:
        self.asked.append(vector)
        return []


def query(**fields: Any) -> PreparedQuery:
    given: dict[str, Any] = {
        "query_id": "q", "ticket": "0-0", "tenant": "t", "agent": None, "text": "cars", "terms": ("car",),
        "language": "en", "profile": "p", "generation": "g1", "filters": Filters(), "deadline": 1.0,
        "legs": ("dense", "sparse"), "candidates": 5,
    }  # fmt: skip
    return PreparedQuery(**{**given, **fields})


@pytest.mark.parametrize(("expanded", "text"), [("cars vehicle", "cars vehicle"), ("", "cars")])
async def test_both_vectors_are_made_of_the_question_with_its_synonyms(expanded: str, text: str) -> None:
    embedder, vectors = Embedder(), Vectors()
    profile = Profile(name="p", summary="s", legs=("dense", "sparse"))
    dense = retrieve_dense.Deps(embedder=embedder.named, vectors=vectors, profiles={"p": profile})  # type: ignore[arg-type]
    await retrieve_dense.search(query(expanded=expanded), dense)
    await retrieve_sparse.search(query(expanded=expanded), retrieve_sparse.Deps(vectors=vectors))  # type: ignore[arg-type]
    assert embedder.asked == [text]
    assert vectors.asked == [bm25.query_vector(text, "en")]
