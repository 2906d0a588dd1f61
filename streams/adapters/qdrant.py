"""Dense and sparse vectors in Qdrant: one collection a generation, one named dense vector a model."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import numpy as np
from numpy.typing import NDArray
from qdrant_client import AsyncQdrantClient, models

from schemas.chunks import ChunkVectors, Level, SparseVector, VectorBatch
from schemas.queries import Hit
from streams.adapters import qdrant_scope
from streams.adapters.qdrant_errors import translated
from streams.domain.scope import Scope
from streams.errors import ConfigurationError, Invalid, RankstreamError

T = TypeVar("T")

SETTING = "QDRANT_URL"
SPARSE = "bm25"
OPEN_SECONDS = 5.0
QUERY_SECONDS = 5.0
WRITE_SECONDS = 30.0
BATCH = 256  # points a call


async def open_client(url: str, api_key: str | None = None) -> AsyncQdrantClient:
    """Return a client whose server has answered; raise ConfigurationError within 5 s."""
    try:
        client = AsyncQdrantClient(
            url=url,
            api_key=api_key,
            prefer_grpc=False,
            check_compatibility=False,
            timeout=int(WRITE_SECONDS),
            # On loopback the client would open a connection a call.
            limits=httpx.Limits(max_keepalive_connections=32),
        )
    except ValueError as error:
        raise ConfigurationError(f"{SETTING}: {error}") from error
    try:
        async with translated("list collections", OPEN_SECONDS):
            await client.get_collections()
    except RankstreamError as error:
        await client.close()
        raise ConfigurationError(f"{SETTING}: {error}") from error
    return client


@dataclass(frozen=True, kw_only=True)
class _Model:
    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions)"


class QdrantVectors:
    """The VectorIndex port on Qdrant."""

    def __init__(self, *, client: AsyncQdrantClient, prefix: str = "rankstream") -> None:
        self._client = client
        self._prefix = prefix
        self._made: dict[str, _Model] = {}  # by collection

    def collection(self, generation: str) -> str:
        """Return the name of a generation's collection."""
        return f"{self._prefix}-{generation}"

    async def ensure_collection(self, generation: str, model: str, dimension: int) -> None:
        """Create a generation's collection and its indexes; raise ConfigurationError when it has other vectors."""
        name, wanted = self.collection(generation), _Model(name=model, dimension=dimension)
        async with translated("prepare the collection", WRITE_SECONDS):
            if not await self._client.collection_exists(name):
                await self._create(name, wanted)
            info = await self._client.get_collection(name)
            if wanted not in (found := _models(info)):
                raise ConfigurationError(
                    f"embedder: {wanted} does not fit the collection {name}, which has {' and '.join(map(str, found))}"
                )
            self._made[name] = wanted
            for field in qdrant_scope.FIELDS:
                if field not in (info.payload_schema or {}):
                    await self._client.create_payload_index(name, field, field_schema=_keyword(field), wait=True)

    async def upsert(self, batch: VectorBatch) -> None:
        """Write the vectors of a batch; raise Invalid, with nothing written, when one of them has the wrong shape."""
        name = self.collection(batch.generation)
        async with translated("write vectors", WRITE_SECONDS):
            made = await self._model(name)
        dense = [_decoded(vectors, batch, made) for vectors in batch.vectors]
        points = [
            models.PointStruct(
                id=vectors.id,
                vector=_named(batch.model, row, vectors.sparse),
                payload=qdrant_scope.payload(batch, vectors.level),
            )
            for vectors, row in zip(batch.vectors, dense, strict=True)
        ]
        for piece in _pieces(points):
            async with translated("write vectors", WRITE_SECONDS):
                await self._client.upsert(name, points=piece, wait=True)

    async def rewrite(
        self, generation: str, chunk_ids: Sequence[str], agents: Sequence[str], tags: Sequence[str]
    ) -> None:
        """Replace the agents and tags that chunks are filtered by; chunks that are not there are no error."""
        fields = {"audience": qdrant_scope.audience(agents), "tags": sorted(set(tags))}
        for piece in _pieces(chunk_ids):
            async with translated("rewrite payloads", WRITE_SECONDS):
                await self._client.set_payload(
                    self.collection(generation), payload=fields, points=models.Filter(must=[_ids(piece)]), wait=True
                )

    async def remove(self, generation: str, chunk_ids: Sequence[str]) -> None:
        """Remove chunks by id."""
        for piece in _pieces(chunk_ids):
            async with translated("remove vectors", WRITE_SECONDS):
                selected = models.PointIdsList(points=list(piece))
                await self._client.delete(self.collection(generation), points_selector=selected, wait=True)

    async def search_dense(
        self, scope: Scope, vector: Sequence[float], levels: Sequence[Level], limit: int
    ) -> list[Hit]:
        """Return the chunks of `levels` nearest to a vector, scored by cosine."""
        return await self._search(scope, [float(value) for value in vector], levels, limit)

    async def search_sparse(self, scope: Scope, vector: SparseVector, limit: int) -> list[Hit]:
        """Return the parents that share a term with the vector, by BM25: Qdrant multiplies the inverse frequency."""
        query = models.SparseVector(indices=list(vector.indices), values=list(vector.values))
        return await self._search(scope, query, ("parent",), limit) if vector.indices else []

    async def _search(
        self, scope: Scope, query: models.SparseVector | list[float], levels: Sequence[Level], limit: int
    ) -> list[Hit]:
        name = self.collection(scope.generation)
        async with translated("search vectors", QUERY_SECONDS, missing=Invalid):
            answer = await self._client.query_points(
                name,
                query=query,
                using=SPARSE if isinstance(query, models.SparseVector) else (await self._model(name)).name,
                query_filter=qdrant_scope.visible(scope, levels),
                limit=limit,
                # How rare a word is depends on the tenant's own texts: no tenant's scores tell of another's words.
                search_params=_own_words(scope) if isinstance(query, models.SparseVector) else None,
                with_payload=False,
                with_vectors=False,
            )
        hits = [Hit(chunk_id=str(point.id), score=float(point.score)) for point in answer.points]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    async def _model(self, name: str) -> _Model:
        """Return what a collection's vectors were made with."""
        if name not in self._made:
            self._made[name] = _models(await self._client.get_collection(name))[0]
        return self._made[name]

    async def _create(self, name: str, model: _Model) -> None:
        dense = models.VectorParams(size=model.dimension, distance=models.Distance.COSINE)
        try:
            await self._client.create_collection(
                name,
                vectors_config={model.name: dense},
                sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            )
        except Exception:
            # Another process may have been quicker.
            await asyncio.sleep(0.2)
            if not await self._client.collection_exists(name):
                raise


def decode_dense(text: str) -> NDArray[np.float32]:
    """Return a vector from the base64 of its little-endian float32s; raise Invalid."""
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise Invalid(f"not base64 of float32: {error}", field="vectors.dense") from error


def _decoded(vectors: ChunkVectors, batch: VectorBatch, made: _Model) -> NDArray[np.float32]:
    row = decode_dense(vectors.dense)
    given = _Model(name=batch.model, dimension=len(row))
    if given != made:
        raise Invalid(f"chunk {vectors.id} has a vector of {given}, the index holds {made}", field="vectors.dense")
    if not np.isfinite(row).all():
        raise Invalid(f"chunk {vectors.id} has a vector with values that are not finite", field="vectors.dense")
    return row


def _named(model: str, dense: NDArray[np.float32], sparse: SparseVector | None) -> dict[str, Any]:
    named: dict[str, Any] = {model: dense.tolist()}
    if sparse is not None:
        named[SPARSE] = models.SparseVector(indices=list(sparse.indices), values=list(sparse.values))
    return named


def _models(info: models.CollectionInfo) -> list[_Model]:
    vectors = info.config.params.vectors
    named = vectors if isinstance(vectors, dict) else {}
    return [_Model(name=name, dimension=params.size) for name, params in named.items()]


def _keyword(field: str) -> models.KeywordIndexParams:
    # A tenant's points are kept together on disk, where the server can do that.
    return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=field == "tenant" or None)


def _ids(ids: Sequence[str]) -> models.HasIdCondition:
    return models.HasIdCondition(has_id=list(ids))


def _pieces(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def _own_words(scope: Scope) -> models.SearchParams:
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=qdrant_scope.owned(scope)))
