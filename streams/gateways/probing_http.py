"""The HTTP gateway as the probe's way in: three calls with a key."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import aiohttp

from schemas import codec
from schemas.documents import DocumentChange, DocumentStatus
from schemas.replies import ErrorInfo, QueryReply, error_reply
from streams.domain.canary import Question
from streams.errors import NoReply, Transient

BODY = ("version", "title", "content")


class HttpDoor:
    """A gateway; the tenant is the key's, whatever a question or change says."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url.rstrip("/")

    async def publish(self, change: DocumentChange, timeout: float) -> DocumentStatus | None:
        """Publish a change and return its receipt; raise Transient, and NoReply where only the broker has it."""
        path = f"/v1/documents/{quote(change.source, safe='')}/{quote(change.doc_id, safe='')}"
        deletes = change.op == "delete"
        status, said = await self._call(
            "DELETE" if deletes else "PUT",
            path,
            timeout + 1.0,
            params={"wait": "searchable", "timeout": f"{timeout:g}"},
            headers={"Document-Version": str(change.version)},
            json=None if deletes else {name: getattr(change, name) for name in BODY},
        )
        if status == 202:
            raise NoReply(f"version {change.version}: published, but no receipt came within {timeout:g} s")
        if status != 200:
            raise Transient(f"{status}: {_detail(said)}")
        try:
            found: Mapping[str, Any] = json.loads(said)
            version, outcome = found["version"], found["status"]
        except (ValueError, KeyError, TypeError) as error:
            raise Transient("the answer cannot be read: is this a gateway?") from error
        return DocumentStatus(
            tenant=change.tenant,
            source=change.source,
            doc_id=change.doc_id,
            version=version,
            generation="",
            status=outcome,
        )

    async def ask(self, question: Question, timeout: float) -> QueryReply:
        """Return the outcome of a question."""
        body = {"text": question.text, "agent": question.agent, "profile": question.profile, "timeout": timeout}
        status, said = await self._call("POST", "/v1/query", timeout + 1.0, json=body)
        if status == 200:
            try:
                return codec.decode(said, QueryReply)
            except codec.InvalidMessage as error:
                raise Transient(f"the answer cannot be read: {error}") from error
        return error_reply("", ErrorInfo(error_class="internal", message=f"{status}: {_detail(said)}"))

    async def _call(self, method: str, path: str, seconds: float, **options: Any) -> tuple[int, bytes]:
        limit = aiohttp.ClientTimeout(total=seconds)
        try:
            async with self._session.request(method, self._url + path, timeout=limit, **options) as response:
                return response.status, await response.read()
        except TimeoutError as error:
            raise NoReply(f"{method} {path}: no answer within {seconds:g} s") from error
        except aiohttp.ClientError as error:
            raise Transient(f"{method} {path}: {error}") from error


@asynccontextmanager
async def opened(url: str, key: str) -> AsyncIterator[HttpDoor]:
    """Give the block a gateway, asked with a key."""
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"}) as session:
        yield HttpDoor(session, url)


def _detail(said: bytes) -> str:
    """Return what a problem says (RFC 9457)."""
    try:
        found = json.loads(said)
        return " ".join(str(found.get("detail") or found.get("title")).split())[:300]
    except (ValueError, AttributeError):
        return "no problem in the answer's body"
