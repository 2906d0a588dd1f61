"""Vectors of half precision in the embedded Qdrant."""

from __future__ import annotations

from pathlib import Path

import pytest
from qdrant_client import models as m
from qdrant_client.http.exceptions import UnexpectedResponse

from tests.embedded.test_qdrant_server import SIZE, dense, id_of, served


async def test_vectors_of_half_precision_are_found_with_the_same_scores_but_for_a_thousandth(tmp_path: Path) -> None:
    vectors = {n: m.PointStruct(id=id_of(n), vector={"dense": dense(n)}) for n in range(50)}
    async with served(tmp_path) as client:
        for name, datatype in (("whole", None), ("half", m.Datatype.FLOAT16)):
            params = m.VectorParams(size=SIZE, distance=m.Distance.COSINE, datatype=datatype)
            await client.create_collection(name, vectors_config={"dense": params})
            await client.upsert(name, list(vectors.values()), wait=True)
        whole, half = [
            {
                point.id: point.score
                for point in (await client.query_points(name, query=dense(99), using="dense")).points
            }
            for name in ("whole", "half")
        ]
        assert half == pytest.approx(whole, abs=1e-3)
        assert half != whole
        with pytest.raises(UnexpectedResponse, match="vectors of type uint8"):
            params = m.VectorParams(size=SIZE, distance=m.Distance.COSINE, datatype=m.Datatype.UINT8)
            await client.create_collection("bytes", vectors_config={"dense": params})
