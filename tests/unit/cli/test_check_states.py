"""What each check asks, and what it says: `wrong` for what must be changed, `failed` for who does not answer."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from streams import errors, settings
from streams.cli import checks
from streams.cli.checks import FAILED, OK, SKIPPED, WRONG, Checks
from streams.gateways import tokens
from tests.otlp import collecting
from topics import admin

STATES = {
    errors.ConfigurationError: WRONG,
    errors.Unreachable: FAILED,
    errors.Invalid: WRONG,
    errors.Transient: FAILED,
    errors.StoreUnavailable: FAILED,
    errors.ModelUnavailable: FAILED,
    admin.AdminError: WRONG,
    admin.TopicRefused: WRONG,
    admin.BrokerUnreachable: FAILED,
    admin.BrokerRefuses: WRONG,
    OSError: FAILED,
    TimeoutError: FAILED,
}


@pytest.mark.parametrize("kind", STATES)
async def test_an_error_is_told_by_what_is_to_be_done(kind: type[Exception]) -> None:
    async def check() -> None:
        raise kind("why")

    found = await checks._one("qdrant", check)
    assert (found.name, found.state) == ("qdrant", STATES[kind])
    assert found.said.startswith(f"{settings.QDRANT}: ")


@pytest.fixture
async def refusing() -> AsyncIterator[str]:
    """A server that lets nobody in."""
    app = web.Application()

    async def refuse(_: web.Request) -> web.Response:
        return web.json_response({"status": "no key"}, status=403)

    app.router.add_route("*", "/{rest:.*}", refuse)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_a_server_that_refuses_the_key_is_a_wrong_setting(refusing: str) -> None:
    found = replace(
        settings.given({}),
        qdrant=refusing,
        telemetry=refusing,
        llm=settings.Llm(url=f"{refusing}/v1", model="m", key="k"),
    )
    look = Checks(found, [], [])
    for name, check, setting in (
        ("qdrant", look._qdrant, settings.QDRANT_KEY),
        ("language model", look._llm, settings.LLM_URL),
        ("telemetry", look._telemetry, settings.TELEMETRY),
    ):
        made = await checks._one(name, check)
        assert made.state == WRONG, made
        assert setting in made.said


async def test_a_server_that_is_down_is_no_wrong_setting() -> None:
    found = replace(
        settings.given({settings.KAFKA: "127.0.0.1:1"}),
        qdrant="http://127.0.0.1:1",
        postgres="postgresql://u:p@127.0.0.1:1/d",
        redis="redis://127.0.0.1:1/0",
        llm=settings.Llm(url="http://127.0.0.1:1/v1", model="m"),
        telemetry="http://127.0.0.1:1",
        jwt=settings.Jwt(keys="https://127.0.0.1:1/jwks", issuer="i", audience="a"),
    )
    look = Checks(found, [], ["rankstream_reader"])
    asked = {
        "kafka": look._kafka,
        "topics": look._topics,
        "rights on kafka": look._kafka_rights,
        "postgres": look._postgres,
        "rights on postgres": look._postgres_rights,
        "qdrant": look._qdrant,
        "redis": look._redis,
        "language model": look._llm,
        "telemetry": look._telemetry,
        "tokens": look._tokens,
    }
    made = [await checks._one(name, check) for name, check in asked.items()]
    assert {each.name: each.state for each in made} == dict.fromkeys(asked, FAILED), made


async def test_the_collector_is_sent_what_a_process_sends_with_nothing_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x")
    with collecting() as collector:
        found = replace(settings.given({}), telemetry=collector.url)
        made = await checks._one("telemetry", Checks(found, [], [])._telemetry)
    assert (made.state, made.said) == (OK, collector.url)
    assert [type(each).__name__ for each in collector.requests] == [
        "ExportTraceServiceRequest",
        "ExportMetricsServiceRequest",
        "ExportLogsServiceRequest",
    ]
    assert not any(each.ByteSize() for each in collector.requests)


class ReadOnly:
    """A Qdrant whose key may read; it keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.path}")
        if request.method == "GET":
            return web.json_response({"result": {"collections": []}, "status": "ok", "time": 0.0})
        return web.json_response({"status": {"error": "Forbidden"}}, status=403)


@pytest.mark.parametrize(
    ("users", "state"),
    [
        (["retrieve-dense", "chunk"], OK),
        (["index-vectors"], WRONG),
        (["fuse", "publish-version"], WRONG),
        (["operator"], WRONG),
    ],
)
async def test_a_key_that_only_reads_is_wrong_for_whoever_writes_vectors(users: list[str], state: str) -> None:
    server = ReadOnly()
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", server.answer)
    async with TestServer(app) as at:
        found = replace(settings.given({}), qdrant=str(at.make_url("/")))
        made = await checks._one("qdrant", Checks(found, [], [], users)._qdrant)
    assert made.state == state, made
    # Nothing is asked for that could change what is there.
    assert [
        each for each in server.asked if not re.fullmatch("GET /collections|DELETE /collections/check-.{32}", each)
    ] == []
    assert (settings.QDRANT_KEY in made.said) is (state == WRONG)


@pytest.mark.parametrize(("body", "state"), [('{"keys": []}', WRONG), ("<html>", FAILED), (None, FAILED), ("good", OK)])
async def test_the_keys_of_a_provider_are_fetched(body: str | None, state: str) -> None:
    key = ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key(), as_dict=True)
    text = json.dumps({"keys": [key]}) if body == "good" else body

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=text, status=404 if text is None else 200)

    app = web.Application()
    app.router.add_get("/jwks", answer)
    async with TestServer(app) as at:
        given = settings.Jwt(keys=str(at.make_url("/jwks")), issuer="i", audience="a")

        async def check() -> None:
            await tokens.check(given, schemes=("http://",))

        made = await checks._one("tokens", check)
    assert made.state == state, made


@pytest.mark.parametrize(
    ("reranker", "users", "state", "said"),
    [
        (None, ["rerank"], SKIPPED, "RANKSTREAM_RERANKER is not set"),
        ("llm", ["rerank"], OK, "by the language model, m"),
        ("no/such", ["chunk"], SKIPPED, "these users load none"),
    ],
)
async def test_the_reranker_is_told(reranker: str | None, users: list[str], state: str, said: str) -> None:
    found = replace(settings.given({}), reranker=reranker, llm=settings.Llm(url="http://l/v1", model="m"))
    made = await checks._one("reranker", Checks(found, [], [], users)._reranker)
    assert (made.state, made.said) == (state, said)


async def test_a_reranker_that_cannot_be_had_is_told_without_a_download(tmp_path: Path) -> None:
    for name in ("no/such-model", str(tmp_path)):
        found = replace(settings.given({}), reranker=name)
        made = await checks._one("reranker", Checks(found, [], [], ["rerank"])._reranker)
        if find_spec("FlagEmbedding") is None:
            assert made.state == WRONG and "pip install 'rankstream[bge]'" in made.said
        elif name == str(tmp_path):
            assert made.state == WRONG and "no folder with a model" in made.said
        else:
            assert made.state == SKIPPED and "is not on disk" in made.said


async def test_the_language_model_as_a_reranker_needs_one() -> None:
    made = await checks._one("reranker", Checks(replace(settings.given({}), reranker="llm"), [], [])._reranker)
    assert (made.state, settings.LLM_URL in made.said) == (WRONG, True)
