"""An ASGI application on an address, in a process that does more than that."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from streams.errors import ConfigurationError, RankstreamError
from streams.gateways.http.connection import Connection
from streams.settings import HTTP

CONNECTIONS = 2_048
KEEP_ALIVE = 75  # seconds: longer than a load balancer's minute, so that it never sends into a connection that closes
GRACE = 4  # seconds that requests under way have to end


class Listener:
    """A running HTTP server; signals are left to the process."""

    def __init__(self, application: ASGIApp, listening: socket.socket) -> None:
        """Serve an application on a socket from now on."""
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
        host, port = listening.getsockname()[:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._leaving = False
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listening]), name=self.url)

    @property
    def stopping(self) -> bool:
        """Whether it soon takes no more connections, or takes none already."""
        return self._leaving or self._server.should_exit

    async def failed(self) -> BaseException:
        """Wait until it ends of itself, and return why."""
        await asyncio.wait([self._serving])
        error = None if self._serving.cancelled() else self._serving.exception()
        return error or RankstreamError(f"{self.url} has ended")

    async def stop(self, *, after: float = 0.0) -> None:
        """Serve for so many seconds more, then let requests under way end, for a few seconds, and close."""
        self._leaving = True
        if after:
            await asyncio.wait([self._serving], timeout=after)
        self._server.should_exit = True
        await asyncio.gather(self._serving, return_exceptions=True)


class _Server(uvicorn.Server):
    """Uvicorn's, which would take the signals of the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(address: tuple[str, int]) -> socket.socket:
    """Return a socket on an address; raise ConfigurationError that names the setting."""
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
        said = f"{HTTP}: cannot listen on {host}:{port}: {error.strerror}; name another address"
        raise ConfigurationError(said) from None
    listening.setblocking(False)
    return listening
