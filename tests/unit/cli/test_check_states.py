"""What a check says of an error: `wrong` where something must be changed, `failed` where somebody does not answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from aiohttp import web

from streams import errors, settings
from streams.cli import checks
from streams.cli.checks import FAILED, WRONG, Checks
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
    found = replace(settings.given({}), qdrant=refusing, llm=settings.Llm(url=f"{refusing}/v1", model="m", key="k"))
    look = Checks(found, [], [])
    for name, check, setting in (
        ("qdrant", look._qdrant, settings.QDRANT_KEY),
        ("language model", look._llm, settings.LLM_URL),
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
    }
    made = [await checks._one(name, check) for name, check in asked.items()]
    assert {each.name: each.state for each in made} == dict.fromkeys(asked, FAILED), made
