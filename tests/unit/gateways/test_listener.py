"""A listener that is told to stop."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from starlette.applications import Starlette

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
