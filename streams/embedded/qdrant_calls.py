"""What can be asked of one collection: a table of HTTP method and path to the call that answers it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import qdrant_edge as edge

from streams.embedded import qdrant_filters, qdrant_points
from streams.embedded.qdrant_errors import RequestError, Unsupported, bad_request
from streams.embedded.qdrant_shard import UPSERT_POINTS, Collection

Body = dict[str, Any]
Call = Callable[[Collection, Body], Awaitable[Any]]


async def _info(collection: Collection, body: Body) -> Any:
    return collection.info()


async def _create_index(collection: Collection, body: Body) -> Any:
    collection.index(body["field_name"], body.get("field_schema") or body.get("field_type"))
    return _done(collection)


async def _delete_index(collection: Collection, body: Body) -> Any:
    collection.update(edge.UpdateOperation.delete_field_index(body["field"]))
    return _done(collection)


async def _upsert(collection: Collection, body: Body) -> Any:
    if body.get("update_filter") or body.get("update_mode") not in (None, "upsert"):
        raise Unsupported("conditional upserts")
    points = qdrant_points.points(body)
    # A point that is refused must not leave the first pieces behind.
    collection.check(points)
    for begin in range(0, len(points), UPSERT_POINTS):
        collection.update(edge.UpdateOperation.upsert_points(points[begin : begin + UPSERT_POINTS]))
        await asyncio.sleep(0)
    return _done(collection)


async def _delete(collection: Collection, body: Body) -> Any:
    if body.get("points") is not None:
        collection.update(edge.UpdateOperation.delete_points(body["points"]))
    else:
        collection.update(edge.UpdateOperation.delete_points_by_filter(_filter(body)))
    collection.has_deleted = True
    return _done(collection)


async def _set_payload(collection: Collection, body: Body) -> Any:
    if body.get("points") is not None:
        operation = edge.UpdateOperation.set_payload(body["points"], body["payload"], body.get("key"))
    else:
        operation = edge.UpdateOperation.set_payload_by_filter(_filter(body), body["payload"], body.get("key"))
    collection.update(operation)
    return _done(collection)


async def _overwrite_payload(collection: Collection, body: Body) -> Any:
    if body.get("points") is not None:
        operation = edge.UpdateOperation.overwrite_payload(body["points"], body["payload"], body.get("key"))
    else:
        operation = edge.UpdateOperation.overwrite_payload_by_filter(_filter(body), body["payload"], body.get("key"))
    collection.update(operation)
    return _done(collection)


async def _delete_payload(collection: Collection, body: Body) -> Any:
    if body.get("points") is not None:
        operation = edge.UpdateOperation.delete_payload(body["points"], body["keys"])
    else:
        operation = edge.UpdateOperation.delete_payload_by_filter(_filter(body), body["keys"])
    collection.update(operation)
    return _done(collection)


async def _retrieve(collection: Collection, body: Body) -> Any:
    with_payload = qdrant_points.payload_choice(body.get("with_payload"), otherwise=True)
    with_vector = qdrant_points.vector_choice(body.get("with_vector"))
    found = collection.shard.retrieve(body["ids"], with_payload, with_vector)
    return [qdrant_points.record(point) for point in found]


async def _retrieve_one(collection: Collection, body: Body) -> Any:
    name = int(body["id"]) if body["id"].isdecimal() else body["id"]
    found = collection.shard.retrieve([name], True, True)
    if not found:
        raise RequestError(404, f"Not found: Point with id {name} does not exists!")
    return qdrant_points.record(found[0])


async def _scroll(collection: Collection, body: Body) -> Any:
    found, following = collection.shard.scroll(qdrant_points.scroll(body))
    offset = following if following is None or isinstance(following, int) else str(following)
    return {"points": [qdrant_points.record(point) for point in found], "next_page_offset": offset}


async def _count(collection: Collection, body: Body) -> Any:
    wanted = qdrant_filters.parse(body.get("filter"))
    return {"count": collection.shard.count(edge.CountRequest(exact=body.get("exact") is not False, filter=wanted))}


async def _query(collection: Collection, body: Body) -> Any:
    found = collection.shard.query(qdrant_points.query(body, collection.idf(body)))
    return {"points": [qdrant_points.record(point) for point in found]}


async def _query_batch(collection: Collection, body: Body) -> Any:
    searches = [qdrant_points.query(search, collection.idf(search)) for search in body["searches"]]
    answers = []
    for search in searches:
        found = collection.shard.query(search)
        answers.append({"points": [qdrant_points.record(point) for point in found]})
        await asyncio.sleep(0)
    return answers


def _filter(body: Body) -> edge.Filter:
    wanted = qdrant_filters.parse(body.get("filter"))
    if wanted is None:
        raise bad_request("points or a filter must be given")
    return wanted


def _done(collection: Collection) -> Body:
    return {"operation_id": collection.operations, "status": "completed"}


CALLS: dict[tuple[str, str], Call] = {
    ("GET", ""): _info,
    ("PUT", "/index"): _create_index,
    ("DELETE", "/index/{field}"): _delete_index,
    ("PUT", "/points"): _upsert,
    ("POST", "/points"): _retrieve,
    ("GET", "/points/{id}"): _retrieve_one,
    ("POST", "/points/delete"): _delete,
    ("POST", "/points/payload"): _set_payload,
    ("PUT", "/points/payload"): _overwrite_payload,
    ("POST", "/points/payload/delete"): _delete_payload,
    ("POST", "/points/scroll"): _scroll,
    ("POST", "/points/count"): _count,
    ("POST", "/points/query"): _query,
    ("POST", "/points/query/batch"): _query_batch,
}
