"""Providers over HTTP: what they are asked, what of their answers is taken, and what each failure is called."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from streams.adapters.embedder_specs import Spec
from streams.adapters.http_embedders import endpoint as endpoints
from streams.adapters.http_embedders.embedder import HttpEmbedder
from streams.domain.breaker import THRESHOLD, Breaker
from streams.errors import ConfigurationError, Invalid, ModelUnavailable
from streams.telemetry import watching
from streams.telemetry.instruments import EMBEDDER_TOKENS
from tests.unit.adapters.http_embedders import provider as providers
from tests.unit.adapters.http_embedders.provider import Answer, Provider, changed, reset, slow, status, text, vector

KEY = "sk-very-secret"


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Provider]:
    monkeypatch.setenv("PROVIDER_KEY", KEY)
    async with providers.serving() as serving:
        yield serving


@pytest.fixture
async def embedder(provider: Provider) -> AsyncIterator[HttpEmbedder]:
    opened = embedder_of(provider)
    yield opened
    await opened.close()


def embedder_of(provider: Provider, **fields: Any) -> HttpEmbedder:
    given = {"kind": "openai", "model": "m1", "dimension": 4, "key_env": "PROVIDER_KEY", "url": f"{provider.url}/v1"}
    given |= {"query_timeout": 5.0, "timeout": 5.0}
    return HttpEmbedder("mini", Spec(**{**given, **fields}))


def unit(text: str) -> np.ndarray[Any, Any]:
    found = np.array(vector(text), dtype=np.float32)
    return found / np.linalg.norm(found)


async def test_openai_is_asked_with_its_body_and_gives_unit_vectors_in_the_order_of_the_texts(
    provider: Provider,
) -> None:
    embedder = embedder_of(provider, options={"dimensions": 4}, query_options={"input_type": "query"})
    found = await embedder.embed_queries(["a refund", "b"])
    assert found == pytest.approx(np.stack([unit("a refund"), unit("b")]), abs=1e-6)
    ((path, headers, body),) = provider.asked
    assert (path, headers["Authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")
    assert body == {
        "model": "m1",
        "input": ["a refund", "b"],
        "encoding_format": "float",
        "dimensions": 4,
        "input_type": "query",
    }
    await embedder.embed_passages(["c"])
    assert "input_type" not in provider.asked[1][2]
    await embedder.close()


async def test_gemini_is_asked_by_the_task_of_the_text(provider: Provider) -> None:
    def answer(_: web.Request, body: Any) -> web.Response:
        texts = [each["content"]["parts"][0]["text"] for each in body["requests"]]
        return web.json_response({"embeddings": [{"values": vector(text)} for text in texts]})

    provider.right = answer
    embedder = embedder_of(provider, kind="gemini", url=provider.url, model="text-embedding-004")
    assert (await embedder.embed_queries(["a"]))[0] == pytest.approx(unit("a"), abs=1e-6)
    assert (await embedder.embed_passages(["bb"]))[0] == pytest.approx(unit("bb"), abs=1e-6)
    (path, headers, body), second = provider.asked
    assert path == "/v1beta/models/text-embedding-004:batchEmbedContents"
    assert (headers["x-goog-api-key"], "Authorization" in headers) == (KEY, False)
    assert body["requests"] == [
        {"model": "models/text-embedding-004", "content": {"parts": [{"text": "a"}]}, "taskType": "RETRIEVAL_QUERY"}
    ]
    assert second[2]["requests"][0]["taskType"] == "RETRIEVAL_DOCUMENT"
    await embedder.close()


async def test_cloudflare_is_asked_by_the_models_path(provider: Provider) -> None:
    def answer(_: web.Request, body: Any) -> web.Response:
        data = [vector(text) for text in body["text"]]
        return web.json_response({"result": {"shape": [len(data), 4], "data": data}, "success": True, "errors": []})

    provider.right = answer
    options = {"kind": "cloudflare", "url": f"{provider.url}/accounts/1", "options": {"pooling": "cls"}}
    embedder = embedder_of(provider, model="baai/bge-small-en-v1.5", **options)
    assert (await embedder.embed_passages(["a"]))[0] == pytest.approx(unit("a"), abs=1e-6)
    ((path, headers, body),) = provider.asked
    assert path == "/accounts/1/ai/run/@cf/baai/bge-small-en-v1.5"
    assert (headers["Authorization"], body) == (f"Bearer {KEY}", {"text": ["a"], "pooling": "cls"})
    await embedder.close()


async def test_requests_keep_the_limits_of_count_and_tokens_and_texts_that_of_the_model(provider: Provider) -> None:
    embedder = embedder_of(provider, batch=3, max_tokens=10, request_tokens=25, passage_instruction="p: ")
    words = "one two three four five six seven eight nine ten"
    found = await embedder.embed_passages(["a", "b", "c", "d", words, words, ""])
    assert found.shape == (7, 4)
    sent = [body["input"] for _, _, body in provider.asked]
    assert sorted(text for texts in sent for text in texts) == sorted(
        ["p: a", "p: b", "p: c", "p: d", "p: one two three four", "p: one two three four", "p:  "]
    )
    assert [len(texts) for texts in sent] == [3, 2, 1, 1] or max(map(len, sent)) <= 3
    assert embedder.truncated == 2
    assert embedder.counts["passages"].texts == 7
    await embedder.close()


@pytest.mark.parametrize(
    ("answer", "error", "says", "attempts"),
    [
        (status(401, f"Incorrect API key provided: {KEY}"), ConfigurationError, "key: the provider refuses it", 1),
        (status(403), ConfigurationError, "key: the provider refuses it (403)", 1),
        (status(404, "no model m1"), ConfigurationError, "url or model: the provider answers 404: no model m1", 1),
        (
            status(302, Location="http://127.0.0.1:1/"),
            ConfigurationError,
            "url: the provider points elsewhere (302)",
            1,
        ),
        (status(400, f"bad\n\x1b[31minput {KEY}"), Invalid, "refuses the text (400): bad [31minput …", 1),
        (status(429), ModelUnavailable, "answered 429, attempt 3", 3),
        (status(500, f"trace {KEY}"), ModelUnavailable, "answered 500, attempt 3", 3),
        (status(503), ModelUnavailable, "answered 503, attempt 3", 3),
        (text('{"data": ['), ModelUnavailable, "its answer cannot be read", 3),
        (text("<html>"), ModelUnavailable, "its answer cannot be read", 3),
        (text("[]"), ModelUnavailable, "it is not what openai answers", 3),
        (text('{"data": [{"embedding": 5}]}'), ModelUnavailable, "it is not what openai answers", 3),
        (text('{"data": [{"embedding": ["a", 1, 2, 3]}]}'), ModelUnavailable, "its answer cannot be read", 3),
        (changed(lambda found: {"data": found["data"] * 2}), ModelUnavailable, "indices", 3),
        (changed(lambda _: {"data": []}), ModelUnavailable, "it has 0 vectors for 1 texts", 3),
        (
            text('{"data": [{"embedding": [1, 2, 3]}]}'),
            ConfigurationError,
            "dimension: the provider gives 3, the fi",
            1,
        ),
        (text('{"data": [{"embedding": [1, NaN, 3, 4]}]}'), Invalid, "a vector that is not finite", 1),
        (text('{"data": [{"embedding": [1, null, 3, 4]}]}'), Invalid, "a vector that is not finite", 1),
        (text('{"data": [{"embedding": [0, 0, 0, 0]}]}'), Invalid, "a vector of no length", 1),
        (reset, ModelUnavailable, "no connection (ServerDisconnectedError), attempt 3", 3),
    ],
)
async def test_each_failure_has_its_class_and_its_number_of_attempts_and_no_message_says_the_key(
    provider: Provider, answer: Answer, error: type[Exception], says: str, attempts: int
) -> None:
    embedder = embedder_of(provider)
    provider.answers = [answer] * 9
    with pytest.raises(error) as caught:
        await embedder.embed_passages(["a"])
    assert str(caught.value).startswith("embedders.mini: ")
    assert says in str(caught.value)
    assert KEY not in str(caught.value) and "\n" not in str(caught.value)
    assert len(provider.asked) == attempts
    await embedder.close()


@pytest.mark.parametrize("answer", [status(500), status(429), status(429, **{"Retry-After": "0"}), reset, text("{")])
async def test_what_passes_is_tried_again(provider: Provider, embedder: HttpEmbedder, answer: Answer) -> None:
    provider.answers = [answer, answer]
    assert (await embedder.embed_queries(["a"]))[0] == pytest.approx(unit("a"), abs=1e-6)
    assert len(provider.asked) == 3
    assert embedder.endpoint.breaker == Breaker()


async def test_a_slow_body_ends_with_the_time_of_a_question(provider: Provider) -> None:
    embedder = embedder_of(provider, query_timeout=0.3)
    provider.answers = [slow] * 3
    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match=r"no answer within 0\.[23] s"):
        await embedder.embed_queries(["a"])
    assert time.monotonic() - began < 3.0
    await embedder.close()


async def test_an_endpoint_that_asks_to_be_left_alone_is_and_the_question_does_not_wait(
    provider: Provider, embedder: HttpEmbedder
) -> None:
    provider.answers = [status(429, **{"Retry-After": "60"})]
    with pytest.raises(ModelUnavailable, match="answered 429, attempt 1"):
        await embedder.embed_queries(["a"])
    with pytest.raises(ModelUnavailable, match=r"left alone for (59|60)\.\d s"):
        await embedder.embed_queries(["a"])
    assert len(provider.asked) == 1


async def test_an_endpoint_that_keeps_failing_is_left_alone_and_found_again(
    provider: Provider, embedder: HttpEmbedder
) -> None:
    provider.answers = [status(500)] * THRESHOLD
    for _ in range(4):
        with pytest.raises(ModelUnavailable):
            await embedder.embed_passages(["a"])
    assert len(provider.asked) == THRESHOLD
    now = time.monotonic() + 1_000.0
    embedder.endpoint._clock = lambda: now
    await embedder.embed_passages(["a"])
    assert embedder.endpoint.breaker == Breaker()


async def test_a_provider_that_is_away_is_no_connection() -> None:
    spec = Spec(kind="openai", model="m", dimension=4, url="http://127.0.0.1:1/v1", query_timeout=5.0)
    embedder = HttpEmbedder("mini", spec)
    with pytest.raises(ModelUnavailable, match="no connection"):
        await embedder.embed_queries(["a"])
    await embedder.close()


async def test_a_text_that_the_provider_refuses_fails_its_own_caller_alone(
    provider: Provider, embedder: HttpEmbedder
) -> None:
    def answer(_: web.Request, body: Any) -> web.Response:
        refused = "bad" in body["input"]
        return web.Response(status=400, text="no") if refused else web.json_response(providers.rows(body))

    provider.right = answer
    calls = [embedder.embed_passages([each]) for each in ("a", "bad", "ccc")]
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(each) for each in found] == [np.ndarray, Invalid, np.ndarray]


async def test_an_answer_without_an_end_is_not_kept(
    provider: Provider, embedder: HttpEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "LARGEST", 1 << 20)
    provider.answers = [text(" " * (3 << 20))] * 3
    with pytest.raises(ModelUnavailable, match="an answer of more than 1 MB"):
        await embedder.embed_passages(["a"])


ANSWERS = {
    "openai": ("usage", providers.rows),
    "gemini": ("usageMetadata", lambda body: {"embeddings": [{"values": [1.0] * 4} for _ in body["requests"]]}),
    "cloudflare": ("usage", lambda body: {"result": {"data": [[1.0] * 4 for _ in body["text"]]}, "success": True}),
}


@pytest.mark.parametrize(
    ("kind", "usage", "tokens"),
    [
        ("openai", {"prompt_tokens": 7, "total_tokens": 9}, 7),
        ("openai", {"total_tokens": 9}, 9),
        ("openai", {"prompt_tokens": 0, "total_tokens": 9}, 0),
        ("gemini", {"promptTokenCount": 5}, 5),
        ("cloudflare", {"prompt_tokens": 7}, 0),
        *(
            (kind, usage, 0)
            for kind in ("openai", "gemini")
            for usage in (
                None,
                {},
                "many",
                [],
                {"prompt_tokens": -1, "promptTokenCount": -1},
                {"prompt_tokens": "7", "promptTokenCount": 2.5},
                {"prompt_tokens": True, "promptTokenCount": None},
            )
        ),
    ],
)
async def test_tokens_are_counted_as_the_provider_says_by_the_kind_of_text(
    provider: Provider, kind: str, usage: Any, tokens: int
) -> None:
    name, made = ANSWERS[kind]
    provider.right = lambda _, body: web.json_response({**made(body), name: usage})
    embedder = embedder_of(provider, kind=kind, url=provider.url)
    await embedder.embed_queries(["a"])
    assert embedder.tokens == {"queries": tokens, "passages": 0}
    for _ in range(2):
        await embedder.embed_passages(["a", "b"])
    assert embedder.tokens == {"queries": tokens, "passages": 2 * tokens}
    told = [reading for reading in watching.of_models({"one": embedder}) if reading[0] is EMBEDDER_TOKENS]
    assert told == [
        (EMBEDDER_TOKENS, tokens, {"kind": "queries"}),
        (EMBEDDER_TOKENS, 2 * tokens, {"kind": "passages"}),
    ]
    await embedder.close()


async def test_an_answer_that_cannot_be_used_is_paid_for_as_well(provider: Provider, embedder: HttpEmbedder) -> None:
    provider.answers = [changed(lambda answer: {**answer, "data": [], "usage": {"prompt_tokens": 3}})]
    await embedder.embed_queries(["a"])
    assert len(provider.asked) == 2
    assert embedder.tokens == {"queries": 3 + 1, "passages": 0}
