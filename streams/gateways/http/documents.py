"""PUT, DELETE and GET of /v1/documents/{source}/{doc_id}: one document at a time."""

from __future__ import annotations

import time
from urllib.parse import unquote_to_bytes

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from schemas.base import Value
from schemas.documents import DocKey, DocumentChange
from streams.domain.api_keys import Principal
from streams.domain.scope import Scope
from streams.errors import Forbidden, Invalid, NoReply
from streams.gateways import wording
from streams.gateways.client import Client
from streams.gateways.http import bodies, contracts
from streams.gateways.http.contracts import Document, DocumentBody, Part, Published, Settled
from streams.gateways.http.door import Door, only, while_there
from streams.gateways.http.problems import Refused
from streams.ports import DocumentReader, Generations

VERSION = "document-version"
WAIT = 30.0  # seconds
TEXTS = ("text/markdown", "text/plain", "text/html")
JSON = "application/json"


class Versions:
    """Versions for those who have none: microseconds since 1970, each above the last one of this instance.

    A number in JSON is exact in every language up to 2^53, which they reach in the year 2255.
    """

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        """Return a version."""
        self._last = max(self._last + 1, time.time_ns() // 1000)
        return self._last


class Documents:
    """Publishes changes, waits for receipts, and reads what is live."""

    def __init__(
        self, client: Client, door: Door, reader: DocumentReader, generations: Generations, versions: Versions
    ) -> None:
        self._client = client
        self._door = door
        self._reader = reader
        self._generations = generations
        self._versions = versions

    async def put(self, request: Request) -> Response:
        """Publish a version of a document."""
        principal = await self._door.admit(request, "write")
        only(request, "wait", "timeout", "title")
        key = named(request, principal.tenant)
        wait = waiting(request)
        body = _body(request, await bodies.whole(request, bodies.DOCUMENT))
        own_tenant(body.tenant, principal)
        contracts.agree("source", body.source, key.source)
        contracts.agree("doc_id", body.doc_id, key.doc_id)
        version = self._version(request, body.version)
        change = contracts.change(
            body, tenant=key.tenant, source=key.source, doc_id=key.doc_id, version=version, op="upsert"
        )
        return await self._publish(request, change, wait)

    async def delete(self, request: Request) -> Response:
        """Publish the deletion of a document; that there is one is not looked for: its version may be on its way."""
        principal = await self._door.admit(request, "write")
        only(request, "wait", "timeout")
        key = named(request, principal.tenant)
        wait = waiting(request)
        if await bodies.whole(request, bodies.QUESTION):
            raise Invalid("a deletion has no body; its version goes into the header Document-Version", field="body")
        version = self._version(request, None)
        change = DocumentChange(tenant=key.tenant, source=key.source, doc_id=key.doc_id, version=version, op="delete")
        return await self._publish(request, change, wait)

    async def get(self, request: Request) -> Response:
        """Return the live text of a document, as it is indexed."""
        principal = await self._door.admit(request, "read")
        only(request, "agent")
        key = named(request, principal.tenant)
        agent = principal.agent(request.query_params.get("agent"))
        generation = await self._generations.live()
        scope = Scope(tenant=principal.tenant, agent=agent, generation=generation.id)
        found = await self._reader.read(scope, key.source, key.doc_id)
        if found is None:
            # Also where there is one that this key may not see: that there is one is nobody's business.
            raise Refused(404, f"{key.source}/{key.doc_id}: there is no such document")
        parts = tuple(
            Part(passage_id=part.passage_id, heading_path=part.heading_path, text=part.body) for part in found.parts
        )
        names = ("source", "doc_id", "version", "kind", "title", "uri", "trust", "language", "tags", "updated_at")
        fields = {name: getattr(found, name) for name in names}
        return json(Document(**fields, text="\n\n".join(part.text for part in parts), passages=parts))

    async def _publish(self, request: Request, change: DocumentChange, wait: float | None) -> Response:
        work = settled(self._client, change, wait)
        outcome = await while_there(request, work)
        if isinstance(outcome, Settled):
            return json(outcome)
        return json(outcome, 202, {"Location": request.url.path})

    def _version(self, request: Request, given: int | None) -> int:
        text = request.headers.get(VERSION)
        if text is None:
            return self._versions.next() if given is None else given
        if not (text.isascii() and text.isdecimal() and len(text) <= 19 and int(text) < 2**63):
            raise Invalid("must be a whole number from 0 to 2^63 - 1", field="Document-Version")
        contracts.agree("version", given, int(text))
        return int(text)


async def settled(
    client: Client, change: DocumentChange, wait: float | None, *, bulk: bool = False
) -> Published | Settled:
    """Publish a change and, for up to `wait` seconds, wait for its receipt; raise Refused (422) when it failed."""
    try:
        receipt = await client.publish(change, wait=wait is not None, timeout=wait or 0.0, bulk=bulk)
    except NoReply:
        receipt = None
    if receipt is None:
        return Published(source=change.source, doc_id=change.doc_id, version=change.version)
    if receipt.status == "failed":
        raise Refused(422, f"version {receipt.version} failed: {receipt.reason}")
    return Settled(
        source=change.source,
        doc_id=change.doc_id,
        version=receipt.version,
        status=receipt.status,
        chunks=receipt.chunks,
    )


def named(request: Request, tenant: str) -> DocKey:
    """Return the document that a path names, exactly; raise Invalid. The path is as it was sent, not decoded."""
    source, _, doc_id = request.path_params["name"].partition("/")
    return wording.document_key(tenant, _decoded("source", source), _decoded("doc_id", doc_id))


def _decoded(field: str, text: str) -> str:
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        raise Invalid("is not UTF-8, percent-encoded", field=field) from None


def waiting(request: Request) -> float | None:
    """Return how long to wait for a receipt; none for not at all."""
    wanted = request.query_params.get("wait")
    limit = contracts.seconds(request.query_params.get("timeout"), WAIT, "timeout")
    if wanted not in (None, "searchable"):
        raise Invalid("must be `searchable`, or left out", field="wait")
    return limit if wanted else None


def own_tenant(given: str | None, principal: Principal) -> None:
    """Raise Forbidden for a body that names another tenant than the key's."""
    if given not in (None, principal.tenant):
        raise Forbidden(f"this key is of {principal.tenant}; leave the tenant out", field="tenant")


def json(body: Value, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a value as JSON."""
    return Response(msgspec.json.encode(body), status, headers, media_type=JSON)


def _body(request: Request, data: bytes) -> DocumentBody:
    media = bodies.media_type(request, JSON)
    title = request.query_params.get("title")
    if media == JSON or media.endswith("+json"):
        if title is not None:
            raise Invalid("the title goes into the JSON", field="title")
        return contracts.read(data, DocumentBody)
    if media not in TEXTS:
        raise Refused(415, f"{media[:80]!r} is not read; send one of {', '.join((JSON, *TEXTS))}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"not UTF-8: {error.reason} at byte {error.start}", field="content") from None
    return DocumentBody(content=text, content_type=media, title=title or "")  # type: ignore[arg-type]
