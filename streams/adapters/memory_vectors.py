"""The in-memory twins of the vector index and of an embedder."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schemas.chunks import Level, SparseVector, VectorBatch
from schemas.queries import Hit
from streams.adapters.dense_vectors import listed, rows, weighed
from streams.domain.generation import Model
from streams.domain.scope import Scope
from streams.errors import ConfigurationError, NoVectors
from streams.ports import Vectors

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Point:
    """A chunk's vectors and what it is filtered by."""

    dense: dict[str, NDArray[np.float32]]  # of unit length, by model
    sparse: dict[int, float]
    lexical: dict[str, dict[int, float]]  # by model
    batch: VectorBatch  # without its vectors
    level: Level
    agents: tuple[str, ...]
    tags: tuple[str, ...]


class MemoryVectors:
    """The VectorIndex port in memory: exact cosine, and BM25 with Qdrant's inverse frequency.

    A generation takes the vectors of the model it was prepared for, or of the first that comes.
    """

    def __init__(self) -> None:
        self._made: dict[str, tuple[Model, ...]] = {}  # by generation; the main one first
        self._lexical: dict[str, tuple[str, ...]] = {}  # by generation
        self._points: dict[str, dict[str, Point]] = {}  # by generation, by chunk id

    def ids(self, generation: str) -> set[str]:
        """Return the chunks that have vectors."""
        return set(self._points.get(generation, {}))

    async def ensure_collection(
        self,
        generation: str,
        model: str,
        dimension: int,
        also: Sequence[Model] = (),
        *,
        lexical: Sequence[str] = (),
    ) -> None:
        """Make room for a generation; raise ConfigurationError when it has other vectors."""
        wanted = (Model(name=model, dimension=dimension), *also)
        made = self._made.setdefault(generation, wanted)
        if set(made) != set(wanted):
            raise ConfigurationError(
                f"embedder: {listed(wanted)} does not fit generation {generation}, which has {listed(made)}"
            )
        if set(self._lexical.setdefault(generation, tuple(lexical))) != set(lexical):
            raise ConfigurationError(
                f"embedder: lexical weights of {', '.join(lexical) or 'no model'} do not fit generation {generation}"
            )

    async def upsert(self, batch: VectorBatch) -> None:
        """Write the vectors of a batch; raise Invalid, with nothing written, when one of them has the wrong shape."""
        first = (Model(name=batch.model, dimension=batch.dimension),)
        made = self._made.setdefault(batch.generation, first)
        dense = [rows(vectors, batch, made) for vectors in batch.vectors]
        kept = self._lexical.get(batch.generation, ())
        lexical = [weighed(vectors, kept) for vectors in batch.vectors]
        for vectors, each, weights in zip(batch.vectors, dense, lexical, strict=True):
            sparse = vectors.sparse
            self._points.setdefault(batch.generation, {})[vectors.id] = Point(
                dense={name: row / (np.linalg.norm(row) or 1) for name, row in each.items()},
                sparse=_by_index(sparse),
                lexical={name: _by_index(of) for name, of in weights.items()},
                batch=batch,
                level=vectors.level,
                agents=batch.agents,
                tags=batch.tags,
            )

    async def rewrite(
        self, generation: str, chunk_ids: Sequence[str], agents: Sequence[str], tags: Sequence[str]
    ) -> None:
        """Replace the agents and tags that chunks are filtered by."""
        points = self._points.get(generation, {})
        for chunk_id in set(chunk_ids) & points.keys():
            points[chunk_id] = replace(points[chunk_id], agents=tuple(agents), tags=tuple(tags))

    async def remove(self, generation: str, chunk_ids: Sequence[str]) -> None:
        """Remove chunks by id."""
        for chunk_id in chunk_ids:
            self._points.get(generation, {}).pop(chunk_id, None)

    async def read(
        self, generation: str, chunk_ids: Sequence[str], models: Sequence[str]
    ) -> Mapping[str, Mapping[str, NDArray[np.float32]]]:
        """Return the vectors by these models of the chunks that have any."""
        points = self._points.get(generation, {})
        return {
            chunk_id: {name: row for name, row in points[chunk_id].dense.items() if name in models}
            for chunk_id in chunk_ids
            if chunk_id in points
        }

    async def search_dense(
        self, scope: Scope, vector: Sequence[float], levels: Sequence[Level], limit: int, *, model: str | None = None
    ) -> list[Hit]:
        """Return the chunks of `levels` nearest to a vector of a model, scored by cosine."""
        names = [made.name for made in self._made.get(scope.generation, ())]
        if model is not None and names and model not in names:
            raise NoVectors(model, scope.generation)
        using = model or next(iter(names), "")
        wanted = np.asarray(vector, dtype=np.float32)
        wanted = wanted / (np.linalg.norm(wanted) or 1)
        scores = {
            chunk_id: float(point.dense[using] @ wanted)
            for chunk_id, point in self._visible(scope).items()
            if not levels or point.level in levels
        }
        return _best(scores, limit)

    async def search_sparse(
        self, scope: Scope, vector: SparseVector, limit: int, *, model: str | None = None
    ) -> list[Hit]:
        """Return the parents that share a term with the vector; of BM25 the inverse frequency is the tenant's."""
        if model is not None:
            if model not in self._lexical.get(scope.generation, ()):
                raise NoVectors(model, scope.generation)
            given = _by_index(vector)
            found = {chunk_id: point.lexical.get(model, {}) for chunk_id, point in self._visible(scope).items()}
            return _best(
                {chunk_id: _product(given, has) for chunk_id, has in found.items() if given.keys() & has}, limit
            )
        points = self._points.get(scope.generation, {}).values()
        corpus = [point.sparse for point in points if point.sparse and point.batch.tenant == scope.tenant]
        weights = {}
        for index, value in zip(vector.indices, vector.values, strict=True):
            having = sum(index in sparse for sparse in corpus)
            weights[index] = value * math.log(1 + (len(corpus) - having + 0.5) / (having + 0.5))
        scores = {
            chunk_id: sum(weights[index] * point.sparse[index] for index in weights.keys() & point.sparse.keys())
            for chunk_id, point in self._visible(scope).items()
            if point.level == "parent" and weights.keys() & point.sparse.keys()
        }
        return _best(scores, limit)

    def _visible(self, scope: Scope) -> dict[str, Point]:
        filters = scope.filters
        return {
            chunk_id: point
            for chunk_id, point in self._points.get(scope.generation, {}).items()
            if point.batch.tenant == scope.tenant
            and (not point.agents or scope.agent in point.agents)
            and (not filters.sources or point.batch.source in filters.sources)
            and (not filters.tags or set(filters.tags) & set(point.tags))
            and (not filters.kinds or point.batch.kind in filters.kinds)
            and point.batch.doc_id.startswith(scope.directory)
        }


class MemoryEmbedder:
    """The Embedder port without a model: each word is hashed to a signed axis, so that shared words mean nearness."""

    model = "memory-hash"
    dimension = 64

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question."""
        return await self.embed_passages(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage; one without words points along the first axis."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.lower()):
                digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
                row[digest[0] % self.dimension] += 1 if digest[1] % 2 else -1
            if not row.any():
                row[0] = 1
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def _by_index(vector: SparseVector | None) -> dict[int, float]:
    return dict(zip(vector.indices, vector.values, strict=True)) if vector else {}


def _product(one: dict[int, float], other: dict[int, float]) -> float:
    return sum(weight * other[index] for index, weight in one.items() if index in other)


def _best(scores: dict[str, float], limit: int) -> list[Hit]:
    hits = [Hit(chunk_id=chunk_id, score=score) for chunk_id, score in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:limit]
