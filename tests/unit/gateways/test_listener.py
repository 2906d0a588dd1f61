"""A listener that is told to stop."""

from __future__ import annotations

import asyncio
import json
import logging

import httpx
import pytest
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from streams.gateways.http import listener as listeners
from streams.gateways.http.listener import Listener, listen


async def test_a_listener_that_is_to_stop_later_says_so_and_still_takes_connections() -> None:
    listener = Listener(Starlette(), listen(("127.0.0.1", 0)))
    assert not listener.stopping
    leaving = asyncio.create_task(listener.stop(after=60.0))
    await asyncio.sleep(0)
    for _ in range(2):
        async with httpx.AsyncClient() as http:
            assert (await http.get(listener.url)).status_code == 404
    assert listener.stopping
    assert not leaving.done()
    leaving.cancel()
    await listener.stop(after=0.01)
    assert listener.stopping
    async with httpx.AsyncClient() as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(listener.url)


async def test_a_listener_that_has_ended_is_not_waited_for() -> None:
    listener = Listener(Starlette(), listen(("127.0.0.1", 0)))
    await listener.stop()
    async with asyncio.timeout(10):
        await listener.stop(after=60.0)


async def reading(scope: Scope, receive: Receive, send: Send) -> None:
    """Read a body to its end; before that, answer half where the path says so."""
    if scope["path"] == "/half":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass
    await asyncio.Event().wait()


@pytest.mark.parametrize("sent", [b"Content-Length: 9\r\n\r\n{", b"Content-Length: 0\r\n\r\n"])
async def test_a_request_that_is_open_at_the_end_is_told_to_come_again_and_nothing_is_logged(
    sent: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listeners, "GRACE", 0.3)
    listener = Listener(reading, listen(("127.0.0.1", 0)))
    host, _, port = listener.url.removeprefix("http://").partition(":")
    while not listener._server.started:  # noqa: ASYNC110  uvicorn has no event for it
        await asyncio.sleep(0.01)
    asking, writing = await asyncio.open_connection(host, int(port))
    half, half_writing = await asyncio.open_connection(host, int(port))
    for path, stream in (("/", writing), ("/half", half_writing)):
        stream.write(f"PUT {path} HTTP/1.1\r\nHost: x\r\n".encode() + sent)
    with caplog.at_level(logging.WARNING):
        async with asyncio.timeout(10):
            assert await half.readuntil(b"x\r\n")
            await listener.stop()
            head, _, body = (await asking.read()).partition(b"\r\n\r\n")
            assert await half.read() == b""  # no last chunk, which would make half an answer a whole one
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nretry-after: 2\r\n" in head.lower()
    assert json.loads(body)["detail"] == "this gateway is stopping"
    assert caplog.records == []
    for stream in (writing, half_writing):
        stream.close()
