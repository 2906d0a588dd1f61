"""A web server with the part of Qdrant's REST API that retrieval needs, over Qdrant's embedded engine.

    python -m streams.embedded.qdrant_server --port 6333 --data DIR

The engine keeps the interpreter's lock while it works, so every call runs on the event loop: a thread would not let
another request through. Long writes are cut into pieces and give way between them.
"""

import argparse
import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from streams.embedded.qdrant_calls import CALLS, Call
from streams.embedded.qdrant_errors import RequestError, Unsupported, bad_request, refused
from streams.embedded.qdrant_shard import Collections

VERSION = "1.20.0"
FLUSH_SECONDS = 5.0
BODY_BYTES = 64 * 1024 * 1024
COLLECTIONS = web.AppKey("collections", Collections)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def make_app(data: Path) -> web.Application:
    """The application over the collections in a folder, which it opens now and closes on shutdown."""
    app = web.Application(middlewares=[answer_errors], client_max_size=BODY_BYTES)
    app[COLLECTIONS] = Collections(data)
    app.cleanup_ctx.append(_flushing)
    app.router.add_get("/", _version)
    for path in ("/healthz", "/readyz", "/livez"):
        app.router.add_get(path, _health)
    app.router.add_get("/collections", _list)
    app.router.add_get("/collections/{name}/exists", _exists)
    app.router.add_put("/collections/{name}", _create)
    app.router.add_delete("/collections/{name}", _drop)
    for (method, path), call in CALLS.items():
        app.router.add_route(method, "/collections/{name}" + path, _on_collection(call))
    return app


@web.middleware
async def answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer what goes wrong in the shape of Qdrant's errors."""
    begun = time.perf_counter()
    try:
        return await handler(request)
    except RequestError as error:
        return _reply(begun, status=error.status, error=str(error))
    except web.HTTPRequestEntityTooLarge:
        return _reply(begun, status=413, error=f"Wrong input: the body is larger than {BODY_BYTES} bytes")
    except web.HTTPException as error:
        unknown = Unsupported(f"{request.method} {request.path}")
        status = unknown.status if error.status in (404, 405) else error.status
        return _reply(begun, status=status, error=str(unknown))


async def _version(request: web.Request) -> web.Response:
    return _json({"title": "qdrant - vector search engine", "version": VERSION})


async def _health(request: web.Request) -> web.Response:
    return web.Response(text="healthz check passed")


async def _list(request: web.Request) -> web.Response:
    begun = time.perf_counter()
    return _reply(begun, {"collections": [{"name": name} for name in request.app[COLLECTIONS].names()]})


async def _exists(request: web.Request) -> web.Response:
    begun = time.perf_counter()
    return _reply(begun, {"exists": request.app[COLLECTIONS].exists(request.match_info["name"])})


async def _create(request: web.Request) -> web.Response:
    begun = time.perf_counter()
    body = await _body(request)
    with refused():
        request.app[COLLECTIONS].create(request.match_info["name"], body)
    return _reply(begun, True)


async def _drop(request: web.Request) -> web.Response:
    begun = time.perf_counter()
    return _reply(begun, request.app[COLLECTIONS].drop(request.match_info["name"]))


def _on_collection(call: Call) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        begun = time.perf_counter()
        body = await _body(request) if request.can_read_body else {}
        collection = request.app[COLLECTIONS].get(request.match_info["name"])
        with refused():
            return _reply(begun, await call(collection, {**body, **_path_parts(request)}))

    return handle


def _path_parts(request: web.Request) -> dict[str, str]:
    return {name: value for name, value in request.match_info.items() if name != "name"}


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(await request.read())
    except msgspec.DecodeError as error:
        raise RequestError(400, f"Format error in JSON body: {error}") from error
    if not isinstance(body, dict):
        raise bad_request("the body must be an object")
    return body


def _reply(begun: float, result: Any = None, *, status: int = 200, error: str | None = None) -> web.Response:
    said = "ok" if error is None else {"error": error}
    return _json({"result": result, "status": said, "time": time.perf_counter() - begun}, status=status)


def _json(answer: Any, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(answer), status=status, content_type="application/json")


async def _flushing(app: web.Application) -> AsyncIterator[None]:
    async def flush_often() -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            for collection in app[COLLECTIONS]:
                collection.flush()
                await asyncio.sleep(0)

    task = asyncio.create_task(flush_often())
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    app[COLLECTIONS].close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a part of Qdrant's REST API from an embedded engine.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args()
    # Connections that clients keep open must not hold up the shutdown.
    app = make_app(given.data)
    web.run_app(app, host=given.host, port=given.port, print=None, access_log=None, shutdown_timeout=1.0)


if __name__ == "__main__":
    main()
