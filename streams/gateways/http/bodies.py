"""Reading bodies: within a size and within a time, whatever their headers say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request

from streams.gateways.http import memory
from streams.gateways.http.memory import Held
from streams.gateways.http.problems import Refused

QUESTION = 1024 * 1024  # bytes
DOCUMENT = 16 * 1024 * 1024  # bytes: two million characters, each escaped in JSON
IDLE = 10.0  # seconds that a body may pause
WHOLE = 60.0  # seconds that a body which is read as a whole may take
TOO_LARGE = "the body has more than {:,} bytes"


def declared(request: Request, limit: int) -> None:
    """Raise Refused (413) for a body whose header says that it is too large, before any of it is read."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise Refused(413, TOO_LARGE.format(limit))


def media_type(request: Request, usual: str) -> str:
    """Return what a body is, without parameters; the usual where the request does not say."""
    return request.headers.get("content-type", usual).partition(";")[0].strip().lower()


async def whole(request: Request, limit: int) -> bytes:
    """Return a body of at most `limit` bytes, which the request holds until it ends.

    Raises Refused: 413, also with a false length or none, 408, or 503 where all bodies together are too large.
    """
    declared(request, limit)
    held, body = memory.of(request.scope), bytearray()
    try:
        async with asyncio.timeout(WHOLE):
            async for piece in pieces(request):
                if len(body) + len(piece) > limit:
                    raise Refused(413, TOO_LARGE.format(limit))
                await held.take(len(piece))
                body += piece
    except TimeoutError:
        raise Refused(408, f"the body took longer than {WHOLE:g} s") from None
    return bytes(body)


async def pieces(request: Request) -> AsyncIterator[bytes]:
    """Yield a body as it comes; raise Refused (408) when it pauses too long, ClientDisconnect when it ends early."""
    while True:
        try:
            async with asyncio.timeout(IDLE):
                message = await request.receive()
        except TimeoutError:
            raise Refused(408, f"nothing of the body came for {IDLE:g} s") from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body", False):
            return


async def lines(request: Request, limit: int) -> AsyncIterator[bytes | None]:
    """Yield the lines of a body, empty ones too; none for one of more than `limit` bytes, which is passed over.

    The request holds the bytes of each line until they are given back; raises Refused (503) where all bodies together
    are too large.
    """
    held = memory.of(request.scope)
    rest: bytearray | None = bytearray()  # none: the line at hand is too long
    async for piece in pieces(request):
        *ended, begun = piece.split(b"\n")
        for part in ended:
            rest = await _longer(held, rest, part, limit)
            yield None if rest is None else bytes(rest)
            rest = bytearray()
        rest = await _longer(held, rest, begun, limit)
    if rest is None or rest:
        yield None if rest is None else bytes(rest)


async def _longer(held: Held, line: bytearray | None, part: bytes, limit: int) -> bytearray | None:
    if line is None:
        return None
    if len(line) + len(part) > limit:
        held.give(len(line))
        return None
    await held.take(len(part))
    line += part
    return line
