"""The embedded Qdrant with several dense vectors a point, beside the client's local mode."""

from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as m
from qdrant_client.http.exceptions import UnexpectedResponse

from tests.embedded.test_qdrant_server import NAME, Both, dense, id_of, served, sparse


async def test_several_dense_vectors_are_kept_and_searched_apart(tmp_path: Path) -> None:
    """One of two sizes is missing on every third point, and is written later on some."""

    def two(number: int) -> m.PointStruct:
        vectors = {"dense": dense(number), "other": dense(5000 + number)[:5], "bm25": sparse(number)}
        if number % 3 == 0:
            del vectors["other"]
        return m.PointStruct(id=id_of(number), vector=vectors, payload={"n": number})

    sizes = {
        name: m.VectorParams(size=size, distance=m.Distance.COSINE) for name, size in (("dense", 16), ("other", 5))
    }
    local = AsyncQdrantClient(":memory:")
    async with served(tmp_path) as server:
        for client in (server, local):
            await client.create_collection(
                NAME, vectors_config=sizes, sparse_vectors_config={"bm25": m.SparseVectorParams()}
            )
        both = Both(server, local)
        await both.do("upsert", [two(number) for number in range(90)])
        await both.agree_on_all()
        assert len(await both.agree(query=dense(-1)[:5], using="other", limit=90, with_vectors=["other"])) == 60
        assert len(await both.agree(query=dense(-1), using="dense", limit=90)) == 90
        await both.do("upsert", [m.PointStruct(id=id_of(3), vector={"dense": dense(7), "other": dense(8)[:5]})])
        await both.do("delete", [id_of(4)])
        assert len(await both.agree(query=dense(-2)[:5], using="other", limit=90, with_payload=True)) == 60
        for wrong in ({"other": dense(1)}, {"absent": dense(1)}):
            with pytest.raises(UnexpectedResponse) as caught:
                await server.upsert(NAME, [m.PointStruct(id=id_of(1), vector=wrong)])
            assert caught.value.status_code == 400
    async with served(tmp_path) as server:  # and after a restart
        again = Both(server, local)
        assert len(await again.agree(query=dense(-2)[:5], using="other", limit=90)) == 60
    await local.close()
