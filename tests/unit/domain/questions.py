"""Questions, results and passages for tests of the query side."""

from __future__ import annotations

from typing import Any

from schemas.queries import Expected, Filters, Hit, Leg, LegResult, PreparedQuery, ReplyTo
from streams.domain.versions import LivePassage


def prepared(**fields: Any) -> PreparedQuery:
    defaults: dict[str, Any] = {
        "query_id": "q1",
        "ticket": "0-1",
        "terms": ("refund", "polici"),
        "tenant": "acme",
        "agent": None,
        "text": "refund policy",
        "language": "en",
        "profile": "general",
        "generation": "g1",
        "filters": Filters(),
        "deadline": 105.0,
        "legs": ("dense", "sparse", "fulltext"),
        "candidates": 30,
    }
    return PreparedQuery(**{**defaults, **fields})


def expected(**fields: Any) -> Expected:
    defaults: dict[str, Any] = {
        "query": prepared(),
        "reply_to": ReplyTo(topic="replies", partition=7, correlation_id="cTE="),
        "top_k": 5,
        "received": 100.0,
        "prepared": 100.0,
    }
    return Expected(**{**defaults, **fields})


def result(leg: Leg, *chunk_ids: str, **fields: Any) -> LegResult:
    hits = tuple(Hit(chunk_id=chunk_id, score=1.0 - 0.1 * number) for number, chunk_id in enumerate(chunk_ids))
    status = "ok" if hits else "empty"
    return LegResult(**{"query_id": "q1", "ticket": "0-1", "leg": leg, "status": status, "hits": hits, **fields})


def passage(passage_id: str, body: str | None = None, **fields: Any) -> LivePassage:
    defaults: dict[str, Any] = {
        "heading_path": ("Title", passage_id),
        "body": body or f"text of {passage_id}",
        "source": "help",
        "doc_id": f"doc-{passage_id}",
        "version": 1,
        "kind": "document",
        "title": "Title",
        "uri": "",
        "trust": "internal",
        "language": "en",
    }
    return LivePassage(passage_id=passage_id, **{**defaults, **fields})
