"""A language model: the twin and the adapter keep the same promises; the adapter against a real HTTP server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from streams.adapters.chat import ChatModel
from streams.adapters.memory_chat import MemoryChat
from streams.errors import Invalid, Transient

KEY = "sk-very-secret"
Answer = Callable[[web.Request, int], Awaitable[web.Response]]


def completion(text: str, **more: object) -> web.Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return web.json_response({"object": "chat.completion", "choices": [choice], "usage": usage, **more})


class Server:
    """An endpoint that speaks the protocol; `bodies` are what it was sent."""

    def __init__(self, answer: Answer) -> None:
        self.bodies: list[dict[str, object]] = []
        self.headers: list[str | None] = []
        self._answer = answer

    async def handle(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.json())
        self.headers.append(request.headers.get("Authorization"))
        return await self._answer(request, len(self.bodies))


@asynccontextmanager
async def served(answer: Answer, **options: object) -> AsyncIterator[tuple[ChatModel, Server]]:
    server = Server(answer)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    model = ChatModel(url=f"http://127.0.0.1:{port}/v1/", model="m1", **{"key": KEY, **options})  # type: ignore[arg-type]
    try:
        yield model, server
    finally:
        await model.close()
        await runner.cleanup()


async def echo(request: web.Request, _: int) -> web.Response:
    said = (await request.json())["messages"][1]["content"]
    if said == "slow":
        await asyncio.sleep(30)
    return completion(f"you said {said}")


@pytest.fixture(params=["memory", "real"])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[ChatModel | MemoryChat]:
    if request.param == "real":
        async with served(echo) as (real, _):
            yield real
    else:
        yield MemoryChat(lambda _, user: f"you said {user}", delay=0.0)


async def test_an_answer_comes_with_its_cost(model: ChatModel | MemoryChat) -> None:
    assert await model.complete("be brief", "hello", max_tokens=20, seconds=5) == "you said hello"
    assert model.spent.calls == 1
    assert model.spent.prompt_tokens > 0
    assert model.spent.completion_tokens > 0
    assert model.model


async def test_no_time_is_transient_and_counted(model: ChatModel | MemoryChat) -> None:
    with pytest.raises(Transient):
        await model.complete("", "hello", max_tokens=20, seconds=0.0)
    assert (model.spent.calls, model.spent.failures) == (0, 1)


async def test_what_is_sent_is_the_protocol() -> None:
    async with served(echo) as (model, server):
        await model.complete("system text", "user text", max_tokens=33, seconds=5)
    assert server.bodies == [
        {
            "model": "m1",
            "messages": [{"role": "system", "content": "system text"}, {"role": "user", "content": "user text"}],
            "max_tokens": 33,
            "temperature": 0,
        }
    ]
    assert server.headers == [f"Bearer {KEY}"]


async def test_a_slow_answer_is_given_up_in_time() -> None:
    async with served(echo) as (model, _):
        begun = time.monotonic()
        with pytest.raises(Transient, match=r"m1 did not answer within 0\.2 s"):
            await model.complete("", "slow", max_tokens=9, seconds=0.2)
        assert time.monotonic() - begun < 2


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_status_that_may_pass_is_tried_again(status: int) -> None:
    async def answer(_: web.Request, number: int) -> web.Response:
        return completion("at last") if number == 3 else web.Response(status=status, text=KEY)

    async with served(answer) as (model, server):
        assert await model.complete("", "x", max_tokens=9, seconds=10) == "at last"
        assert len(server.bodies) == 3


async def test_the_server_says_how_long_to_wait_and_the_limit_holds() -> None:
    async def answer(_: web.Request, number: int) -> web.Response:
        return web.Response(status=429, headers={"Retry-After": "60"})

    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with served(answer, sleep=sleep) as (model, _):
        with pytest.raises(Transient, match="m1 answered with status 429"):
            await model.complete("", "x", max_tokens=9, seconds=10)
    assert waits == [60.0] * 3


@pytest.mark.parametrize(
    ("response", "says"),
    [
        (lambda: web.Response(status=401, text=KEY), "status 401"),
        (lambda: web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}), "status 302"),
        (lambda: web.Response(text="<html>"), "no chat completion"),
        (lambda: web.json_response({"choices": []}), "no chat completion"),
        (lambda: web.json_response({"choices": [{"message": {"content": 3}}]}), "no chat completion"),
        (lambda: web.Response(text="x" * 1_000_001), "more than 1000000 bytes"),
    ],
)
async def test_what_will_not_pass_is_refused_at_once_without_the_key(
    response: Callable[[], web.Response], says: str
) -> None:
    async def answer(_: web.Request, __: int) -> web.Response:
        return response()

    async with served(answer) as (model, server):
        with pytest.raises(Invalid, match=says) as raised:
            await model.complete("", "x", max_tokens=9, seconds=5)
        assert len(server.bodies) == 1
        assert KEY not in str(raised.value)
        assert (model.spent.calls, model.spent.failures) == (0, 1)


async def test_a_server_that_is_not_there_is_transient() -> None:
    async def sleep(_: float) -> None:
        return

    model = ChatModel(url="http://127.0.0.1:1/v1", model="m1", sleep=sleep)
    with pytest.raises(Transient, match="m1 cannot be reached"):
        await model.complete("", "x", max_tokens=9, seconds=5)
    await model.close()


async def test_no_more_than_so_many_are_asked_at_once() -> None:
    running = most = 0

    async def answer(_: web.Request, __: int) -> web.Response:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return completion(json.dumps("x"))

    async with served(answer, at_once=2) as (model, _):
        await asyncio.gather(*(model.complete("", "x", max_tokens=9, seconds=10) for _ in range(8)))
    assert (most, model.spent.calls, model.spent.prompt_tokens, model.spent.completion_tokens) == (2, 8, 8 * 7, 8 * 3)
