"""Points, vectors and queries: Qdrant's JSON to and from the embedded engine's types."""

from typing import Any

import qdrant_edge as edge

from streams.embedded import qdrant_filters
from streams.embedded.qdrant_errors import Unsupported, bad_request

_QUERY_FIELDS = {
    "query",
    "using",
    "filter",
    "limit",
    "offset",
    "score_threshold",
    "with_payload",
    "with_vector",
    "params",
}


def points(body: dict[str, Any]) -> list[edge.Point]:
    """The points of an upsert, given one by one or as a batch of columns."""
    if body.get("points") is not None:
        return [edge.Point(point["id"], _vectors(point["vector"]), point.get("payload")) for point in body["points"]]
    if body.get("batch") is None:
        raise bad_request("an upsert needs points or batch")
    batch = body["batch"]
    ids, columns = batch["ids"], batch["vectors"]
    payloads = batch.get("payloads") or [None] * len(ids)
    if not isinstance(columns, dict):
        raise Unsupported("vectors without a name")
    made = []
    for row, (id, payload) in enumerate(zip(ids, payloads, strict=True)):
        vectors = {name: column[row] for name, column in columns.items() if column[row] is not None}
        made.append(edge.Point(id, _vectors(vectors), payload))
    return made


def query(body: dict[str, Any], idf: edge.IdfParams | None = None) -> edge.QueryRequest:
    """One search by a named vector; the weights of terms are counted over `idf` unless the body says over what."""
    unknown = sorted(name for name, value in body.items() if value is not None and name not in _QUERY_FIELDS)
    if unknown:
        raise Unsupported(f"query with {', '.join(unknown)}")
    wanted = body.get("query")
    if isinstance(wanted, dict) and "nearest" in wanted:
        if wanted.get("mmr"):
            raise Unsupported("query with mmr")
        wanted = wanted["nearest"]
    if isinstance(wanted, dict) and "indices" not in wanted:
        raise Unsupported(f"query by {', '.join(sorted(wanted))}")
    if wanted is None:
        raise Unsupported("query without a vector (use scroll)")
    if not isinstance(wanted, list | dict):
        raise Unsupported("query by the id of a point")
    limit = body.get("limit")
    return edge.QueryRequest(
        limit=10 if limit is None else limit,
        offset=body.get("offset"),
        query=edge.Query.Nearest(_vector(wanted), using=body.get("using")),
        filter=qdrant_filters.parse(body.get("filter")),
        score_threshold=body.get("score_threshold"),
        with_payload=payload_choice(body.get("with_payload"), otherwise=False),
        with_vector=vector_choice(body.get("with_vector")),
        params=_params(body.get("params") or {}, idf),
    )


def scroll(body: dict[str, Any]) -> edge.ScrollRequest:
    """One page of points in the order of their ids."""
    if body.get("order_by") is not None:
        raise Unsupported("scroll with order_by")
    limit = body.get("limit")
    return edge.ScrollRequest(
        offset=body.get("offset"),
        limit=10 if limit is None else limit,
        filter=qdrant_filters.parse(body.get("filter")),
        with_payload=payload_choice(body.get("with_payload"), otherwise=True),
        with_vector=vector_choice(body.get("with_vector")),
    )


def payload_choice(given: Any, *, otherwise: bool) -> Any:
    """with_payload: a yes or no, a list of fields, or an object that includes or excludes some."""
    if given is None:
        return otherwise
    if isinstance(given, bool | list):
        return given
    if isinstance(given, dict) and given.get("include") is not None:
        return edge.PayloadSelector.Include(given["include"])
    if isinstance(given, dict) and given.get("exclude") is not None:
        return edge.PayloadSelector.Exclude(given["exclude"])
    raise bad_request("with_payload")


def vector_choice(given: Any) -> Any:
    """with_vector: a yes or no, or a list of names."""
    return False if given is None else given


def record(point: edge.Record | edge.ScoredPoint) -> dict[str, Any]:
    """A point as JSON; a scored one with its score and version."""
    answer: dict[str, Any] = {"id": point.id if isinstance(point.id, int) else str(point.id)}
    if isinstance(point, edge.ScoredPoint):
        answer |= {"version": point.version, "score": point.score}
    if point.payload is not None:
        answer["payload"] = point.payload
    vectors: Any = point.vector
    if vectors:
        answer["vector"] = {name: _plain(vector) for name, vector in vectors.items()}
    return answer


def _vectors(given: Any) -> Any:
    if not isinstance(given, dict):
        raise Unsupported("vectors without a name")
    return {name: _vector(vector) for name, vector in given.items()}


def _vector(given: Any) -> Any:
    if isinstance(given, list):
        if given and isinstance(given[0], list):
            raise Unsupported("multi-vectors")
        return given
    if isinstance(given, dict) and "indices" in given:
        return edge.SparseVector(given["indices"], given["values"])
    raise Unsupported("vectors made by the server from text or images")


def _plain(vector: Any) -> Any:
    if isinstance(vector, edge.SparseVector):
        return {"indices": list(vector.indices), "values": list(vector.values)}
    return vector


def _params(given: dict[str, Any], idf: edge.IdfParams | None) -> edge.SearchParams:
    known = {name: given[name] for name in ("hnsw_ef", "exact", "indexed_only") if given.get(name) is not None}
    unknown = sorted(name for name, value in given.items() if value is not None and name not in {*known, "idf"})
    if unknown:
        raise Unsupported(f"search parameters {', '.join(unknown)}")
    if given.get("idf"):
        idf = edge.IdfParams(corpus=qdrant_filters.parse(given["idf"].get("corpus")))
    return edge.SearchParams(**known, idf=idf)
