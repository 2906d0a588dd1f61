"""A collection of the embedded Qdrant: one shard of the engine and the configuration it was created with."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import qdrant_edge as edge

from streams.embedded.qdrant_errors import RequestError, Unsupported, bad_request, no_collection

# The engine keeps the interpreter's lock while it works, so that a larger piece would hold up every search.
UPSERT_POINTS = 100
# Searches are exact. A graph would take a search at 50,000 points from 6 to 0.5 ms, but the engine builds it (20 to
# 50 s there) with the interpreter's lock held, and nothing would be answered meanwhile.
NEVER_INDEX_KB = 1_000_000_000
_DISTANCES = {
    "Cosine": edge.Distance.Cosine,
    "Dot": edge.Distance.Dot,
    "Euclid": edge.Distance.Euclid,
    "Manhattan": edge.Distance.Manhattan,
}
_DATATYPES = {
    "float32": edge.VectorStorageDatatype.Float32,
    "float16": edge.VectorStorageDatatype.Float16,
}
_INDEXES = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "float": edge.PayloadSchemaType.Float,
    "bool": edge.PayloadSchemaType.Bool,
    "uuid": edge.PayloadSchemaType.Uuid,
    "datetime": edge.PayloadSchemaType.Datetime,
}
_EVERY_POINT = edge.Filter(must_not=[edge.HasIdCondition(set())])


class Collection:
    """A shard with its name and configuration. Its calls block."""

    def __init__(self, folder: Path, config: dict[str, Any], shard: edge.EdgeShard) -> None:
        self.folder = folder
        self.config = config
        self.shard = shard
        self.operations = 0
        self.has_deleted = False
        self._dirty = False

    def update(self, operation: edge.UpdateOperation) -> None:
        """Apply one change; the engine's log has it when this returns."""
        self.shard.update(operation)
        self.operations += 1
        self._dirty = True

    def flush(self) -> None:
        """Put what has changed into the shard's own files."""
        if self._dirty:
            self._dirty = False
            self.shard.flush()

    def index(self, field: str, schema: Any) -> None:
        """Index a payload field, given the name of its type or an object that has it."""
        kind = schema.get("type") if isinstance(schema, dict) else schema
        if kind not in _INDEXES:
            raise Unsupported(f"an index of type {kind}")
        self.update(edge.UpdateOperation.create_field_index(field, _INDEXES[kind]))

    def idf(self, search: dict[str, Any]) -> edge.IdfParams | None:
        """The points that the weight of a term is counted over, where a search does not leave that to the engine.

        The engine's own counts keep deleted points until the shard is loaded again; counting all that are left takes
        about a millisecond at 50,000 points.
        """
        weighted = self.config["sparse_vectors"].get(search.get("using") or "", {}).get("modifier") == "idf"
        return edge.IdfParams(corpus=_EVERY_POINT) if weighted and self.has_deleted else None

    def check(self, points: list[edge.Point]) -> None:
        """Raise RequestError 400 for a vector of the wrong size or of a name that the collection lacks."""
        dense, sparse = self.config["vectors"], self.config["sparse_vectors"]
        for point in points:
            vectors: Any = point.vector
            for name, vector in vectors.items():
                if name not in dense and name not in sparse:
                    raise bad_request(f"Not existing vector name error: {name}")
                if isinstance(vector, edge.SparseVector) != (name in sparse):
                    raise bad_request(f"vector {name} is {'sparse' if name in sparse else 'dense'} in this collection")
                if name in dense and len(vector) != dense[name]["size"]:
                    raise bad_request(f"Vector dimension error: expected dim: {dense[name]['size']}, got {len(vector)}")

    def info(self) -> dict[str, Any]:
        """The collection as Qdrant's API describes it."""
        info = self.shard.info()
        schema = {
            field: {"data_type": str(index.data_type).rsplit(".", 1)[-1].lower(), "points": index.points}
            for field, index in info.payload_schema.items()
        }
        return {
            "status": "green",
            "optimizer_status": "ok",
            "indexed_vectors_count": info.indexed_vectors_count,
            "points_count": info.points_count,
            "segments_count": info.segments_count,
            "config": {
                "params": {"shard_number": 1, "replication_factor": 1, "on_disk_payload": True, **self.config},
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 1,
                    "flush_interval_sec": 5,
                },
            },
            "payload_schema": schema,
        }


class Collections:
    """All collections under a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, Collection] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for place in sorted(folder.iterdir()):
            if not (place / "collection.json").exists():
                # Half created or half deleted when the process was killed.
                shutil.rmtree(place, ignore_errors=True)
                continue
            saved = msgspec.json.decode((place / "collection.json").read_bytes())
            shard = edge.EdgeShard.load(str(place / "shard"))
            # Gives the room of deleted points back, where those are many: a quarter of a second for 10,000 points.
            shard.optimize()
            self._open[saved["name"]] = Collection(place, saved["config"], shard)

    def __iter__(self) -> Iterator[Collection]:
        return iter(list(self._open.values()))

    def names(self) -> list[str]:
        return sorted(self._open)

    def get(self, name: str) -> Collection:
        """The collection of this name; raises RequestError 404 where there is none."""
        try:
            return self._open[name]
        except KeyError:
            raise no_collection(name) from None

    def exists(self, name: str) -> bool:
        return name in self._open

    def create(self, name: str, body: dict[str, Any]) -> None:
        """Create a collection with named dense and sparse vectors."""
        if self.exists(name):
            raise RequestError(409, f"Wrong input: Collection `{name}` already exists!")
        vectors, sparse = body.get("vectors") or {}, body.get("sparse_vectors") or {}
        if "size" in vectors:
            raise Unsupported("vectors without a name")
        place = self._folder / name.encode().hex()
        (place / "shard").mkdir(parents=True)
        config = edge.EdgeConfig(
            vectors={key: _dense(params) for key, params in vectors.items()},
            sparse_vectors={key: _sparse(params or {}) for key, params in sparse.items()},
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=NEVER_INDEX_KB),
        )
        shard = edge.EdgeShard.create(str(place / "shard"), config)
        kept = {"vectors": vectors, "sparse_vectors": {key: params or {} for key, params in sparse.items()}}
        # The collection exists from the moment that this file is there, whole.
        (place / "collection.json.new").write_bytes(msgspec.json.encode({"name": name, "config": kept}))
        (place / "collection.json.new").rename(place / "collection.json")
        self._open[name] = Collection(place, kept, shard)

    def drop(self, name: str) -> bool:
        """Delete a collection and its data; False where there was none."""
        collection = self._open.pop(name, None)
        if collection is None:
            return False
        (collection.folder / "collection.json").unlink()
        collection.shard.close()
        shutil.rmtree(collection.folder, ignore_errors=True)
        return True

    def close(self) -> None:
        """Flush and close every shard."""
        for collection in self._open.values():
            collection.flush()
            collection.shard.close()
        self._open.clear()


def _dense(params: dict[str, Any]) -> edge.EdgeVectorParams:
    if params.get("distance") not in _DISTANCES:
        raise bad_request(f"unknown distance {params.get('distance')!r}")
    if params.get("multivector_config"):
        raise Unsupported("multi-vectors")
    datatype = params.get("datatype") or "float32"
    if datatype not in _DATATYPES:
        raise Unsupported(f"vectors of type {datatype}")
    return edge.EdgeVectorParams(
        size=params["size"], distance=_DISTANCES[params["distance"]], datatype=_DATATYPES[datatype]
    )


def _sparse(params: dict[str, Any]) -> edge.EdgeSparseVectorParams:
    return edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if params.get("modifier") == "idf" else None)
