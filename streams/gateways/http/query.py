"""POST /v1/query: a question, its answer, or its revisions as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from schemas import codec
from schemas.replies import QueryReply
from streams.gateways.client import Client
from streams.gateways.http import bodies, contracts, problems
from streams.gateways.http.contracts import Question
from streams.gateways.http.documents import own_tenant
from streams.gateways.http.door import Door, only, while_there
from streams.telemetry import w3c

EVENTS = "text/event-stream"
_AS_GIVEN = (
    *("history", "profile", "top_k", "language", "filters", "min_version", "explain"),
    *("floor", "generation", "cache", "timeout"),
)


class Query:
    """Asks for whoever holds a key; its tenant and agents are the key's."""

    def __init__(self, client: Client, door: Door) -> None:
        self._client = client
        self._door = door

    async def __call__(self, request: Request) -> Response:
        """Answer a question."""
        principal = await self._door.admit(request, "read")
        only(request)
        question = contracts.read(await bodies.whole(request, bodies.QUESTION), Question)
        own_tenant(question.tenant, principal)
        trace = request.headers.get("traceparent", "")
        revisions = self._client.ask_stream(
            question.text,
            tenant=principal.tenant,
            agent=principal.agent(question.agent),
            traceparent=trace if w3c.read(trace) else None,
            **{name: getattr(question, name) for name in _AS_GIVEN},
        )
        assert isinstance(revisions, AsyncGenerator)  # it can be closed, which ends the question
        if question.progressive:
            return Revisions(request, revisions)
        return answer(await while_there(request, _last(revisions)))


async def _last(revisions: AsyncGenerator[QueryReply, None]) -> QueryReply:
    async with aclosing(revisions):
        async for reply in revisions:
            last = reply
    return last


def answer(reply: QueryReply) -> Response:
    """Return a reply as a response, its error as a problem."""
    if reply.error is not None:
        return problems.answer(problems.of_reply(reply.error, reply.query_id))
    return Response(codec.encode(reply), media_type="application/json")


class Revisions(Response):
    """The revisions of an answer as server-sent events, one each; the stream ends with the final one.

    The status waits for the first revision, so that a question that cannot be asked is a problem like any other. Who
    leaves ends the question.
    """

    def __init__(self, request: Request, revisions: AsyncGenerator[QueryReply, None]) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}, media_type=EVENTS)
        del self.headers["content-length"]
        self._request = request
        self._revisions = revisions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events while somebody listens."""
        with suppress(ClientDisconnect):
            await while_there(self._request, self._send(scope, receive, send))

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False
        async with aclosing(self._revisions) as revisions:
            async for reply in revisions:
                if reply.error is not None and not started:
                    await answer(reply)(scope, receive, send)
                    return
                if not started:
                    started = True
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                await send({"type": "http.response.body", "body": event(reply), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def event(reply: QueryReply) -> bytes:
    """Return a revision as an event: `revision` with the reply, or `problem` in its place (HTML, section 9.2)."""
    name, data = "revision", codec.encode(reply)
    if reply.error is not None:
        name, data = "problem", msgspec.json.encode(problems.of_reply(reply.error, reply.query_id))
    return b"event: %s\nid: %d\ndata: %s\n\n" % (name.encode(), reply.revision, data)
