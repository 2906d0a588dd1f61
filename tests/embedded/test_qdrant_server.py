"""The embedded Qdrant beside the client's local mode: the same calls, the same answers."""

import random
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp.test_utils import TestServer
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as m
from qdrant_client.http.exceptions import UnexpectedResponse

from streams.embedded.qdrant_server import make_app

NAME = "chunks"
SIZE = 16
POINTS = 240
COLORS = ["red", "green", "blue"]


def id_of(number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))


def dense(seed: int) -> list[float]:
    chance = random.Random(seed)
    return [chance.uniform(-1, 1) for _ in range(SIZE)]


def sparse(seed: int, terms: int = 12) -> m.SparseVector:
    chance = random.Random(seed)
    indices = sorted(chance.sample(range(60), terms))
    return m.SparseVector(indices=indices, values=[round(chance.uniform(0.1, 2.0), 3) for _ in indices])


def point(number: int) -> m.PointStruct:
    payload: dict[str, Any] = {
        "tenant": f"t{number % 3}",
        "n": number,
        "color": COLORS[number % 2],
        "text": f"text {number}",
    }
    if number % 5 == 0:
        payload["agents"] = []
    elif number % 5 < 3:
        payload["agents"] = [f"a{number % 2}", "shared"]
    return m.PointStruct(id=id_of(number), vector={"dense": dense(number), "bm25": sparse(number)}, payload=payload)


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[AsyncQdrantClient]:
    """A client of the embedded server over a folder."""
    server = TestServer(make_app(folder))
    await server.start_server()
    client = AsyncQdrantClient(url=str(server.make_url("/")).rstrip("/"), prefer_grpc=False, check_compatibility=False)
    try:
        yield client
    finally:
        await client.close()
        await server.close()


async def fill(client: AsyncQdrantClient) -> None:
    await client.create_collection(
        NAME,
        vectors_config={"dense": m.VectorParams(size=SIZE, distance=m.Distance.COSINE)},
        sparse_vectors_config={"bm25": m.SparseVectorParams(modifier=m.Modifier.IDF)},
    )
    for begin in range(0, POINTS, 100):
        await client.upsert(NAME, [point(number) for number in range(begin, min(POINTS, begin + 100))], wait=True)


class Both:
    """The embedded server and the local mode, asked the same."""

    def __init__(self, server: AsyncQdrantClient, local: AsyncQdrantClient) -> None:
        self.server = server
        self.local = local

    async def do(self, call: str, *args: Any, **options: Any) -> None:
        await getattr(self.server, call)(NAME, *args, **options)
        await getattr(self.local, call)(NAME, *args, **options)

    async def agree(self, **search: Any) -> list[m.ScoredPoint]:
        got = (await self.server.query_points(NAME, **search)).points
        same(got, (await self.local.query_points(NAME, **search)).points)
        return got

    async def agree_on_all(self) -> list[m.Record]:
        options: dict[str, Any] = {"limit": 1000, "with_payload": True, "with_vectors": True}
        got, got_next = await self.server.scroll(NAME, **options)
        want, want_next = await self.local.scroll(NAME, **options)
        assert got_next is None and want_next is None
        assert {each.id: each.payload for each in got} == {each.id: each.payload for each in want}
        vectors = {each.id: each.vector for each in want}
        for each in got:
            assert_same_vectors(each.vector, vectors[each.id])
        return got


@asynccontextmanager
async def filled(folder: Path) -> AsyncIterator[Both]:
    """The server and the local mode with the same points, the server's fields indexed."""
    local = AsyncQdrantClient(":memory:")
    async with served(folder) as server:
        for client in (server, local):
            await fill(client)
        for field, kind in (("tenant", "keyword"), ("agents", "keyword"), ("n", "integer")):
            await server.create_payload_index(NAME, field, field_schema=kind)
        yield Both(server, local)
    await local.close()


@pytest.fixture(scope="module")
async def unchanged(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Both]:
    """For tests that only read."""
    async with filled(tmp_path_factory.mktemp("qdrant")) as both:
        yield both


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[Both]:
    """For tests that write."""
    async with filled(tmp_path) as both:
        yield both


def same(got: list[m.ScoredPoint], want: list[m.ScoredPoint]) -> None:
    assert [each.score for each in got] == pytest.approx([each.score for each in want], abs=1e-4)
    assert [each.id for each in got] == [each.id for each in want]
    assert [each.payload for each in got] == [each.payload for each in want]
    for mine, theirs in zip(got, want, strict=True):
        assert_same_vectors(mine.vector, theirs.vector)


def assert_same_vectors(got: Any, want: Any) -> None:
    assert (got or {}).keys() == (want or {}).keys()
    for name, vector in (want or {}).items():
        if isinstance(vector, m.SparseVector):
            assert got[name].indices == vector.indices
            assert got[name].values == pytest.approx(vector.values, abs=1e-5)
        else:
            assert got[name] == pytest.approx(vector, abs=1e-5)


def value(key: str, wanted: Any) -> m.FieldCondition:
    return m.FieldCondition(key=key, match=m.MatchValue(value=wanted))


def any_of(key: str, *wanted: Any) -> m.FieldCondition:
    return m.FieldCondition(key=key, match=m.MatchAny(any=list(wanted)))


def none_of(key: str, *unwanted: Any) -> m.FieldCondition:
    return m.FieldCondition(key=key, match=m.MatchExcept(**{"except": list(unwanted)}))


TEXT = m.Filter(must=[m.FieldCondition(key="text", match=m.MatchText(text="a"))])
NO_AGENTS = m.IsEmptyCondition(is_empty=m.PayloadField(key="agents"))
FILTERS: dict[str, m.Filter | None] = {
    "none": None,
    "a keyword": m.Filter(must=[value("tenant", "t1")]),
    "an integer": m.Filter(must=[value("n", 17)]),
    "a field without an index": m.Filter(must=[value("color", "red")]),
    "any of": m.Filter(must=[any_of("tenant", "t0", "t2")]),
    "any of integers": m.Filter(must=[any_of("n", 3, 5, 400)]),
    "any of none": m.Filter(must=[any_of("tenant")]),
    "all but": m.Filter(must=[none_of("tenant", "t0")]),
    "must not": m.Filter(must_not=[value("tenant", "t0"), value("color", "red")]),
    "should": m.Filter(should=[value("tenant", "t0"), value("color", "green")]),
    "an array that holds": m.Filter(must=[value("agents", "a1")]),
    "empty": m.Filter(must=[NO_AGENTS]),
    "not empty": m.Filter(must_not=[NO_AGENTS]),
    "has id": m.Filter(must=[m.HasIdCondition(has_id=[id_of(3), id_of(4), id_of(9999)])]),
    "not these ids": m.Filter(must_not=[m.HasIdCondition(has_id=[id_of(number) for number in range(200)])]),
    "a range": m.Filter(must=[m.FieldCondition(key="n", range=m.Range(gte=10, lt=20))]),
    "one tenant, visible to an agent": m.Filter(
        must=[value("tenant", "t1"), m.Filter(should=[NO_AGENTS, any_of("agents", "a0", "a7")])]
    ),
    "everything": m.Filter(
        must=[any_of("tenant", "t0", "t1"), m.Filter(should=[NO_AGENTS, value("agents", "shared")])],
        should=[value("color", "red"), m.FieldCondition(key="n", range=m.Range(gt=100))],
        must_not=[m.HasIdCondition(has_id=[id_of(0), id_of(1)]), value("n", 6)],
    ),
    "nothing": m.Filter(must=[value("tenant", "absent")]),
}
QUERIES: dict[str, dict[str, Any]] = {
    "dense": {"query": dense(-1), "using": "dense"},
    "sparse": {"query": sparse(-1, terms=5), "using": "bm25"},
}


@pytest.mark.parametrize("where", FILTERS)
@pytest.mark.parametrize("how", QUERIES)
async def test_a_search_finds_the_same_points_with_the_same_scores(unchanged: Both, how: str, where: str) -> None:
    found = await unchanged.agree(**QUERIES[how], query_filter=FILTERS[where], limit=30, with_payload=True)
    assert bool(found) == (where not in ("nothing", "any of none"))


@pytest.mark.parametrize("where", FILTERS)
async def test_a_count_is_the_same(unchanged: Both, where: str) -> None:
    got = await unchanged.server.count(NAME, count_filter=FILTERS[where], exact=True)
    assert got == await unchanged.local.count(NAME, count_filter=FILTERS[where], exact=True)


@pytest.mark.parametrize("how", QUERIES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"limit": 1},
        {"limit": 7, "offset": 5},
        {"limit": 500},
        {"limit": 20, "score_threshold": 0.3},
        {"with_payload": False},
        {"with_payload": ["tenant", "n"]},
        {"with_payload": m.PayloadSelectorInclude(include=["n"])},
        {"with_payload": m.PayloadSelectorExclude(exclude=["text"])},
        {"with_vectors": True},
        {"with_vectors": ["dense"]},
    ],
    ids=str,
)
async def test_the_options_of_a_search_mean_the_same(unchanged: Both, how: str, options: dict[str, Any]) -> None:
    await unchanged.agree(**QUERIES[how], **options)


async def test_a_batch_of_searches_answers_each_in_turn(unchanged: Both) -> None:
    requests = [
        m.QueryRequest(query=dense(-2), using="dense", filter=FILTERS["a keyword"], limit=5, with_payload=True),
        m.QueryRequest(query=sparse(-3), using="bm25", limit=8),
        m.QueryRequest(query=dense(-4), using="dense", limit=3, with_vector=True),
    ]
    got = await unchanged.server.query_batch_points(NAME, requests=requests)
    want = await unchanged.local.query_batch_points(NAME, requests=requests)
    for mine, theirs in zip(got, want, strict=True):
        same(mine.points, theirs.points)


async def test_retrieve_gives_the_points_that_exist(unchanged: Both) -> None:
    ids = [id_of(5), id_of(9999), id_of(2)]
    got = await unchanged.server.retrieve(NAME, ids, with_payload=["n"], with_vectors=True)
    want = await unchanged.local.retrieve(NAME, ids, with_payload=["n"], with_vectors=True)
    assert sorted((each.id, each.payload["n"]) for each in got) == sorted((each.id, each.payload["n"]) for each in want)
    assert len(got) == 2


async def test_scrolling_page_by_page_passes_every_point_once(unchanged: Both) -> None:
    seen: list[Any] = []
    offset: Any = None
    while True:
        page, offset = await unchanged.server.scroll(NAME, scroll_filter=FILTERS["a keyword"], limit=7, offset=offset)
        seen += [each.id for each in page]
        if offset is None:
            break
    assert sorted(seen) == sorted(id_of(number) for number in range(POINTS) if number % 3 == 1)


async def test_deletes_by_id_and_by_filter_leave_the_same_points_and_scores(both: Both) -> None:
    await both.do("delete", [id_of(number) for number in (1, 2, 3, 9999)])
    await both.do("delete", m.FilterSelector(filter=FILTERS["one tenant, visible to an agent"]))
    left = await both.agree_on_all()
    assert 0 < len(left) < POINTS - 3
    for how in QUERIES.values():
        # The weight of a term follows the points that are left.
        await both.agree(**how, limit=50)


async def test_a_point_that_is_written_again_is_replaced_whole(both: Both) -> None:
    again = [m.PointStruct(id=id_of(n), vector={"dense": dense(1000 + n)}, payload={"tenant": "t9"}) for n in range(20)]
    await both.do("upsert", again)
    await both.agree_on_all()
    for how in QUERIES.values():
        await both.agree(**how, limit=50, with_payload=True)


async def test_set_payload_changes_only_the_given_fields_of_the_given_points(both: Both) -> None:
    await both.do("set_payload", {"agents": ["a5"], "color": "violet"}, points=[id_of(n) for n in range(4)])
    await both.do("set_payload", {"trust": "internal"}, points=FILTERS["a keyword"])
    await both.do("overwrite_payload", {"tenant": "t1"}, points=[id_of(7)])
    await both.do("delete_payload", ["text"], points=[id_of(8)])
    await both.agree_on_all()
    found = await both.agree(**QUERIES["dense"], query_filter=m.Filter(must=[value("agents", "a5")]), with_payload=True)
    assert len(found) == 4


async def test_a_batch_upsert_by_columns_stores_the_points(both: Both) -> None:
    ids = [id_of(n) for n in (500, 501)]
    batch = m.Batch(ids=ids, vectors={"dense": [dense(500), dense(501)]}, payloads=[{"n": 1}, {"n": 2}])  # type: ignore[arg-type]
    await both.do("upsert", batch)
    await both.agree_on_all()


async def test_the_client_can_make_ask_about_and_drop_collections(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        assert (await client.get_collections()).collections == []
        assert not await client.collection_exists(NAME)
        assert not await client.delete_collection(NAME)
        await fill(client)
        await client.create_payload_index(
            NAME, "tenant", field_schema=m.KeywordIndexParams(type="keyword", is_tenant=True)
        )
        assert await client.collection_exists(NAME)
        info = await client.get_collection(NAME)
        assert info.status == m.CollectionStatus.GREEN
        assert info.points_count == POINTS
        assert info.config.params.vectors["dense"].size == SIZE
        assert info.config.params.sparse_vectors["bm25"].modifier == m.Modifier.IDF
        assert info.payload_schema["tenant"].data_type == m.PayloadSchemaType.KEYWORD
        await client.delete_payload_index(NAME, "tenant")
        assert await client.delete_collection(NAME)
        assert not await client.collection_exists(NAME)
        await fill(client)


async def test_a_restart_keeps_points_payloads_indexes_and_scores(tmp_path: Path) -> None:
    search: dict[str, Any] = {"limit": 20, "with_payload": True, "query_filter": FILTERS["everything"]}
    async with served(tmp_path) as client:
        await fill(client)
        await client.create_payload_index(NAME, "tenant", field_schema="keyword")
        await client.delete(NAME, [id_of(30)])
        before = [(await client.query_points(NAME, **how, **search)).points for how in QUERIES.values()]
    async with served(tmp_path) as client:
        after = [(await client.query_points(NAME, **how, **search)).points for how in QUERIES.values()]
        for got, want in zip(after, before, strict=True):
            same(got, want)
        assert (await client.count(NAME)).count == POINTS - 1
        assert "tenant" in (await client.get_collection(NAME)).payload_schema
        await client.upsert(NAME, [point(30)])
        assert (await client.count(NAME)).count == POINTS


async def test_a_missing_collection_is_404_and_names_it(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        with pytest.raises(UnexpectedResponse) as caught:
            await client.query_points("absent", query=dense(1), using="dense")
        assert caught.value.status_code == 404
        assert caught.value.structured()["status"]["error"] == "Not found: Collection `absent` doesn't exist!"


async def test_a_second_creation_is_409(unchanged: Both) -> None:
    with pytest.raises(UnexpectedResponse, match="409"):
        await fill(unchanged.server)


@pytest.mark.parametrize(
    ("call", "status", "said"),
    [
        (lambda c: c.query_points(NAME, query=[0.5] * 3, using="dense"), 400, "expected dim: 16, got 3"),
        (lambda c: c.query_points(NAME, query=dense(1), using="absent"), 400, "Not existing vector name error: absent"),
        (lambda c: c.upsert(NAME, [m.PointStruct(id=1, vector={"dense": [0.5] * 3})]), 400, "expected dim: 16, got 3"),
        (lambda c: c.upsert(NAME, [m.PointStruct(id=1, vector={"other": dense(1)})]), 400, "vector name error: other"),
        (lambda c: c.upsert(NAME, [m.PointStruct(id="no uuid", vector={"dense": dense(1)})]), 400, "no uuid"),
        (lambda c: c.query_points(NAME, query=m.FusionQuery(fusion=m.Fusion.RRF)), 501, "query by fusion"),
        (lambda c: c.query_points(NAME, prefetch=[m.Prefetch(query=dense(1), using="dense")]), 501, "with prefetch"),
        (lambda c: c.count(NAME, count_filter=TEXT), 501, "match by text"),
        (lambda c: c.set_payload(NAME, {"n": 1}, points=[id_of(9999)]), 404, f"No point with id {id_of(9999)}"),
        (lambda c: c.facet(NAME, key="tenant"), 501, "POST /collections/chunks/facet"),
        (lambda c: c.create_payload_index(NAME, "text", field_schema="text"), 501, "an index of type text"),
    ],
)  # fmt: skip
async def test_what_cannot_be_done_is_refused_with_a_reason(unchanged: Both, call: Any, status: int, said: str) -> None:
    with pytest.raises(UnexpectedResponse) as caught:
        await call(unchanged.server)
    assert caught.value.status_code == status
    assert said in caught.value.structured()["status"]["error"]
    assert (await unchanged.server.count(NAME)).count == POINTS


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[1]",
        '{"points": [{"id": 1}]}',
        '{"points": 3}',
        "{}",
        '{"points": [null]}',
        '{"points":[{"id":-5,"vector":{}}]}',
    ],
)
async def test_a_malformed_body_is_400(unchanged: Both, body: str) -> None:
    url = f"{unchanged.server._client.rest_uri}/collections/{NAME}/points"
    async with httpx.AsyncClient() as client:
        answer = await client.put(url, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["status"]["error"]
