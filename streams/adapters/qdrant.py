"""Dense and sparse vectors in Qdrant: one collection a generation, one named dense vector a model.

The sparse ones are named too: BM25's, and one for each model whose lexical weights are kept.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx
import numpy as np
from qdrant_client import AsyncQdrantClient, models

from schemas.chunks import Level, SparseVector, VectorBatch
from schemas.queries import Hit
from streams import secret_urls
from streams.adapters import qdrant_scope
from streams.adapters.dense_vectors import Row, listed, rows, weighed
from streams.adapters.qdrant_errors import translated
from streams.domain.generation import Model
from streams.domain.scope import Scope
from streams.errors import ConfigurationError, Invalid, NoVectors, RankstreamError, Transient, Unreachable
from streams.telemetry.calls import traced

T = TypeVar("T")

SETTING = "QDRANT_URL"
SPARSE = "bm25"
LEXICAL = "+lexical"  # after a model's name: no name of an embedder has a plus
OPEN_SECONDS = 5.0
QUERY_SECONDS = 5.0
WRITE_SECONDS = 30.0
BATCH = 256  # points a call


async def open_client(url: str, api_key: str | None = None, *, ca: Path | None = None) -> AsyncQdrantClient:
    """Return a client whose server has answered; raise ConfigurationError within 5 s.

    ca: a file of the certificates that a https URL is trusted by; none: those of this machine.
    """
    client = unasked(url, api_key, ca=ca)
    try:
        async with translated("list collections", OPEN_SECONDS):
            await client.get_collections()
    except RankstreamError as error:
        await client.close()
        kind = Unreachable if isinstance(error, Transient) else ConfigurationError
        raise kind(f"{SETTING}: {error}") from error
    return client


def unasked(url: str, api_key: str | None = None, *, ca: Path | None = None) -> AsyncQdrantClient:
    """Return a client that has asked nothing yet; raise ConfigurationError that does not repeat the URL."""
    try:
        return AsyncQdrantClient(
            url=secret_urls.checked(url, SETTING),
            api_key=api_key,
            prefer_grpc=False,
            check_compatibility=False,
            timeout=int(WRITE_SECONDS),
            # On loopback the client would open a connection a call.
            limits=httpx.Limits(max_keepalive_connections=32),
            verify=ssl.create_default_context(cafile=ca) if ca else True,
        )
    except (ValueError, httpx.InvalidURL):
        raise ConfigurationError(f"{SETTING} is no URL like http://host:6333") from None


@traced("qdrant", "upsert", "rewrite", "remove", "read", "search_dense", "search_sparse")
class QdrantVectors:
    """The VectorIndex port on Qdrant."""

    def __init__(self, *, client: AsyncQdrantClient, prefix: str = "rankstream") -> None:
        self._client = client
        self._prefix = prefix
        self._made: dict[str, tuple[Model, ...]] = {}  # by collection
        self._lexical: dict[str, tuple[str, ...]] = {}  # by collection: models with lexical weights
        self._main: dict[str, str] = {}  # by collection, where it was prepared here

    def collection(self, generation: str) -> str:
        """Return the name of a generation's collection."""
        return f"{self._prefix}-{generation}"

    async def ensure_collection(
        self,
        generation: str,
        model: str,
        dimension: int,
        also: Sequence[Model] = (),
        *,
        lexical: Sequence[str] = (),
    ) -> None:
        """Create a generation's collection and its indexes; raise ConfigurationError when it has other vectors."""
        name, wanted = self.collection(generation), (Model(name=model, dimension=dimension), *also)
        async with translated("prepare the collection", WRITE_SECONDS):
            if not await self._client.collection_exists(name):
                await self._create(name, wanted, lexical)
            info = await self._client.get_collection(name)
            if set(wanted) != set(found := _models(info)):
                raise ConfigurationError(
                    f"embedder: {listed(wanted)} does not fit the collection {name}, which has {listed(found)}; "
                    "use those models, or an empty Qdrant and database, and ingest again"
                )
            if set(lexical) != set(_lexical(info)):
                raise ConfigurationError(
                    f"embedder: lexical weights of {', '.join(lexical) or 'no model'} do not fit the collection "
                    f"{name}, which has those of {', '.join(_lexical(info)) or 'none'}; use an empty Qdrant"
                )
            self._made[name], self._main[name], self._lexical[name] = wanted, model, tuple(lexical)
            for field in qdrant_scope.FIELDS:
                if field not in (info.payload_schema or {}):
                    await self._client.create_payload_index(name, field, field_schema=_keyword(field), wait=True)

    async def upsert(self, batch: VectorBatch) -> None:
        """Write the vectors of a batch; raise Invalid, with nothing written, when one of them has the wrong shape."""
        name = self.collection(batch.generation)
        async with translated("write vectors", WRITE_SECONDS):
            made = await self._models(name)
        dense = [rows(vectors, batch, made) for vectors in batch.vectors]
        lexical = [weighed(vectors, self._lexical[name]) for vectors in batch.vectors]
        points = [
            models.PointStruct(
                id=vectors.id,
                vector=_named(each, vectors.sparse, weights),
                payload=qdrant_scope.payload(batch, vectors.level),
            )
            for vectors, each, weights in zip(batch.vectors, dense, lexical, strict=True)
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

    async def read(
        self, generation: str, chunk_ids: Sequence[str], models: Sequence[str]
    ) -> Mapping[str, Mapping[str, Row]]:
        """Return the vectors by these models of the chunks that have any."""
        found: dict[str, dict[str, Row]] = {}
        for piece in _pieces(chunk_ids):
            async with translated("read vectors", WRITE_SECONDS):
                points = await self._client.retrieve(
                    self.collection(generation), ids=list(piece), with_payload=False, with_vectors=list(models)
                )
            for point in points:
                vectors: Mapping[str, Any] = point.vector if isinstance(point.vector, dict) else {}
                found[str(point.id)] = {name: np.asarray(vectors[name], dtype=np.float32) for name in vectors}
        return found

    async def drop(self, generation: str) -> None:
        """Remove all vectors of a generation; none there are no error."""
        async with translated("drop the collection", WRITE_SECONDS):
            await self._client.delete_collection(self.collection(generation))
        for kept in (self._made, self._lexical, self._main):
            kept.pop(self.collection(generation), None)

    async def search_dense(
        self, scope: Scope, vector: Sequence[float], levels: Sequence[Level], limit: int, *, model: str | None = None
    ) -> list[Hit]:
        """Return the chunks of `levels` nearest to a vector of a model, scored by cosine."""
        async with translated("search vectors", QUERY_SECONDS, missing=Invalid):
            made = await self._models(self.collection(scope.generation))
        if model is not None and model not in (each.name for each in made):
            raise NoVectors(model, scope.generation)
        using = model or (made[0].name if len(made) == 1 else self._main.get(self.collection(scope.generation)))
        if using is None:
            raise Invalid(f"there are vectors of {listed(made)}; say whose are searched", field="model")
        return await self._search(scope, [float(value) for value in vector], levels, limit, using)

    async def search_sparse(
        self, scope: Scope, vector: SparseVector, limit: int, *, model: str | None = None
    ) -> list[Hit]:
        """Return the parents that share a term with the vector, by BM25: Qdrant multiplies the inverse frequency.

        Lexical weights of a model are multiplied as they are.
        """
        if model is not None:
            async with translated("search vectors", QUERY_SECONDS, missing=Invalid):
                await self._models(self.collection(scope.generation))
            if model not in self._lexical[self.collection(scope.generation)]:
                raise NoVectors(model, scope.generation)
        using = SPARSE if model is None else f"{model}{LEXICAL}"
        query = models.SparseVector(indices=list(vector.indices), values=list(vector.values))
        return await self._search(scope, query, ("parent",), limit, using) if vector.indices else []

    async def _search(
        self, scope: Scope, query: models.SparseVector | list[float], levels: Sequence[Level], limit: int, using: str
    ) -> list[Hit]:
        name = self.collection(scope.generation)
        async with translated("search vectors", QUERY_SECONDS, missing=Invalid):
            answer = await self._client.query_points(
                name,
                query=query,
                using=using,
                query_filter=qdrant_scope.visible(scope, levels),
                limit=limit,
                # How rare a word is depends on the tenant's own texts: no tenant's scores tell of another's words.
                search_params=_own_words(scope) if using == SPARSE else None,
                with_payload=False,
                with_vectors=False,
            )
        hits = [Hit(chunk_id=str(point.id), score=float(point.score)) for point in answer.points]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    async def _models(self, name: str) -> tuple[Model, ...]:
        """Return what a collection's vectors were made with."""
        if name not in self._made:
            info = await self._client.get_collection(name)
            self._made[name], self._lexical[name] = _models(info), _lexical(info)
        return self._made[name]

    async def _create(self, name: str, wanted: Sequence[Model], lexical: Sequence[str]) -> None:
        dense = {
            model.name: models.VectorParams(
                size=model.dimension,
                distance=models.Distance.COSINE,
                # Of unit vectors that costs less than 0.001 of a cosine, and a search reads half as much.
                datatype=models.Datatype.FLOAT16,
            )
            for model in wanted
        }
        sparse = {SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)}
        sparse |= {f"{model}{LEXICAL}": models.SparseVectorParams() for model in lexical}
        try:
            await self._client.create_collection(
                name,
                vectors_config=dense,
                sparse_vectors_config=sparse,
            )
        except Exception:
            # Another process may have been quicker.
            await asyncio.sleep(0.2)
            if not await self._client.collection_exists(name):
                raise


def _named(
    dense: Mapping[str, Row], sparse: SparseVector | None, lexical: Mapping[str, SparseVector]
) -> dict[str, Any]:
    named: dict[str, Any] = {name: row.tolist() for name, row in dense.items()}
    weights = {f"{model}{LEXICAL}": of for model, of in lexical.items()} | ({SPARSE: sparse} if sparse else {})
    for name, each in weights.items():
        named[name] = models.SparseVector(indices=list(each.indices), values=list(each.values))
    return named


def _models(info: models.CollectionInfo) -> tuple[Model, ...]:
    vectors = info.config.params.vectors
    named = vectors if isinstance(vectors, dict) else {}
    return tuple(Model(name=name, dimension=params.size) for name, params in named.items())


def _lexical(info: models.CollectionInfo) -> tuple[str, ...]:
    named = info.config.params.sparse_vectors or {}
    return tuple(sorted(name.removesuffix(LEXICAL) for name in named if name.endswith(LEXICAL)))


def _keyword(field: str) -> models.KeywordIndexParams:
    # A tenant's points are kept together on disk, where the server can do that.
    return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=field == "tenant" or None)


def _ids(ids: Sequence[str]) -> models.HasIdCondition:
    return models.HasIdCondition(has_id=list(ids))


def _pieces(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def _own_words(scope: Scope) -> models.SearchParams:
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=qdrant_scope.owned(scope)))
