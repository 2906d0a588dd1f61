"""What Qdrant alone can show: servers that are away, and collections that are missing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from streams.adapters import qdrant
from streams.adapters.qdrant import QdrantVectors
from streams.domain.generation import Model
from streams.embedded import qdrant as qdrant_server
from streams.embedded.processes import free_port
from streams.errors import ConfigurationError, Invalid, StoreUnavailable
from tests.contract.building import change, cut, scope, vector_batch

ONE = change(1, "one")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://no-such-host.invalid:6333"])
async def test_a_server_that_is_not_there_is_named_within_five_seconds(url: str) -> None:
    begun = time.monotonic()
    with pytest.raises(ConfigurationError, match=r"^QDRANT_URL: "):
        await qdrant.open_client(url)
    assert time.monotonic() - begun < 6


async def test_a_missing_collection_makes_writers_wait_and_a_question_fail(client: AsyncQdrantClient) -> None:
    vectors = QdrantVectors(client=client, prefix="missing")
    with pytest.raises(StoreUnavailable, match="missing-g1"):
        await vectors.upsert(vector_batch(ONE, cut(ONE)))
    with pytest.raises(StoreUnavailable):
        await vectors.remove("g1", [cut(ONE)[0].id])
    with pytest.raises(Invalid):
        await vectors.search_dense(scope(), [1.0] * 64, (), 3)


async def test_a_restarted_server_is_found_again_with_its_vectors(tmp_path: Path) -> None:
    port = free_port()
    server = await qdrant_server.start(tmp_path / "data", port=port, log=tmp_path / "log")
    client = await qdrant.open_client(server.url)
    vectors = QdrantVectors(client=client)
    await vectors.ensure_collection("g1", "memory-hash", 64)
    await vectors.upsert(vector_batch(ONE, cut(ONE)))
    await server.child.stop(5)
    with pytest.raises(StoreUnavailable, match="qdrant"):
        await vectors.search_dense(scope(), [1.0] * 64, (), 3)
    with pytest.raises(StoreUnavailable):
        await vectors.upsert(vector_batch(ONE, cut(ONE)))
    server = await qdrant_server.start(tmp_path / "data", port=port, log=tmp_path / "log")
    assert len(await vectors.search_dense(scope(), [1.0] * 64, (), 3)) == 2
    await client.close()
    await server.child.stop(5)


async def test_another_instance_learns_the_model_from_the_collection(client: AsyncQdrantClient) -> None:
    first = QdrantVectors(client=client, prefix="learned")
    await first.ensure_collection("g1", "memory-hash", 64)
    await first.upsert(vector_batch(ONE, cut(ONE)))
    assert len(await QdrantVectors(client=client, prefix="learned").search_dense(scope(), [1.0] * 64, (), 9)) == 2
    await client.delete_collection(first.collection("g1"))


async def test_another_instance_does_not_guess_which_of_two_models_is_the_main_one(client: AsyncQdrantClient) -> None:
    first = QdrantVectors(client=client, prefix="learned-two")
    await first.ensure_collection("g1", "memory-hash", 64, (Model(name="second", dimension=48),))
    other = QdrantVectors(client=client, prefix="learned-two")
    await other.upsert(vector_batch(ONE, cut(ONE), also={"second": 48}))
    with pytest.raises(Invalid, match=r"memory-hash \(64 dimensions\) and second \(48 dimensions\)"):
        await other.search_dense(scope(), [1.0] * 64, (), 9)
    assert len(await other.search_dense(scope(), [1.0] * 48, (), 9, model="second")) == 2
    await client.delete_collection(first.collection("g1"))
