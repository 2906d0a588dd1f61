"""POST /v1/documents: many changes, one a line, each with its own outcome."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from streams.domain.api_keys import Principal
from streams.errors import Invalid, RankstreamError
from streams.gateways.client import Client
from streams.gateways.http import bodies, contracts, memory, problems
from streams.gateways.http.contracts import Line, LineResult, Published, Settled
from streams.gateways.http.documents import Versions, own_tenant, settled, waiting
from streams.gateways.http.door import Door, gone, only
from streams.gateways.http.problems import Refused

MEDIA_TYPE = "application/x-ndjson"
MOST_LINES = 10_000  # of a request: its results wait in memory, since many clients read only after they have sent
UNDER_WAY = 256  # changes at once
HELD = 8 * 1024 * 1024  # bytes of lines under way, and one more
KEY = 5.0  # seconds between two looks at the key while lines are read: it may have been revoked

Outcome = asyncio.Future[LineResult]


class Bulk:
    """Publishes lines in their order; a bad one does not stop the others."""

    def __init__(self, client: Client, door: Door, versions: Versions) -> None:
        self._client = client
        self._door = door
        self._versions = versions

    async def __call__(self, request: Request) -> Response:
        """Take the lines of a request."""
        principal = await self._door.admit(request, "write")
        only(request, "wait", "timeout", "lane")
        lane = request.query_params.get("lane", "live")
        if lane not in ("live", "bulk"):
            raise Invalid("must be `live` or `bulk`", field="lane")
        media = bodies.media_type(request, MEDIA_TYPE)
        if media not in (MEDIA_TYPE, "application/jsonl", "application/ndjson", "application/x-jsonlines"):
            raise Refused(
                415, f"{media[:80]!r} is not read; send {MEDIA_TYPE}", fix=f"send {MEDIA_TYPE}: JSON, one a line"
            )
        return Results(self, request, principal, waiting(request), lane=lane)

    async def publish(
        self, number: int, data: bytes | None, principal: Principal, wait: float | None, *, bulk: bool
    ) -> LineResult:
        """Publish one line and return what became of it."""
        names: dict[str, str | int] = {}
        try:
            if data is None:
                raise Refused(413, bodies.TOO_LARGE.format(bodies.DOCUMENT).replace("body", "line"))
            line = contracts.read(data, Line)
            own_tenant(line.tenant, principal)
            version = self._versions.next() if line.version is None else line.version
            names = {"source": line.source, "doc_id": line.doc_id, "version": version}
            change = contracts.change(
                line, tenant=principal.tenant, source=line.source, doc_id=line.doc_id, version=version, op=line.op
            )
            del data, line
            outcome: Published | Settled = await settled(self._client, change, wait, bulk=bulk)
            return LineResult(line=number, **msgspec.structs.asdict(outcome))
        except RankstreamError as error:
            return LineResult(line=number, **names, problem=problems.of_error(error))  # type: ignore[arg-type]

    async def watch(self, request: Request) -> None:
        """Raise, some seconds after it happened, what ended the key of a request: Unauthenticated, or Transient."""
        while True:
            await asyncio.sleep(KEY)
            await self._door.again(request, "write")

    async def pace(self, principal: Principal) -> None:
        """Wait until a key may send another line."""
        await self._door.pace(principal)


class Results(Response):
    """The outcomes, in the order of the lines, as they come; lines are read meanwhile, many under way at once."""

    def __init__(self, bulk: Bulk, request: Request, principal: Principal, wait: float | None, *, lane: str) -> None:
        super().__init__(media_type=MEDIA_TYPE)
        del self.headers["content-length"]
        self._bulk = bulk
        self._request = request
        self._principal = principal
        self._wait = wait
        self._lane = lane
        self._outcomes: asyncio.Queue[Outcome | None] = asyncio.Queue()
        self._under_way: dict[Outcome, int] = {}  # with the bytes of their lines
        self._held = memory.of(request.scope)
        self._number = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read and answer until all is told, or the client has left."""
        reading = asyncio.create_task(self._read())
        writing = asyncio.create_task(self._write(send))
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                writing.result()
            elif error := reading.exception():
                raise error
        except ClientDisconnect:
            pass
        finally:
            left: list[asyncio.Future[Any]] = [reading, writing, *self._under_way]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        while (outcome := await self._outcomes.get()) is not None:
            body = msgspec.json.encode(await outcome) + b"\n"
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _read(self) -> None:
        taking = asyncio.create_task(self._take())
        watching = asyncio.create_task(self._bulk.watch(self._request))
        try:
            done, _ = await asyncio.wait({taking, watching}, return_when=asyncio.FIRST_COMPLETED)
            (taking if taking in done else watching).result()
        except RankstreamError as error:
            last: Outcome = asyncio.get_running_loop().create_future()
            last.set_result(LineResult(line=max(self._number, 1), problem=problems.of_error(error)))
            self._outcomes.put_nowait(last)
        finally:
            taking.cancel()
            watching.cancel()
            await asyncio.gather(taking, watching, return_exceptions=True)
        self._outcomes.put_nowait(None)
        await gone(self._request)
        raise ClientDisconnect

    async def _take(self) -> None:
        taken = 0
        async for data in bodies.lines(self._request, bodies.DOCUMENT):
            self._number += 1
            if data is not None and not data.strip():
                self._held.give(len(data))
                continue
            taken += 1
            if taken > MOST_LINES:
                raise Refused(413, f"a request may have {MOST_LINES:,} lines; send the rest in another")
            await self._bulk.pace(self._principal)
            await self._room()
            self._begin(self._number, data)

    async def _room(self) -> None:
        while len(self._under_way) >= UNDER_WAY or sum(self._under_way.values()) > HELD:
            await asyncio.wait(self._under_way, return_when=asyncio.FIRST_COMPLETED)

    def _begin(self, number: int, data: bytes | None) -> None:
        work = self._bulk.publish(number, data, self._principal, self._wait, bulk=self._lane == "bulk")
        outcome = asyncio.create_task(work)
        self._under_way[outcome] = len(data or b"")
        outcome.add_done_callback(self._end)
        self._outcomes.put_nowait(outcome)

    def _end(self, outcome: Outcome) -> None:
        self._held.give(self._under_way.pop(outcome))
