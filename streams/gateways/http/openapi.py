"""The OpenAPI 3.1 description of the gateway, made of the types that requests are read by."""

from __future__ import annotations

from typing import Any

import msgspec

from schemas.base import Agent, DocId, Source, Version
from schemas.replies import QueryReply
from streams.gateways.http import bulk, contracts, problems, query
from streams.gateways.http.contracts import (
    Document,
    DocumentBody,
    Health,
    Line,
    LineResult,
    Problem,
    Published,
    Question,
    Settled,
    Status,
)

JSON = "application/json"
_REF = "#/components/schemas/{name}"
_TEXT = {"type": "string", "maxLength": 2_000_000}
_EVENT = {
    "type": "object",
    "required": ["event", "id", "data"],
    "properties": {
        "event": {"enum": ["revision", "problem"]},
        "id": {"type": "string", "description": "the number of the revision"},
        "data": {
            "type": "string",
            "contentMediaType": JSON,
            "contentSchema": {"anyOf": [{"$ref": _REF.format(name=name)} for name in ("QueryReply", "Problem")]},
        },
    },
}


def document() -> dict[str, Any]:
    """Return the description."""
    _, schemas = msgspec.json.schema_components((*contracts.SHAPES, QueryReply), ref_template=_REF)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rankstream",
            "version": "1",
            "description": "Ask questions, publish documents, read what is live. The tenant is the key's.",
        },
        "security": [{"key": []}],
        "paths": _paths(),
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, or a token where they are set up.",
                }
            },
            "responses": {str(status): _problem(status) for status in problems.STATUSES},
        },
    }


def _paths() -> dict[str, Any]:
    wait = [
        _parameter("wait", {"enum": ["searchable"]}, "wait for the receipt of this version"),
        _parameter(
            "timeout",
            {"type": "number", "exclusiveMinimum": 0, "maximum": contracts.LONGEST_WAIT},
            "seconds to wait at most; then 202",
        ),
    ]
    lane = _parameter("lane", {"enum": ["live", "bulk"]}, "`bulk` for a first load: edits do not queue behind it")
    title = _parameter("title", {"type": "string", "maxLength": 2_000}, "of a body that is a text")
    version = _parameter("Document-Version", _schema(Version), "in place of `version` in the body", place="header")
    named = [
        _parameter("source", _schema(Source), "where the document comes from", place="path"),
        _parameter("doc_id", _schema(DocId), "its id, each `/` and `?` of it percent-encoded or not", place="path"),
    ]
    # In OpenAPI 3.1 the schema of a stream is that of each of its parts.
    events = {query.EVENTS: {"schema": _EVENT}}
    texts = {media: {"schema": _TEXT} for media in ("text/markdown", "text/plain", "text/html")}
    published = {"200": _json("What became of the version.", Settled), "202": _json("The broker has it.", Published)}
    one = {
        "parameters": named,
        "put": {
            "operationId": "putDocument",
            "summary": "Publish a version of a document.",
            "parameters": [*wait, title, version],
            "requestBody": {"required": True, "content": {JSON: {"schema": _ref(DocumentBody)}, **texts}},
            "responses": published | _problems(400, 401, 403, 408, 413, 415, 422, 429, 503),
        },
        "delete": {
            "operationId": "deleteDocument",
            "summary": "Publish the deletion of a document.",
            "parameters": [*wait, version],
            "responses": published | _problems(400, 401, 403, 408, 413, 422, 429, 503),
        },
        "get": {
            "operationId": "getDocument",
            "summary": "Read the live text of a document, as it is indexed.",
            "parameters": [_parameter("agent", _schema(Agent), "as which agent; a key for one agent is that one")],
            "responses": {"200": _json("The document.", Document)} | _problems(400, 401, 403, 404, 429, 503),
        },
    }
    return {
        "/v1/query": {
            "post": {
                "operationId": "query",
                "summary": "Ask a question.",
                "description": "With `progressive`, server-sent events: `revision` with a QueryReply each, the last "
                "one final, or `problem`.",
                "requestBody": {"required": True, "content": {JSON: {"schema": _ref(Question)}}},
                "responses": {
                    "200": {
                        "description": "The answer, or its revisions.",
                        "content": {JSON: {"schema": _ref(QueryReply)}, **events},
                    }
                }
                | _problems(400, 401, 403, 408, 413, 429, 500, 503, 504),
            }
        },
        "/v1/documents": {
            "post": {
                "operationId": "putDocuments",
                "summary": "Publish many changes, one a line; each has an outcome, in their order.",
                "parameters": [*wait, lane],
                "requestBody": {
                    "required": True,
                    "content": {bulk.MEDIA_TYPE: {"schema": {"type": "string"}, "x-line": _ref(Line)}},
                },
                "responses": {
                    "200": {
                        "description": "A LineResult a line.",
                        "content": {bulk.MEDIA_TYPE: {"schema": _ref(LineResult)}},
                    }
                }
                | _problems(400, 401, 403, 413, 415, 429, 503),
            }
        },
        "/v1/documents/{source}/{doc_id}": one,
        "/v1/status": {
            "get": {
                "operationId": "status",
                "summary": "What the tenant has; for its admins, how the system does.",
                "responses": {"200": _json("The status.", Status)} | _problems(400, 401, 403, 429, 503),
            }
        },
        "/livez": {"get": _health("live", "Whether this gateway lives.")},
        "/readyz": {"get": _health("ready", "Whether this gateway takes requests.", "503")},
    }


def _ref(shape: Any) -> dict[str, Any]:
    return {"$ref": _REF.format(name=shape.__name__)}


def _schema(shape: Any) -> dict[str, Any]:
    return msgspec.json.schema(shape)


def _json(description: str, shape: Any) -> dict[str, Any]:
    return {"description": description, "content": {JSON: {"schema": _ref(shape)}}}


def _parameter(name: str, schema: dict[str, Any], description: str, *, place: str = "query") -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema, "description": description}


def _problems(*statuses: int) -> dict[str, Any]:
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses}


def _problem(status: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "description": problems.problem(status, "").title,
        "content": {problems.MEDIA_TYPE: {"schema": _ref(Problem)}},
    }
    if status in (429, 503):
        seconds = {"description": "seconds to wait", "schema": {"type": "integer", "minimum": 1}, "required": True}
        found["headers"] = {"Retry-After": seconds}
    if status == 401:
        found["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}, "required": True}}
    return found


def _health(name: str, summary: str, *others: str) -> dict[str, Any]:
    answers = {status: _json(summary, Health) for status in ("200", *others)}
    return {"operationId": name, "summary": summary, "security": [], "responses": answers}
