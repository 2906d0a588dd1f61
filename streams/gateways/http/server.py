"""The gateway as a part of a process: started, watched and stopped like the processors."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager

import uvicorn

from streams import settings as names
from streams.adapters import postgres
from streams.adapters.cached_generations import CachedGenerations
from streams.adapters.live_documents import PostgresDocuments
from streams.adapters.postgres_generations import PostgresGenerations
from streams.domain.vitals import Vitals
from streams.errors import ConfigurationError
from streams.gateways import keys
from streams.gateways.client import Client
from streams.gateways.http import app
from streams.gateways.http.connection import Connection
from streams.settings import Settings, need

log = logging.getLogger(__name__)

NAME = "gateway"
ADDRESS = ("127.0.0.1", 8400)  # loopback: whoever wants it elsewhere puts TLS before it
IN_FLIGHT = 1_024  # questions at once
CONNECTIONS = 2_048
KEEP_ALIVE = 75  # seconds: longer than a load balancer's minute, so that it never sends into a connection that closes
GRACE = 4  # seconds that requests under way have to end


class Gateway:
    """One HTTP gateway; many may stand side by side."""

    def __init__(self, found: Settings) -> None:
        """Nothing is opened before `start`."""
        self._found = found
        self._opened = AsyncExitStack()
        self._client: Client | None = None
        self._serving: asyncio.Task[None] | None = None
        self._server: _Server | None = None
        self._deaf_since: float | None = None

    async def start(self) -> str:
        """Listen, and return the address as a URL; raise ConfigurationError that names the setting."""
        found = self._found
        listening = _listen(found.http or ADDRESS)  # first: a port that is taken is told before anything is opened
        self._opened.callback(listening.close)
        try:
            bootstrap = need(found.kafka, names.KAFKA)
            client = Client(bootstrap=bootstrap, max_in_flight=IN_FLIGHT, fast_fetch=found.fast_fetch)
            self._client = await self._opened.enter_async_context(client)
            doors = await self._opened.enter_async_context(keys.opened(found))
            pool = await postgres.open_pool(need(found.postgres, names.POSTGRES))
            self._opened.push_async_callback(pool.close)
            application = app.build(
                app.Deps(
                    settings=found,
                    client=client,
                    keys=doors,
                    documents=PostgresDocuments(pool=pool),
                    generations=CachedGenerations(PostgresGenerations(pool=pool)),
                    unready=self._unready,
                )
            )
        except BaseException:
            await self._opened.aclose()
            raise
        config = uvicorn.Config(
            application,
            http=Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # nothing here depends on where a request comes from
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=GRACE,
        )
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listening]), name=NAME)
        host, port = listening.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    async def stop(self) -> None:
        """End what is under way, then close; stopping twice is fine."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await asyncio.gather(self._serving, return_exceptions=True)
        await self._opened.aclose()
        self._client = None

    async def failed(self) -> BaseException:
        """Wait until the gateway ends of itself, and return why."""
        assert self._serving is not None
        await asyncio.wait([self._serving])
        error = None if self._serving.cancelled() else self._serving.exception()
        return error or ConfigurationError("the gateway has ended")

    def vitals(self) -> list[Vitals]:
        """Return what there is to say of it: that it waits, while the broker is away."""
        client = self._client
        if client is None:
            return []
        now = time.monotonic()
        self._deaf_since = None if client.listening else self._deaf_since or now
        waiting = None if self._deaf_since is None else now - self._deaf_since
        return [Vitals(processor=NAME, joined=True, waiting=waiting, in_flight=client.in_flight)]

    def _unready(self) -> tuple[str, ...]:
        if self._client is None or (self._server is not None and self._server.should_exit):
            return ("stopping",)
        return () if self._client.listening else ("the broker does not answer",)


class _Server(uvicorn.Server):
    """Uvicorn's, which leaves signals to the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listen(address: tuple[str, int]) -> socket.socket:
    host, port = address
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(place)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        said = f"{names.HTTP}: cannot listen on {host}:{port}: {error.strerror}; name another address"
        raise ConfigurationError(said) from None
    listening.setblocking(False)
    return listening
