"""The keys of an identity provider, over HTTP: read when they are needed, and never twice at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from streams.errors import Transient, Unauthenticated
from streams.gateways import tokens
from streams.gateways.tokens import AGAIN, KEPT, JwtTokens
from streams.settings import Jwt

KEYS = {kid: ec.generate_private_key(ec.SECP256R1()) for kid in ("old", "new")}


class Provider:
    """A provider on loopback, which names some keys, and answers when it is let; the clock of who asks it too."""

    def __init__(self) -> None:
        self.named: tuple[str, ...] = ("old",)
        self.readings = 0
        self.status = 200
        self.body: bytes | None = None
        self.let = asyncio.Event()
        self.let.set()
        self.asked = asyncio.Event()
        self.now = 0.0

    async def answer(self, _: web.Request) -> web.StreamResponse:
        self.readings += 1
        self.asked.set()
        await self.let.wait()
        if self.status == 302:
            raise web.HTTPFound("/elsewhere")
        if self.body is not None:
            return web.Response(body=self.body, status=self.status)
        keys = [ECAlgorithm.to_jwk(KEYS[kid].public_key(), as_dict=True) | {"kid": kid} for kid in self.named]
        return web.json_response({"keys": keys}, status=self.status)

    def tokens(self, url: str, *schemes: str) -> JwtTokens:
        found = Jwt(keys=url, issuer="https://id.example", audience="rankstream")
        return JwtTokens(found, clock=lambda: self.now, schemes=schemes or ("http://",))


@pytest.fixture
async def provider() -> Provider:
    return Provider()


@pytest.fixture
async def url(provider: Provider) -> AsyncIterator[str]:
    application = web.Application()
    application.router.add_get("/jwks", provider.answer)
    application.router.add_get("/elsewhere", provider.answer)
    async with TestServer(application) as server:
        yield str(server.make_url("/jwks"))


def signed(kid: str) -> str:
    claims: dict[str, Any] = {"iss": "https://id.example", "aud": "rankstream", "sub": "ann", "exp": time.time() + 60}
    return jwt.encode(claims | {"tenant": "acme", "roles": ["read"]}, KEYS[kid], "ES256", headers={"kid": kid})


async def test_keys_are_read_once_and_again_when_they_are_old(provider: Provider, url: str) -> None:
    opened = provider.tokens(url)
    for provider.now, readings in ((0.0, 1), (KEPT, 1), (KEPT + 1, 2), (2 * KEPT + 1, 2)):
        assert (await opened.principal(signed("old"))).tenant == "acme"
        assert provider.readings == readings


async def test_a_new_key_opens_as_soon_as_it_is_named_and_one_taken_out_closes(provider: Provider, url: str) -> None:
    opened = provider.tokens(url)
    await opened.principal(signed("old"))
    provider.now = AGAIN + 1
    provider.named = ("new",)
    assert (await opened.principal(signed("new"))).tenant == "acme"
    with pytest.raises(Unauthenticated, match="does not name"):
        await opened.principal(signed("old"))
    assert provider.readings == 2


async def test_key_ids_that_nobody_names_cost_one_reading_in_ten_seconds(provider: Provider, url: str) -> None:
    opened = provider.tokens(url)
    for provider.now, readings in ((0.0, 1), (AGAIN, 1), (AGAIN + 1, 2), (2 * AGAIN, 2)):
        for _ in range(5):
            with pytest.raises(Unauthenticated, match="does not name"):
                await opened.principal(signed("new"))
        assert provider.readings == readings


async def test_while_keys_are_read_known_ones_open_and_all_others_wait_for_the_same_reading(
    provider: Provider, url: str
) -> None:
    opened = provider.tokens(url)
    await opened.principal(signed("old"))
    provider.now = AGAIN + 1
    provider.named = ("old", "new")
    provider.let.clear()
    provider.asked.clear()
    waiting = [asyncio.create_task(opened.principal(signed("new"))) for _ in range(10)]
    await asyncio.wait_for(provider.asked.wait(), 10)
    for _ in range(10):
        assert (await opened.principal(signed("old"))).tenant == "acme"  # the provider has not answered yet
    waiting.pop().cancel()  # who leaves takes nothing from the others
    assert not any(task.done() for task in waiting)
    provider.let.set()
    assert {principal.tenant for principal in await asyncio.gather(*waiting)} == {"acme"}
    assert provider.readings == 2


async def test_while_the_provider_is_away_its_keys_open_until_they_are_old_and_unknown_ones_may_be_good(
    provider: Provider, url: str
) -> None:
    opened = provider.tokens(url)
    await opened.principal(signed("old"))
    provider.status = 500
    provider.now = KEPT
    for _ in range(2):
        with pytest.raises(Transient, match="RANKSTREAM_JWT_KEYS"):
            await opened.principal(signed("new"))
    assert (await opened.principal(signed("old"))).tenant == "acme"
    provider.now = KEPT + AGAIN + 1
    for _ in range(5):
        with pytest.raises(Transient, match="RANKSTREAM_JWT_KEYS"):
            await opened.principal(signed("old"))
    assert provider.readings == 3
    provider.status = 200
    provider.now += AGAIN + 1
    assert (await opened.principal(signed("old"))).tenant == "acme"


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b"nonsense"), (200, b"[" + b" " * tokens.LARGEST + b"]"), (302, None), (404, b"{}")],
    ids=["no JSON", "too long", "a redirection", "not found"],
)
async def test_what_is_no_list_of_keys_opens_nothing(
    provider: Provider, url: str, status: int, body: bytes | None
) -> None:
    provider.status, provider.body = status, body
    with pytest.raises(Transient):
        await provider.tokens(url).principal(signed("old"))
    assert provider.readings == 1


async def test_without_encryption_no_keys_are_fetched(provider: Provider, url: str) -> None:
    with pytest.raises(Transient):
        await provider.tokens(url, "https://").principal(signed("old"))
    assert provider.readings == 0
