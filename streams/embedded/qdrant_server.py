"""A web server with the part of Qdrant's REST API that retrieval needs, over Qdrant's embedded engine.

    python -m streams.embedded.qdrant_server --port 6333 --data DIR
"""

import argparse
import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import qdrant_edge as edge
from aiohttp import web

from streams.embedded import qdrant_points
from streams.embedded.qdrant_errors import RequestError, Unsupported, bad_request, refused
from streams.embedded.qdrant_shard import UPSERT_POINTS, Collection, Collections

VERSION = "1.20.0"
FLUSH_SECONDS = 5.0
BODY_BYTES = 64 * 1024 * 1024
COLLECTIONS = web.AppKey("collections", Collections)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

routes = web.RouteTableDef()


def make_app(data: Path) -> web.Application:
    """The application over the collections in a folder, which it opens now and closes on shutdown."""
    app = web.Application(middlewares=[answer_errors], client_max_size=BODY_BYTES)
    app[COLLECTIONS] = Collections(data)
    app.add_routes(routes)
    app.cleanup_ctx.append(_flushing)
    return app


@web.middleware
async def answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer what goes wrong in the shape of Qdrant's errors."""
    begun = time.perf_counter()
    try:
        with refused():
            return await handler(request)
    except RequestError as error:
        return _reply(begun, status=error.status, error=str(error))


@routes.get("/")
async def version(request: web.Request) -> web.Response:
    return web.json_response({"title": "qdrant - vector search engine", "version": VERSION})


@routes.get("/healthz")
@routes.get("/readyz")
@routes.get("/livez")
async def health(request: web.Request) -> web.Response:
    return web.Response(text="healthz check passed")


@routes.get("/collections")
async def list_collections(request: web.Request) -> web.Response:
    return _ok(request, {"collections": [{"name": name} for name in request.app[COLLECTIONS].names()]})


@routes.get("/collections/{name}/exists")
async def collection_exists(request: web.Request) -> web.Response:
    return _ok(request, {"exists": request.app[COLLECTIONS].exists(request.match_info["name"])})
