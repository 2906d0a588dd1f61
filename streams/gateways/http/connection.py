"""A connection that a client cannot keep open for nothing: it has so long to send its headers, and to read."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = 10.0  # seconds from the first byte, or from the start of the connection, to the end of the headers
UNREAD = 60_000  # milliseconds that what was sent may stay unread or unconfirmed, then the system ends the connection


class Connection(H11Protocol):
    """Uvicorn's, which of itself waits without end for headers."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first headers."""
        super().connection_made(transport)
        self._headers_by: asyncio.TimerHandle | None = None
        self._wait_for_headers()
        end: Any = transport.get_extra_info("socket")
        if end is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD)

    def data_received(self, data: bytes) -> None:
        """Go on, and stop to wait once headers are there."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._have_headers()
        elif self._headers_by is None:
            self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._have_headers()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        self._headers_by = self.loop.call_later(HEADERS, self.transport.abort)

    def _have_headers(self) -> None:
        if self._headers_by is not None:
            self._headers_by.cancel()
            self._headers_by = None
