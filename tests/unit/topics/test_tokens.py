"""Tokens of a real HTTP endpoint on loopback, and of a file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from topics.connection import ClientCredentials, NoToken, TokenFile
from topics.tokens import Endpoint, File, source


class Server:
    """Gives what it is told to give, and remembers what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.status, self.gives = 200, {"access_token": "t1", "expires_in": 600}
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append((request.headers["Authorization"], dict(await request.post())))
        return web.json_response(self.gives, status=self.status, headers={"Location": "/elsewhere"})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    found, app = Server(), web.Application()
    app.router.add_post("/token", found.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    [(host, port)] = [address[:2] for address in runner.addresses]
    found.url = f"http://{host}:{port}/token"
    yield found
    await runner.cleanup()


def login(server: Server, **fields: Any) -> ClientCredentials:
    return ClientCredentials(**{"url": server.url, "client_id": "an id", "secret": "a:b&c", **fields})


async def test_a_token_is_asked_for_with_id_and_secret_and_kept_for_most_of_its_life(server: Server) -> None:
    endpoint = Endpoint(login(server, scope="kafka"))
    assert [await endpoint.token(), await endpoint.token()] == ["t1", "t1"]
    [(auth, form)] = server.asked
    assert auth == f"Basic {b64encode(b'an+id:a%3Ab%26c').decode()}"
    assert form == {"grant_type": "client_credentials", "scope": "kafka"}


async def test_a_token_that_is_about_to_end_is_replaced(server: Server) -> None:
    server.gives = {"access_token": "t1", "expires_in": 1e-6}
    endpoint = Endpoint(login(server))
    assert await endpoint.token() == "t1"
    server.gives = {"access_token": "t2"}
    assert await endpoint.token() == "t2"
    assert await endpoint.token() == "t2"
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("status", "gives", "says"),
    [
        (401, {"error": "invalid_client"}, "gives an id no token: HTTP 401"),
        (307, {}, "HTTP 307"),
        (200, {"token": "t"}, "answers without an access_token"),
        (200, [], "answers without an access_token"),
    ],
)
async def test_no_token_is_an_error_without_the_secret(server: Server, status: int, gives: Any, says: str) -> None:
    server.status, server.gives = status, gives
    with pytest.raises(NoToken, match=says) as refused:
        await Endpoint(login(server)).token()
    assert "a:b&c" not in str(refused.value)
    assert len(server.asked) == 1


async def test_an_endpoint_that_is_away_is_no_token() -> None:
    with pytest.raises(NoToken, match="gives no token"):
        await Endpoint(ClientCredentials(url="http://127.0.0.1:9/token", client_id="i", secret="s")).token()


async def test_a_file_is_read_again_each_time(tmp_path: Path) -> None:
    path = tmp_path / "token"
    found = File(TokenFile(path=path))
    for text in ("one\n", "two"):
        path.write_text(text)
        assert await found.token() == text.strip()
    path.write_text(" ")
    with pytest.raises(NoToken, match="is empty"):
        await found.token()
    path.unlink()
    with pytest.raises(NoToken, match="cannot be read"):
        await found.token()


def test_one_login_has_one_source_for_all_connections() -> None:
    one = ClientCredentials(url="https://x/t", client_id="i", secret="s")
    assert source(one) is source(ClientCredentials(url="https://x/t", client_id="i", secret="s"))
    assert source(one) is not source(ClientCredentials(url="https://x/t", client_id="j", secret="s"))
