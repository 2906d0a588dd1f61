"""Before anything is done for a request: whose it is, whether the key may, and whether it comes too often."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from streams.domain.api_keys import Principal, Role
from streams.domain.quota import Quotas
from streams.errors import Invalid
from streams.gateways.http.problems import Refused
from streams.gateways.keys import Keys

T = TypeVar("T")

BURST = 2.0  # seconds' worth of requests at once
LINES = 20  # of a bulk request for each request of the rate


class Door:
    """Lets requests in. Rates are of one key on one instance.

    Who comes without a key costs no database call; all wrong keys together cost twenty small ones a second.
    """

    def __init__(self, keys: Keys, *, rate: float) -> None:
        """Take at most `rate` requests a second of a key; 0: as many as come."""
        self._keys = keys
        self._requests = Quotas(rate=rate, burst=max(1.0, BURST * rate)) if rate else None
        self._lines = Quotas(rate=LINES * rate, burst=LINES * BURST * rate) if rate else None

    async def admit(self, request: Request, *roles: Role) -> Principal:
        """Return whose request it is; raise Unauthenticated, Refused (429), or Forbidden without any of the roles."""
        principal = await self._keys.authenticate(request.headers.get("authorization"))
        if self._requests is not None:
            now = time.monotonic()
            if (wait := self._requests.wait(principal.key_id, now)) > 0:
                raise Refused(429, f"more than {self._requests.rate:g} requests a second of this key", retry_after=wait)
            self._requests.charge(principal.key_id, 1, now)
        if not any(role in principal.roles for role in roles[1:]):
            principal.need(roles[0])
        return principal

    async def again(self, request: Request, role: Role) -> None:
        """Raise what `admit` would, were the request to come now, but for its rate."""
        (await self._keys.authenticate(request.headers.get("authorization"))).need(role)

    async def pace(self, principal: Principal) -> None:
        """Wait until a key may send another line."""
        if self._lines is not None:
            if (wait := self._lines.wait(principal.key_id, time.monotonic())) > 0:
                await asyncio.sleep(wait)
            self._lines.charge(principal.key_id, 1, time.monotonic())


def only(request: Request, *known: str) -> None:
    """Raise Invalid for a parameter of the query string that is not known: a `?` in an id begins one, too."""
    for name in request.query_params:
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "there are none here"
            raise Invalid(f"is no parameter of this path; {there} (a `?` within an id is written %3F)", field=name[:80])


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return what work returns; when the client leaves first, end the work and raise ClientDisconnect.

    The body must have been read.
    """
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def gone(request: Request) -> None:
    """Wait until the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
